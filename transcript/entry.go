package transcript

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Entry is one line of a session file. The set of types is closed. There are
// three families:
//
//   - entries of the tree have a uuid and name their parent: *[UserEntry],
//     *[AssistantEntry], *[SystemEntry], *[AttachmentEntry], *[ProgressEntry];
//     [LinkOf] returns their common fields;
//   - records outside the tree describe the session, *[CustomTitleEntry]
//     or *[CostStateEntry] for example; those without a Go type are a
//     *[RecordEntry];
//   - a line of a type that this package does not know is an *[UnknownEntry].
//
// An entry is read-only and may be used from any goroutine. Its strings share the memory of its
// line; a program that keeps one for long should clone it.
type Entry interface {
	// Kind returns the line's type: user, custom-title, …
	Kind() string
	// Raw returns a copy of the line.
	Raw() json.RawMessage
	// Position returns the position of the line in its file, zero for a text that was parsed.
	Position() Position

	line() *source
}

// source is the line of an entry.
type source struct {
	text string
	kind string
	pos  Position
}

// Kind returns the line's type.
func (s *source) Kind() string { return s.kind }

// Raw returns a copy of the line.
func (s *source) Raw() json.RawMessage { return json.RawMessage(s.text) }

// Position returns the position of the line in its file.
func (s *source) Position() Position { return s.pos }

// Member returns the JSON text of one member of the line, for members without a field; "" if the
// line does not have it.
func (s *source) Member(name string) message.JSON { return message.JSON(memberOf(s.text, name)) }

func (s *source) line() *source { return s }

// memberOf returns the JSON text of a member of an object, "" if the object does not have it. Of
// several members with one name the last counts, as in encoding/json and the CLI.
func memberOf(object, name string) (text string) {
	d := jsonwire.NewDecoder(object)
	if d.Kind() != '{' {
		return ""
	}
	for m := d.Members(); m.Next(); {
		key := m.Key
		value := d.Text()
		if key == name {
			text = value
		}
	}
	return text
}

// ParseEntry parses one line of a transcript. The error is a [*LineError] for a line that is
// not an entry.
func ParseEntry(line string) (Entry, error) {
	e, err := parseEntry(line, Position{Size: len(line)})
	if err != nil {
		return nil, lineError("", rawLine{text: []byte(line), pos: Position{Size: len(line)}}, err)
	}
	return e, nil
}

// parseEntry parses the text of a line. The entry keeps the text.
func parseEntry(text string, pos Position) (Entry, error) {
	kind, ok := checkObject(text)
	if !ok {
		return nil, syntaxError(text)
	}
	create, ok := entryTypes[kind]
	if !ok {
		create = func() Entry { return new(UnknownEntry) }
	}
	e := create()
	jsonwire.NewDecoder(text).Into(e)
	*e.line() = source{text: text, kind: kind, pos: pos}
	return e, nil
}

// checkObject reports whether a text is a JSON object, and its type. The parts of an entry that are
// decoded later are only skipped when it is decoded, so errors inside them have to be found here.
func checkObject(text string) (kind string, ok bool) {
	d := jsonwire.NewDecoder(text)
	if d.Kind() != '{' {
		return "", false
	}
	for m := d.Members(); m.Next(); {
		if m.Key == "type" {
			kind, _ = d.String()
		} else {
			d.Skip()
		}
	}
	return kind, d.End() == nil
}

// lastString returns a string member of an object, or "".
func lastString(object, name string) string {
	s, _ := jsonwire.NewDecoder(memberOf(object, name)).String()
	return s
}

func syntaxError(text string) error {
	d := jsonwire.NewDecoder(text)
	d.Skip()
	if err := d.End(); err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	return errNoObject
}

// UnknownEntry is a line of a type that this package does not know. Raw returns all of it.
type UnknownEntry struct {
	source
	UUID      string `json:"uuid"`
	SessionID string `json:"sessionId"`
	Timestamp string `json:"timestamp"`
}

// Link holds the fields that entries of the tree share: their ids, their parents, and where and
// when they were written.
type Link struct {
	source
	UUID       string `json:"uuid"`
	ParentUUID string `json:"parentUuid"` // "" for a root
	// LogicalParentUUID is set where ParentUUID is cut on purpose: on the boundary
	// of a compaction it is the last entry before it.
	LogicalParentUUID string      `json:"logicalParentUuid"`
	SessionID         string      `json:"sessionId"`
	Timestamp         string      `json:"timestamp"` // as written; Time parses it
	CWD               string      `json:"cwd"`
	GitBranch         string      `json:"gitBranch"` // HEAD outside of a repository
	Version           string      `json:"version"`   // of the CLI
	Entrypoint        string      `json:"entrypoint"`
	UserType          string      `json:"userType"`
	Slug              string      `json:"slug"`
	PromptID          string      `json:"promptId"`
	AgentID           string      `json:"agentId"`     // set in the file of a subagent
	TeamName          string      `json:"teamName"`    // set on lines of a team's other members
	IsSidechain       bool        `json:"isSidechain"` // not of the main conversation
	IsMeta            bool        `json:"isMeta"`      // written by the CLI and not shown
	ForkedFrom        *ForkedFrom `json:"forkedFrom"`
}

// ForkedFrom names the session and the entry that a line of a forked session was copied from.
type ForkedFrom struct {
	SessionID   string `json:"sessionId"`
	MessageUUID string `json:"messageUuid"`
}

// Time returns the time when the entry was written, or the zero time if the line has no valid one.
func (l *Link) Time() time.Time { return parseTime(l.Timestamp) }

func (l *Link) link() *Link { return l }

// LinkOf returns the common fields of an entry of the tree, or nil for an entry that is not in the
// tree.
func LinkOf(e Entry) *Link {
	if l, ok := e.(interface{ link() *Link }); ok {
		return l.link()
	}
	return nil
}

func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

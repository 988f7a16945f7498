package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/seed7221b0f9/parley/internal/claudedir"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// endSize is the number of bytes that a list reads from the start and the end of a file. For this
// reason the CLI repeats the records that lists need.
const endSize = 64 << 10

// nearby is the maximum distance in bytes between members of one line that are written together.
const nearby = 4 << 10

// Info describes a session in a list: all fields of the official SDK's SDKSessionInfo, and the
// location of the session. It is read from the first and the last 64 KiB of the file, so an old
// title that was not repeated is not found, as in the CLI's lists.
type Info struct {
	SessionID    string
	Summary      string    // the text to show: the title, else a prompt; never empty
	LastModified time.Time // of the file, to the millisecond
	FileSize     int64
	CustomTitle  string
	FirstPrompt  string // shortened to 200 units of UTF-16
	GitBranch    string // the last one; HEAD outside of a repository
	CWD          string // the directory in which the session started, or to which it moved
	Tag          string
	CreatedAt    time.Time // zero if no line has a time
	Archived     *bool     // nil: never archived; false: unarchived or prompted since

	Path         string // of the file
	ProjectKey   string // the name of the directory that holds it
	LastCWD      string // the last working directory of the agent
	Programmatic bool   // started by a program, not by a person in a terminal

	continuedIn string
	startCWD    string // as written, to distinguish directories with one key
}

// wireInfo is the official SDK's form.
type wireInfo struct {
	SessionID    string `json:"sessionId"`
	Summary      string `json:"summary"`
	LastModified int64  `json:"lastModified"`
	FileSize     int64  `json:"fileSize,omitempty"`
	CustomTitle  string `json:"customTitle,omitempty"`
	FirstPrompt  string `json:"firstPrompt,omitempty"`
	GitBranch    string `json:"gitBranch,omitempty"`
	CWD          string `json:"cwd,omitempty"`
	Tag          string `json:"tag,omitempty"`
	CreatedAt    *int64 `json:"createdAt,omitempty"`
	Archived     *bool  `json:"archived,omitempty"`

	Path         string `json:"path,omitempty"`
	ProjectKey   string `json:"projectKey,omitempty"`
	LastCWD      string `json:"lastCwd,omitempty"`
	Programmatic bool   `json:"programmatic,omitempty"`
}

// MarshalJSON writes the official SDK's form, with times in milliseconds, and the additional
// members.
func (i *Info) MarshalJSON() ([]byte, error) {
	w := wireInfo{
		SessionID: i.SessionID, Summary: i.Summary, LastModified: i.LastModified.UnixMilli(), FileSize: i.FileSize,
		CustomTitle: i.CustomTitle, FirstPrompt: i.FirstPrompt, GitBranch: i.GitBranch, CWD: i.CWD, Tag: i.Tag,
		Archived: i.Archived, Path: i.Path, ProjectKey: i.ProjectKey, LastCWD: i.LastCWD, Programmatic: i.Programmatic,
	}
	if !i.CreatedAt.IsZero() {
		ms := i.CreatedAt.UnixMilli()
		w.CreatedAt = &ms
	}
	return json.Marshal(w)
}

// Info returns the list entry of the session. The error is [ErrNoSession] for a file that lists
// omit: a subagent, or a file without a prompt or title.
func (s *Session) Info(ctx context.Context) (*Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	info, err := readInfo(s.Path, "")
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, fmt.Errorf("%w: %s has nothing to show", ErrNoSession, s.ID)
	}
	return info, nil
}

// ends holds the first and the last bytes of a file.
type ends struct {
	head, tail part // for a small file both are the whole file
	buf        [2 * endSize]byte
}

var endsPool = sync.Pool{New: func() any { return new(ends) }}

// read reads the ends of a file.
func (e *ends) read(f *os.File, size int64) error {
	n, err := io.ReadFull(f, e.buf[:endSize])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	e.head.split(e.buf[:n])
	tail := e.buf[:n]
	if size > endSize {
		n, err := f.ReadAt(e.buf[endSize:], size-endSize)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		tail = e.buf[endSize : endSize+n]
	}
	e.tail.split(tail)
	return nil
}

// readInfo reads the info of a session file; it returns nil if lists omit the file. project is the
// requested directory, or "".
func readInfo(path, project string) (*Info, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	e := endsPool.Get().(*ends)
	defer endsPool.Put(e)
	if err := e.read(f, stat.Size()); err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	if len(e.head.text) == 0 || !stat.Mode().IsRegular() {
		return nil, nil
	}
	info := e.info(path, project)
	if info == nil {
		return nil, nil
	}
	info.LastModified = stat.ModTime().Round(time.Millisecond)
	info.FileSize = stat.Size()
	return info, nil
}

// info extracts the info from the ends of a file.
func (e *ends) info(path, project string) *Info {
	first, _, _ := bytes.Cut(e.head.text, []byte("\n"))
	if has(first, `"isSidechain":true`, `"isSidechain": true`) {
		return nil
	}
	side := strings.TrimSuffix(path, ".jsonl")
	i := &Info{
		SessionID: filepath.Base(side), Path: path, ProjectKey: filepath.Base(filepath.Dir(path)),
		CustomTitle: e.title(side), FirstPrompt: e.head.firstPrompt(),
		CreatedAt: parseTime(firstText(e.head.text, "timestamp")),
	}
	i.Summary = firstOf(i.CustomTitle,
		func() string { return e.tail.lastMember("lastPrompt") },
		func() string { return e.tail.lastMember("summary") },
		func() string { return i.FirstPrompt },
		e.head.attachmentPrompt)
	if i.Summary == "" {
		return nil
	}
	branch, at := lastTextOf(e.tail.text, "gitBranch")
	i.GitBranch = firstOf(branch, func() string { return firstText(e.head.text, "gitBranch") })
	if at >= 0 {
		i.LastCWD, _ = lastTextOf(e.tail.text[max(0, at-nearby):at], "cwd") // the CLI writes cwd just before
	}
	moved, _ := e.tail.lastRecord("relocated", "relocatedCwd", false)
	i.CWD = firstOf(moved, func() string { return firstText(e.head.text, "cwd") }, func() string { return project })
	i.Tag, _ = e.tail.lastRecord("tag", "tag", true)
	i.Archived = e.archived(side)
	i.Programmatic = e.programmatic()
	i.continuedIn = e.continuedIn()
	if project != "" {
		i.startCWD = firstOf(moved, func() string { return e.head.firstMember("cwd") })
	}
	return i
}

func firstOf(s string, others ...func() string) string {
	for _, f := range others {
		if s != "" {
			break
		}
		s = f()
	}
	return s
}

// title returns the session's title: from the tail, the sidecar, the head, or the model's title.
func (e *ends) title(side string) string {
	title, ok := e.tail.lastTitle("custom-title", "customTitle")
	if !ok {
		title = sidecarTitle(side)
	}
	for _, place := range []struct {
		*part
		kind, member string
	}{
		{&e.head, "custom-title", "customTitle"},
		{&e.tail, "ai-title", "aiTitle"},
		{&e.head, "ai-title", "aiTitle"},
	} {
		if title != "" {
			break
		}
		title, _ = place.lastTitle(place.kind, place.member)
	}
	return title
}

// sidecarTitle returns the title that the CLI keeps in a separate file, where it cannot scroll out
// of the tail.
func sidecarTitle(side string) string {
	text, err := regularfile.Read(filepath.Join(side, "custom-title.json"), sidecarLimit)
	if err != nil || !jsonwire.Valid(string(text)) {
		return ""
	}
	title := strings.TrimSpace(lastString(string(text), "customTitle"))
	// Runs of invisible characters become one space, and the title is cut to 200 characters.
	title = strings.Join(strings.FieldsFunc(title, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Cf) || r == '\u2028' || r == '\u2029'
	}), " ")
	if runes := []rune(title); len(runes) > maxPrompt {
		title = string(runes[:maxPrompt])
	}
	return strings.TrimSpace(title)
}

// maxArchived is the size in bytes from which an archived.json is ignored.
const maxArchived = 4 << 10

// archived reports whether the session is marked as archived; nil if it never was. A later prompt
// removes the mark.
func (e *ends) archived(side string) *bool {
	text, err := regularfile.Read(filepath.Join(side, "archived.json"), maxArchived)
	if err != nil {
		return nil
	}
	var mark struct {
		Archived *bool  `json:"archived"`
		At       string `json:"at"`
	}
	if json.Unmarshal(text, &mark) != nil || mark.Archived == nil || parseTime(mark.At).IsZero() {
		return nil
	}
	at := parseTime(mark.At).UnixMilli()
	still := *mark.Archived && !e.tail.askedAfter(at) && !e.head.askedAfter(at)
	return &still
}

// programmatic reports whether a program or a daemon started the session.
func (e *ends) programmatic() bool {
	entrypoint := firstText(e.head.text, "entrypoint")
	if entrypoint == "" {
		entrypoint, _ = lastTextOf(e.tail.text, "entrypoint")
	}
	switch entrypoint {
	case "sdk-cli", "sdk-ts", "sdk-py":
		return true
	}
	first := e.head.text
	for _, l := range e.head.lines {
		if bytes.Contains(l.text, []byte(`"parentUuid":`)) {
			first = l.text
			break
		}
	}
	kind := firstText(first, "sessionKind")
	return kind == "daemon" || kind == "daemon-worker"
}

// continuedIn returns the session that continues this one, or "" if no session does or this one has
// a later prompt.
func (e *ends) continuedIn() string {
	if !slices.ContainsFunc(e.tail.lines, func(l line) bool { return l.mayBe("continued-in") }) {
		return ""
	}
	for _, l := range slices.Backward(e.tail.lines) {
		if !has(l.text, `"type":"continued-in"`, `"type":"user"`, `"type":"assistant"`) {
			continue
		}
		entry, err := parseEntry(string(l.text), Position{})
		if err != nil {
			continue
		}
		switch entry := entry.(type) {
		case *ContinuedInEntry:
			if claudedir.ValidID(entry.ContinuedInSessionID) {
				return entry.ContinuedInSessionID
			}
			return ""
		case *AssistantEntry:
			if !entry.IsAPIErrorMessage && entry.Message.StopReason != "" {
				return ""
			}
		case *UserEntry:
			var command string
			if _, ok := promptOf(entry, &command); ok {
				return ""
			}
		}
	}
	return ""
}

package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// Query configures [Dir.Search]: the text, the sessions and roles to search, and the maximum number
// of hits.
type Query struct {
	// Text is searched literally. It must not be empty.
	Text string
	// CaseSensitive makes the search case-sensitive.
	CaseSensitive bool
	// Filter selects the sessions to search. Its Since and Until apply to the time of an entry;
	// Offset and Limit are not used.
	Filter
	// Roles, if set, limits the search to these roles.
	Roles []Role
	// Tool, if set, limits the search to uses and results of this tool.
	Tool string
	// MainOnly excludes subagents.
	MainOnly bool
	// Hits is the maximum number of hits, 0 is unlimited.
	Hits int
}

// Hit is a match. An entry yields at most one.
type Hit struct {
	Session *Info
	AgentID string // set for a match in a subagent
	Entry   Entry
	UUID    string
	Time    time.Time // zero if the line has no time
	Role    Role
	Tool    string // the tool, in its input or output
	// Snippet is the text around the match, in one line; the match is
	// Snippet[Start:End].
	Snippet    string
	Start, End int
	// Resume is the command that resumes the session.
	Resume string
}

// Search searches the text of sessions, most recently changed first, each in the order of its file,
// subagents last. It ignores case unless CaseSensitive is set, and decodes escapes in the file.
// Hits are found during the iteration. An error is the last element.
func (d *Dir) Search(ctx context.Context, q Query) iter.Seq2[*Hit, error] {
	return func(yield func(*Hit, error) bool) {
		if q.Text == "" {
			yield(nil, errors.New("transcript: nothing to search for"))
			return
		}
		filter := q.Filter
		filter.Until = time.Time{} // a later change does not hide earlier messages
		found, err := d.candidates(ctx, &filter)
		if err != nil {
			yield(nil, err)
			return
		}
		s := &search{ctx: ctx, Query: q, match: newMatcher(q.Text, q.CaseSensitive), left: q.Hits}
		s.yield = yield
		seen := map[string]bool{}
		for files := range ordered(ctx, found, s.filesWith) {
			if files == nil || seen[files.id] {
				continue
			}
			info := files.info(&q.Filter)
			if info == nil || !q.wants(info) {
				continue
			}
			seen[files.id] = true
			if !s.session(ctx, info, files) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// search is the state of a running search.
type search struct {
	ctx context.Context
	Query
	match *matcher
	left  int // remaining hits, if Hits is not 0
	yield func(*Hit, error) bool
}

// files are the files of a session that may contain the text.
type files struct {
	*candidate
	main   int64 // offset to start at in the main file, -1 to skip it
	agents []agentFile
}

// agentFile is the file of a subagent, and the offset to start at.
type agentFile struct {
	*Subagent
	from int64
}

// filesWith searches the bytes of a session's files; it returns nil if no file contains the text.
func (s *search) filesWith(c *candidate) *files {
	w := newWork(s.ctx)
	f := &files{candidate: c, main: s.firstIn(w, c.path)}
	if c.hasSide && !s.MainOnly {
		agents, err := File(c.path).subagents(w)
		if err == nil {
			for _, a := range agents {
				if from := s.firstIn(w, a.Path); from >= 0 {
					f.agents = append(f.agents, agentFile{a, from})
				}
			}
		}
	}
	if f.main < 0 && f.agents == nil {
		return nil
	}
	return f
}

// blockSize is the number of bytes that are searched at once.
const blockSize = 1 << 20

var blocks = sync.Pool{New: func() any { b := make([]byte, blockSize); return &b }}

// firstIn returns the start of the first line of a file that may contain the text, or -1. It
// returns -1 for an unreadable file.
func (s *search) firstIn(w *work, path string) int64 {
	f, err := openRegular(path)
	if err != nil {
		return -1
	}
	defer f.Close()
	block := blocks.Get().(*[]byte)
	defer blocks.Put(block)
	// A match may span two blocks.
	overlap := max(len(s.match.run), 16)
	var offset, lineStart int64
	kept := 0
	for {
		if w.over() || w.ended() {
			return -1
		}
		n, err := f.Read((*block)[kept:])
		text := (*block)[:kept+n]
		if i := s.match.index(text); i >= 0 {
			if nl := bytes.LastIndexByte(text[:i], '\n'); nl >= 0 {
				lineStart = offset + int64(nl) + 1
			}
			return lineStart
		}
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return -1
		}
		if nl := bytes.LastIndexByte(text, '\n'); nl >= 0 {
			lineStart = offset + int64(nl) + 1
		}
		rest := text[max(0, len(text)-overlap):]
		offset += int64(len(text) - len(rest))
		kept = copy(*block, rest)
	}
}

// session yields the hits of a session; it returns false if the caller stopped or all requested
// hits were found.
func (s *search) session(ctx context.Context, info *Info, f *files) bool {
	if f.main >= 0 && !s.file(ctx, info, f.path, "", f.main) {
		return false
	}
	for _, a := range f.agents {
		if !s.file(ctx, info, a.Path, a.ID, a.from) {
			return false
		}
	}
	return true
}

// file yields the hits of one file.
func (s *search) file(ctx context.Context, info *Info, path, agent string, from int64) bool {
	f, err := regularfile.Open(path)
	if err != nil {
		return true // deleted since
	}
	defer f.Close()
	w := newWork(ctx)
	r := newLineReader(contextReader{ctx, io.NewSectionReader(f, from, 1<<62)}, from)
	tools := &toolNames{work: w, path: path}
	for {
		if w.over() {
			s.yield(nil, w.err)
			return false
		}
		l, err := r.next()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			s.yield(nil, fmt.Errorf("transcript: %w", err))
			return false
		}
		if s.match.index(l.text) < 0 {
			continue
		}
		e, err := parseEntry(string(l.text), l.pos)
		if err != nil {
			continue
		}
		hit := s.hit(e, tools)
		if hit == nil {
			continue
		}
		hit.Session, hit.AgentID, hit.Resume = info, agent, info.ResumeCommand()
		if !s.yield(hit, nil) {
			return false
		}
		if s.left--; s.left == 0 {
			return false
		}
	}
}

// hit returns the first match in an entry, or nil.
func (s *search) hit(e Entry, tools *toolNames) *Hit {
	h := &Hit{Entry: e, Time: parseTime(timestampOf(e))}
	if l := LinkOf(e); l != nil {
		h.UUID = l.UUID
	}
	if !s.Since.IsZero() && h.Time.Before(s.Since) || !s.Until.IsZero() && (h.Time.IsZero() || !h.Time.Before(s.Until)) {
		return nil
	}
	for _, p := range pieces(e) {
		if len(s.Roles) > 0 && !slices.Contains(s.Roles, p.role) {
			continue
		}
		start, end, ok := s.match.find(p.text)
		if !ok {
			continue
		}
		h.Role, h.Tool = p.role, p.tool
		if p.use != "" {
			h.Tool = tools.of(p.use)
		}
		if s.Tool != "" && h.Tool != s.Tool {
			continue
		}
		h.Snippet, h.Start, h.End = snippet(p.text, start, end)
		return h
	}
	return nil
}

// timestampOf returns the timestamp of an entry.
func timestampOf(e Entry) string {
	if l := LinkOf(e); l != nil {
		return l.Timestamp
	}
	return stringOf(string(e.line().Member("timestamp")))
}

// around is the length of the text on each side of a match in a snippet.
const around = 80

// snippet returns the text around a match, with white space as single spaces, and the position of
// the match.
func snippet(text string, start, end int) (s string, from, to int) {
	low, high := max(0, start-around), min(len(text), end+around)
	for low > 0 && !utf8.RuneStart(text[low]) {
		low--
	}
	for high < len(text) && !utf8.RuneStart(text[high]) {
		high++
	}
	before, match, after := oneLine(text[low:start]), oneLine(text[start:end]), oneLine(text[end:high])
	before = strings.TrimLeft(before, " ")
	return before + match + strings.TrimRight(after, " "), len(before), len(before) + len(match)
}

// oneLine replaces each run of white space by one space, also at the ends.
func oneLine(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}

// toolNames maps the tool uses of a file to the names of their tools, read on demand.
type toolNames struct {
	work  *work
	path  string
	names map[string]string
}

func (t *toolNames) of(use string) string {
	if t.names == nil {
		t.names = map[string]string{}
		t.read()
	}
	return t.names[use]
}

func (t *toolNames) read() {
	f, err := regularfile.Open(t.path)
	if err != nil {
		return // deleted since
	}
	defer f.Close()
	r := newLineReader(contextReader{t.work.ctx, f}, 0)
	for {
		l, err := r.next()
		if err != nil || t.work.over() {
			return
		}
		if !bytes.Contains(l.text, []byte(`"tool_use"`)) {
			continue
		}
		e, err := parseEntry(string(l.text), l.pos)
		if err != nil {
			continue
		}
		if a, ok := e.(*AssistantEntry); ok {
			for _, b := range a.Message.Content.Blocks() {
				if use, ok := b.(*message.ToolUse); ok {
					t.names[strings.Clone(use.ID)] = strings.Clone(use.Name)
				}
			}
		}
	}
}

// ResumeCommand returns the shell command that resumes the session. It has to be run in the
// directory in which the session started.
func (i *Info) ResumeCommand() string {
	command := "claude --resume " + i.SessionID
	if i.CWD == "" {
		return command
	}
	return "cd " + shellQuote(i.CWD) + " && " + command
}

// shellQuote quotes a word for a POSIX shell.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=", r))
	}
	if s != "" && strings.IndexFunc(s, plain) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

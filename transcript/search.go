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

// Query is what [Dir.Search] looks for: a text, in which sessions, in whose words, and how many
// hits at most.
type Query struct {
	// Text is what has to be there, as it stands. It must not be empty.
	Text string
	// CaseSensitive tells upper case from lower.
	CaseSensitive bool
	// Filter is which sessions are looked through. Its Since and Until are about
	// when something was said; Offset and Limit are not used.
	Filter
	// Roles, if set, are in whose words.
	Roles []Role
	// Tool, if set, wants uses and results of this tool.
	Tool string
	// MainOnly leaves subagents out.
	MainOnly bool
	// Hits is how many are wanted, 0 is all.
	Hits int
}

// Hit is a place where a text was found. An entry gives at most one.
type Hit struct {
	Session *Info
	AgentID string // set: in a subagent
	Entry   Entry
	UUID    string
	Time    time.Time // zero if the line does not say
	Role    Role
	Tool    string // the tool, in its input or output
	// Snippet is the text around the match, in one line; the match is
	// Snippet[Start:End].
	Snippet    string
	Start, End int
	// Resume is the command that goes on with the session.
	Resume string
}

// Search looks through the text of sessions, the one that changed last first, each in the order
// of its file, subagents last. Case does not count unless asked for, and it makes no difference
// how a character is written in the file. Hits are found while they are ranged over. An error
// is the last element.
func (d *Dir) Search(ctx context.Context, q Query) iter.Seq2[*Hit, error] {
	return func(yield func(*Hit, error) bool) {
		if q.Text == "" {
			yield(nil, errors.New("transcript: nothing to search for"))
			return
		}
		filter := q.Filter
		filter.Until = time.Time{} // a later change does not hide what was said before
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

// search is a search at work.
type search struct {
	ctx context.Context
	Query
	match *matcher
	left  int // hits that are still wanted, if Hits is not 0
	yield func(*Hit, error) bool
}

// files are the files of a session in which the text may be.
type files struct {
	*candidate
	main   int64 // where in the main file to begin, -1 for not at all
	agents []agentFile
}

// agentFile is the file of a subagent, and where in it to begin.
type agentFile struct {
	*Subagent
	from int64
}

// filesWith looks at the bytes of a session's files; nil if the text is in none.
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

// blockSize is how much of a file is looked through at once.
const blockSize = 1 << 20

var blocks = sync.Pool{New: func() any { b := make([]byte, blockSize); return &b }}

// firstIn is the start of the first line of a file in which the text may be, -1 if
// there is none. A file that cannot be read has none.
func (s *search) firstIn(w *work, path string) int64 {
	f, err := openRegular(path)
	if err != nil {
		return -1
	}
	defer f.Close()
	block := blocks.Get().(*[]byte)
	defer blocks.Put(block)
	// What a match needs may lie across two blocks.
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

// session yields the hits of a session; false if the range was broken off or has
// all that it wanted.
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
		return true // it is gone since
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

// hit is the first match in an entry, nil if there is none that is wanted.
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

// timestampOf is when an entry says that it was written.
func timestampOf(e Entry) string {
	if l := LinkOf(e); l != nil {
		return l.Timestamp
	}
	return stringOf(string(e.line().Member("timestamp")))
}

// around is how much of the text on each side of a match a snippet has.
const around = 80

// snippet is the text around a match, with white space as single spaces, and where
// the match is in it.
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

// oneLine makes white space of any length one space, also at the ends.
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

// toolNames are the names of the tools that a file's tool uses call, read on demand.
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
		return // it is gone since
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

// ResumeCommand is the shell command that goes on with the session: it has to be run
// where the session began.
func (i *Info) ResumeCommand() string {
	command := "claude --resume " + i.SessionID
	if i.CWD == "" {
		return command
	}
	return "cd " + shellQuote(i.CWD) + " && " + command
}

// shellQuote is a word of a POSIX shell.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=", r))
	}
	if s != "" && strings.IndexFunc(s, plain) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

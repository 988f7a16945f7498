package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// Cursor is a place in a session between two pages. Cursors are opaque: the two ends have a
// name, the others come from a [Page].
type Cursor string

const (
	// PageEnd is the cursor of the end of a conversation: the page has its last messages, and
	// More goes towards the start.
	PageEnd Cursor = ""
	// PageStart is the cursor of the start of the file: the page has the first messages, and
	// More goes on from there.
	PageStart Cursor = "start"
)

const (
	beforeCursor = "before:" // the uuid of a message
	afterCursor  = "after:"  // an offset in the file
)

// defaultPage is how many messages a page has by default.
const defaultPage = 100

// PageQuery selects the page of a conversation that is wanted. The zero value selects the last
// 100 messages.
type PageQuery struct {
	From   Cursor
	Limit  int  // how many messages at most, 0 is 100
	System bool // with the CLI's own notes, as in [ConversationOptions]
}

// Page is a part of the messages of a session, in their order, and the cursor of the page after
// it.
type Page struct {
	Messages []*Message
	// More is where the next page in the same direction is, "" if this was the
	// last.
	More Cursor
	// BytesRead is how much of the file was read for the page.
	BytesRead int64
}

// ErrNoMessage is returned when a cursor or an option names a message that the session does not
// have, or has no more: it may have been rewound or compacted since.
var ErrNoMessage = errors.New("transcript: no such message")

// Page reads some messages and no more of the file than it takes.
//
// From the end, pages go back through the conversation that
// [Session.Conversation] gives, message for message, to where that begins.
//
// From the start, pages go through the file as it was written. Which branch the
// conversation took is decided at its end, so these pages have them all: what was
// rewound, and what was before a compaction.
func (s *Session) Page(ctx context.Context, q PageQuery) (*Page, error) {
	if q.Limit <= 0 {
		q.Limit = defaultPage
	}
	f, err := regularfile.Open(s.Path)
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	defer f.Close()
	if offset, ok := q.From.offset(); ok {
		return pageForward(ctx, s.Path, f, offset, q)
	}
	stat, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	before, ok := strings.CutPrefix(string(q.From), beforeCursor)
	if !ok && q.From != PageEnd {
		return nil, fmt.Errorf("transcript: %q is not a cursor", q.From)
	}
	w := &window{work: newWork(ctx), src: f, low: stat.Size()}
	return w.page(before, q)
}

// offset is where pages that go forward begin, if the cursor is of one.
func (c Cursor) offset() (int64, bool) {
	if c == PageStart {
		return 0, true
	}
	text, ok := strings.CutPrefix(string(c), afterCursor)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0
}

// pageForward reads messages in the order of the file.
func pageForward(ctx context.Context, path string, f *os.File, offset int64, q PageQuery) (*Page, error) {
	w := newWork(ctx)
	r := newLineReader(contextReader{ctx, io.NewSectionReader(f, offset, 1<<62)}, offset)
	p := &Page{}
	t := &thread{work: w}
	uuids := map[string]bool{}
	var failed error
	readEntries(ctx, path, r, func(e Entry, err error) bool {
		var bad *LineError
		if w.over() {
			failed = w.err
			return false
		}
		if err != nil {
			if !errors.As(err, &bad) {
				failed = err
			}
			return failed == nil
		}
		e = spoken(e)
		l := LinkOf(e)
		if l == nil || l.UUID == "" {
			return true
		}
		m := t.queued(newMessage(e, l), uuids)
		uuids[m.UUID] = true
		if !m.visible(q.System) {
			return true
		}
		if len(p.Messages) == q.Limit {
			last := p.Messages[q.Limit-1].Entry.Position()
			p.More = Cursor(afterCursor + strconv.FormatInt(last.Offset+int64(last.Size)+1, 10))
			return false
		}
		p.Messages = append(p.Messages, m.Message)
		return true
	})
	p.BytesRead = r.offset + int64(r.end-r.start) - offset
	return p, failed
}

const (
	firstWindow = 256 << 10
	// margin is how many messages before a page have to be known: what stands at
	// the top of the window may depend on lines above it.
	margin = 16
)

// window is the end of a file, as much of it as was needed so far.
type window struct {
	work    *work
	src     io.ReaderAt
	low     int64  // everything from here on was read
	partial []byte // from low on: the end of a line that begins before
	entries []Entry
	read    int64
}

// grow reads n bytes more, before what was read.
func (w *window) grow(n int64) error {
	n = min(n, w.low)
	buf := make([]byte, int(n)+len(w.partial))
	from := contextReader{w.work.ctx, io.NewSectionReader(w.src, w.low-n, n)}
	if _, err := io.ReadFull(from, buf[:n]); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("transcript: %w", err)
	}
	copy(buf[n:], w.partial)
	w.low -= n
	w.read += n
	start := 0
	if w.low > 0 {
		i := bytes.IndexByte(buf, '\n')
		if i < 0 {
			w.partial = buf
			return nil
		}
		start = i + 1
		// A copy: the part is small, the buffer is not.
		w.partial = bytes.Clone(buf[:i])
	}
	r := newLineReader(bytes.NewReader(buf[start:]), w.low+int64(start))
	var found []Entry
	for {
		if w.work.over() {
			return w.work.err
		}
		l, err := r.next()
		if err != nil {
			break // the end; bytes in memory have no other
		}
		if e, err := parseEntry(string(l.text), l.pos); err == nil {
			found = append(found, spoken(e))
		}
	}
	w.entries = append(found, w.entries...)
	return nil
}

// page reads back until the messages of the page are certain.
func (w *window) page(before string, q PageQuery) (*Page, error) {
	for size := int64(firstWindow); ; size *= 2 {
		if err := w.grow(size); err != nil {
			return nil, err
		}
		messages := conversation(w.work, w.entries, q.System)
		end := len(messages)
		if before != "" {
			end = slices.IndexFunc(messages, func(m *Message) bool { return m.UUID == before })
		}
		whole := w.low == 0 || w.reachesRoot()
		start := max(0, end-q.Limit)
		if w.work.ended() {
			return nil, w.work.err
		}
		if !whole && (end < 0 || start < margin || !w.certain(messages[start:end])) {
			continue
		}
		if end < 0 {
			return nil, fmt.Errorf("%w: %s", ErrNoMessage, before)
		}
		p := &Page{Messages: messages[start:end], BytesRead: w.read}
		if start > 0 {
			p.More = Cursor(beforeCursor + messages[start].UUID)
		}
		return p, nil
	}
}

// reachesRoot reports whether the conversation begins inside the window: what is
// above it cannot matter.
func (w *window) reachesRoot() bool {
	g := newGraph(w.work, w.entries)
	leaf, _ := g.ends()
	if leaf == nil || g.unsure || !w.preservedKnown(g) {
		return false
	}
	chain := g.chain(leaf)
	return len(chain) > 0 && chain[0].parent == ""
}

// certain reports whether messages stay what they are, whatever is above the
// window.
func (w *window) certain(messages []*Message) bool {
	g := newGraph(w.work, w.entries)
	leaf, _ := g.ends()
	if leaf == nil || g.unsure || !w.preservedKnown(g) {
		return false
	}
	// The answer at the top of the window may have more lines above it.
	for _, n := range g.chain(leaf) {
		if id := n.messageID(); id != "" {
			return !slices.ContainsFunc(messages, func(m *Message) bool { return m.MessageID() == id })
		}
	}
	return true
}

// preservedKnown reports whether the messages that the compactions in the window
// preserved are in the window too.
func (w *window) preservedKnown(g *graph) bool {
	for _, n := range g.nodes {
		b := boundaryOf(n.entry)
		if b == nil {
			continue
		}
		if slices.ContainsFunc(b.preserved(), func(id string) bool { return g.byID[id] == nil }) {
			return false
		}
	}
	return true
}

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

// Cursor is a position in a session between two pages. Cursors are opaque: the two ends have a
// constant, the others come from a [Page].
type Cursor string

const (
	// PageEnd is the cursor of the end of a conversation: the page has its last messages, and More
	// leads towards the start.
	PageEnd Cursor = ""
	// PageStart is the cursor of the start of the file: the page has the first messages, and More
	// leads towards the end.
	PageStart Cursor = "start"
)

const (
	beforeCursor = "before:" // the uuid of a message
	afterCursor  = "after:"  // an offset in the file
)

// defaultPage is the default number of messages of a page.
const defaultPage = 100

// PageQuery selects a page of a conversation. The zero value selects the last 100 messages.
type PageQuery struct {
	From   Cursor
	Limit  int  // maximum number of messages, 0 is 100
	System bool // include the CLI's notes, as in [ConversationOptions]
}

// Page is a part of the messages of a session, in order, and the cursor of the next page.
type Page struct {
	Messages []*Message
	// More is the cursor of the next page in the same direction, "" after the last.
	More Cursor
	// BytesRead is the number of bytes of the file that were read for the page.
	BytesRead int64
}

// ErrNoMessage is returned when a cursor or an option names a message that the session does not
// have; it may have been rewound or compacted since.
var ErrNoMessage = errors.New("transcript: no such message")

// Page reads one page of messages and only the necessary part of the file.
//
// From the end, pages lead back through the messages that [Session.Conversation] returns, up to the
// first.
//
// From the start, pages follow the order of the file. The branch of the conversation is known only
// at the end of the file, so these pages include all branches: rewound messages, and messages
// before a compaction.
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

// offset returns the start of a page that leads forward, if the cursor is of this kind.
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
	// margin is the number of messages before a page that have to be known: messages at the top of
	// the window may depend on lines above it.
	margin = 16
)

// window is the part of a file, up to its end, that was read so far.
type window struct {
	work    *work
	src     io.ReaderAt
	low     int64  // everything from here on was read
	partial []byte // data at low: the end of a line that begins before it
	entries []Entry
	read    int64
}

// grow reads n bytes before the window.
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
			break // io.EOF is the only possible error
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

// reachesRoot reports whether the conversation begins inside the window, so that lines above cannot
// matter.
func (w *window) reachesRoot() bool {
	g := newGraph(w.work, w.entries)
	leaf, _ := g.ends()
	if leaf == nil || g.unsure || !w.preservedKnown(g) {
		return false
	}
	chain := g.chain(leaf)
	return len(chain) > 0 && chain[0].parent == ""
}

// certain reports whether no line above the window can change the messages.
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

// preservedKnown reports whether the window contains all messages that its compactions preserved.
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

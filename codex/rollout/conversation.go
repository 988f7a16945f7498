package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
)

// Conversation is a complete thread from its files: the turns with all of their items.
type Conversation struct {
	*Session
	// Turns are the turns in order, with all of their items. A turn without an end is interrupted.
	Turns []item.Turn
	// Models are the models of the turns, by the ids of the turns.
	Models map[string]string
	// Chain lists the files of the conversation, oldest first.
	Chain []string
	// Problems are skipped lines, at most the first 100; Skipped counts all.
	Problems []*LineError
	Skipped  int
}

// LineError is reported for a line of a rollout file that was skipped because it could not be
// decoded.
type LineError struct {
	Path string
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("rollout: %s:%d: %v", e.Path, e.Line, e.Err) }

// Unwrap returns the reason why the line was skipped, such as a syntax error of its JSON.
func (e *LineError) Unwrap() error { return e.Err }

const (
	maxProblems = 100
	maxChain    = 1000 // forks of forks
)

// link is a file of a chain, up to an ordinal.
type link struct {
	file  file
	until int64 // exclusive; -1 for all of it
}

// Read returns a complete conversation, including the part in its base files. The error is
// [ErrNoSession] if the thread has no file, and [ErrMissingBase] if the start of the conversation
// is missing; then Read also returns the rest.
func (d *Dir) Read(ctx context.Context, threadID string) (*Conversation, error) {
	files, problems := d.files(ctx, threadID)
	if len(files) == 0 {
		return nil, errors.Join(append([]error{fmt.Errorf("%w: %s", ErrNoSession, threadID)}, problems...)...)
	}
	session, err := newSession(ctx, files)
	if err != nil {
		return nil, err
	}
	session.Name = d.names(ctx)[session.ThreadID]
	c := &Conversation{Session: session, Models: map[string]string{}}
	chain, chainErr := d.chain(ctx, files)
	b := &builder{c: c, turns: map[string]int{}}
	for _, l := range chain {
		c.Chain = append(c.Chain, l.file.path)
		if err := b.read(ctx, l); err != nil {
			return c, err
		}
	}
	b.finish()
	if c.Preview == "" {
		c.Preview = firstPrompt(c.Turns)
	}
	return c, chainErr
}

// firstPrompt returns the beginning of the first prompt of a conversation.
func firstPrompt(turns []item.Turn) string {
	for _, t := range turns {
		for _, i := range t.Items {
			if u, ok := i.(*item.UserMessage); ok && inputText(u.Content) != "" {
				return preview(inputText(u.Content))
			}
		}
	}
	return ""
}

// chain returns the files of a conversation, oldest first.
func (d *Dir) chain(ctx context.Context, files []file) ([]link, error) {
	list := []link{{file: files[len(files)-1], until: -1}}
	defer func() { slices.Reverse(list) }()
	seen := map[string]bool{list[0].file.path: true}
	begins := firstOrdinals{}
	var byThread map[string][]file // of all threads, read when a base is found
	for len(list) < maxChain {
		child := list[len(list)-1].file
		from, err := baseOf(ctx, child.path)
		if err != nil || from == nil {
			return list, err
		}
		if byThread == nil {
			byThread = map[string][]file{}
			all, _ := d.files(ctx, "")
			for _, f := range all {
				byThread[f.thread] = append(byThread[f.thread], f)
			}
		}
		next := pickBase(byThread[from.ThreadID], from, child, seen, func(path string) (int64, bool) { return begins.of(ctx, path) })
		if ctx.Err() != nil {
			return list, context.Cause(ctx)
		}
		if next == nil {
			return list, fmt.Errorf("%w: of %s, up to line %d", ErrMissingBase, from.ThreadID, from.EndOrdinalExclusive)
		}
		seen[next.file.path] = true
		list = append(list, *next)
	}
	return list, fmt.Errorf("%w: the chain is longer than %d", ErrMissingBase, maxChain)
}

// baseOf returns the location of a file's beginning; nil if the file contains it.
func baseOf(ctx context.Context, path string) (*base, error) {
	f, err := openRollout(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for line, err := range lines(f) {
		if err != nil {
			return nil, &FileError{path, err}
		}
		m := metaOf(line.Text)
		if m == nil {
			return nil, &FileError{path, errNotRollout}
		}
		return m.HistoryBase, nil
	}
	return nil, &FileError{path, errNotRollout}
}

// pickBase returns the file with the lines before an ordinal: the newest one that is not newer than
// the child and starts before the ordinal.
func pickBase(files []file, from *base, child file, seen map[string]bool, begins func(path string) (int64, bool)) *link {
	for i := len(files) - 1; i >= 0; i-- {
		f := files[i]
		if seen[f.path] || f.stamp > child.stamp {
			continue
		}
		if first, ok := begins(f.path); ok && first < from.EndOrdinalExclusive {
			return &link{file: f, until: from.EndOrdinalExclusive}
		}
	}
	return nil
}

// firstOrdinals caches the ordinals of the first lines of files, by path; -1 for a file without
// one. Each file is opened once, even if several positions of a chain consider it.
type firstOrdinals map[string]int64

func (o firstOrdinals) of(ctx context.Context, path string) (int64, bool) {
	n, known := o[path]
	if !known {
		var ok bool
		if n, ok = firstOrdinal(ctx, path); !ok {
			n = -1
		}
		o[path] = n
	}
	return n, n >= 0
}

func firstOrdinal(ctx context.Context, path string) (int64, bool) {
	f, err := openRollout(ctx, path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for line, err := range lines(f) {
		var r record
		if err != nil || item.DecodeValue(item.JSON(line.Text), &r) != nil || r.Ordinal == nil {
			return 0, false
		}
		return *r.Ordinal, true
	}
	return 0, false
}

// builder assembles a conversation.
type builder struct {
	c       *Conversation
	turn    *item.Turn     // the open turn
	turns   map[string]int // indexes of the ended turns, by id
	model   string
	calls   map[string]*rawCall // tool calls of the turn, by id
	order   []*rawCall
	items   map[string]bool // ids of the turn's items
	summary *item.Reasoning // the item that legacy events add to
}

// read adds the lines of a file.
func (b *builder) read(ctx context.Context, l link) error {
	f, err := openRollout(ctx, l.file.path)
	if err != nil {
		return err
	}
	defer f.Close()
	n := 0
	for line, err := range lines(f) {
		n++
		if (n%1000 == 0 || err != nil) && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var r record
		if err == nil {
			err = item.DecodeValue(item.JSON(line.Text), &r)
		}
		if line.TooLong {
			err = fmt.Errorf("a line of %d bytes", line.Size)
		}
		if err != nil {
			b.problem(l.file.path, n, err)
			continue
		}
		if l.until >= 0 && r.Ordinal != nil && *r.Ordinal >= l.until {
			break
		}
		b.add(&r)
	}
	return nil
}

func (b *builder) problem(path string, line int, err error) {
	b.c.Skipped++
	if len(b.c.Problems) < maxProblems {
		b.c.Problems = append(b.c.Problems, &LineError{path, line, err})
	}
}

func (b *builder) add(r *record) {
	switch r.Type {
	case "turn_context":
		b.model = contextModel(r.Payload)
		if b.turn != nil {
			b.c.Models[b.turn.ID] = b.model
		}
	case "event_msg":
		var e event
		if item.DecodeValue(r.Payload, &e) == nil {
			b.event(&e, r.time())
		}
	case "response_item":
		b.response(r.Payload)
	}
}

func (b *builder) event(e *event, at time.Time) {
	switch e.Type {
	case "task_started":
		b.begin(e)
	case "task_complete":
		b.end(e, item.StatusCompleted)
	case "turn_aborted":
		b.end(e, item.StatusInterrupted)
	case "token_count":
		if u := e.usage(); u != nil {
			b.c.Usage = u
		}
	case "item_completed":
		if i := convertItem(e); i != nil {
			b.put(e.TurnID, i)
		}
	default:
		b.legacy(e)
	}
}

// begin starts a turn.
func (b *builder) begin(e *event) {
	b.finish()
	b.turn = &item.Turn{ID: strings.Clone(e.TurnID), Status: item.StatusInProgress, ItemsView: "full", StartedAt: e.StartedAt}
	b.calls, b.order, b.items, b.summary = map[string]*rawCall{}, nil, map[string]bool{}, nil
}

// put adds an item to its turn, which may have ended already.
func (b *builder) put(turnID string, i item.Item) {
	if b.turn == nil || turnID != "" && turnID != b.turn.ID {
		n, known := b.turns[turnID]
		if turnID == "" {
			n, known = len(b.c.Turns)-1, len(b.c.Turns) > 0
		}
		if known {
			b.c.Turns[n].Items = append(b.c.Turns[n].Items, i)
			return
		}
		if b.turn == nil {
			b.begin(&event{TurnID: turnID}) // a turn without a start
		}
	}
	b.items[i.Head().ID] = true
	b.turn.Items = append(b.turn.Items, i)
}

// end ends a turn.
func (b *builder) end(e *event, status string) {
	if b.turn == nil {
		return
	}
	b.turn.Status, b.turn.CompletedAt, b.turn.DurationMs = status, e.CompletedAt, e.DurationMs
	if !e.Error.IsNull() {
		b.turn.Status, b.turn.Error = item.StatusFailed, convertError(e.Error)
	}
	b.flush()
}

// finish ends a turn without an end: the exit of its process interrupted it.
func (b *builder) finish() {
	if b.turn != nil {
		b.turn.Status = item.StatusInterrupted
		b.flush()
	}
}

func (b *builder) flush() {
	b.rest()
	b.turns[b.turn.ID] = len(b.c.Turns)
	b.c.Turns = append(b.c.Turns, *b.turn)
	b.turn = nil
}

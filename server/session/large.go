package session

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// largeMessage is the length in bytes from which the content of an input is not copied into its
// messages.
const largeMessage = ringBytes

// large returns the record of an event whose input has a large text. The record shares the text
// with the event. Viewers read such a message from the log.
func (j *journal) large(now, head string, ev event.Event) (record, bool) {
	short, text, ok := shortened(ev)
	if !ok {
		return record{}, false
	}
	if u, ok := ev.(*event.UserMessage); ok {
		text = j.quoted(u)
	}
	lines, err := j.encoder.MessagesAfter(head, short)
	if err != nil || len(lines) != 1 {
		return record{}, false
	}
	start, end, found := bytes.Cut(lines[0], []byte(placeholder))
	if !found || bytes.Contains(end, []byte(placeholder)) {
		return record{}, false // the text of the event equals the placeholder
	}
	return record{Time: now, line: start, middle: text, end: bytes.Clone(end), brief: bytes.Clone(lines[0][len(head):])}, true
}

// quoted returns the text of a message as JSON, which is the content of its input.
func (j *journal) quoted(ev *event.UserMessage) event.JSON {
	text := ev.Blocks[0].Text
	if in, ok := j.core.input(ev.UUID); ok && quotes(in.Content, text) {
		return in.Content
	}
	return event.Quote(text)
}

// quotes reports whether a JSON string encodes a text, in the server's form, without copying
// either.
func quotes(quoted event.JSON, text string) bool {
	rest, ok := strings.CutPrefix(string(quoted), `"`)
	for part := range jsonwire.Quoted(text) {
		if !ok || len(rest) < len(part) || rest[:len(part)] != string(part) {
			return false
		}
		rest = rest[len(part):]
	}
	return ok && rest == `"`
}

// piecesLog is a log that accepts an event in pieces.
type piecesLog interface {
	AppendPieces(ctx context.Context, expected uint64, events ...[][]byte) (uint64, error)
}

// appendPieces appends records to a log. It joins the pieces for a log that does not accept pieces.
func appendPieces(ctx context.Context, log Log, expected uint64, records [][][]byte) (uint64, error) {
	whole := func(pieces [][]byte) bool { return len(pieces) == 1 }
	if l, ok := log.(piecesLog); ok && slices.ContainsFunc(records, func(pieces [][]byte) bool { return !whole(pieces) }) {
		return l.AppendPieces(ctx, expected, records...)
	}
	events := make([][]byte, len(records))
	for i, pieces := range records {
		if events[i] = pieces[0]; !whole(pieces) {
			events[i] = bytes.Join(pieces, nil)
		}
	}
	return log.Append(ctx, expected, events...)
}

// placeholder is the JSON string that replaces a large one.
const placeholder = `"\u001aparley large text\u001a"`

// shortened replaces the only text of an event by a placeholder if it is large. It returns the
// event, and the text as JSON.
func shortened(ev event.Event) (short event.Event, text event.JSON, ok bool) {
	switch ev := ev.(type) {
	case *event.UserMessage:
		if len(ev.Blocks) != 1 || ev.Blocks[0].Type != "text" || ev.Blocks[0].Raw != "" || len(ev.Blocks[0].Text) < largeMessage {
			return nil, "", false
		}
		c := *ev
		c.Blocks = []event.Content{{Type: "text", Text: event.JSON(placeholder).Text()}}
		return &c, "", true // journal.quoted has it
	case *event.QueueChanged:
		items, text, ok := shortItems(ev.Items)
		c := *ev
		c.Items = items
		return &c, text, ok
	case *event.QueueUpdated:
		items, text, ok := shortItems(ev.Items)
		c := *ev
		c.Items = items
		return &c, text, ok
	}
	return nil, "", false
}

func shortItems(items []event.QueueItem) ([]event.QueueItem, event.JSON, bool) {
	if len(items) != 1 || len(items[0].Content) < largeMessage || items[0].Content[0] != '"' {
		return nil, "", false
	}
	item := items[0]
	item.Content = placeholder
	return []event.QueueItem{item}, items[0].Content, true
}

package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// answer is embedded in every result of a control request and holds its JSON text. A method with a
// single answer member returns the value of that member; [Client.Control] reaches the other
// members.
type answer struct{ raw message.JSON }

// Raw returns the whole answer, or "" if the CLI sent no body.
func (a *answer) Raw() message.JSON { return a.raw }

func (a *answer) keep(text message.JSON) { a.raw = text }

// ask sends a control request and decodes its answer by the rules for messages: a member
// that is unknown, or has another type than its field, is only in Raw. An answer without
// a body gives the zero value.
func ask[T any, P interface {
	*T
	keep(message.JSON)
}](ctx context.Context, c *Client, subtype string, fields any) (P, error) {
	var text message.JSON
	if err := c.Control(ctx, subtype, fields, &text); err != nil {
		return nil, err
	}
	out := P(new(T))
	out.keep(text)
	if text == "" {
		return out, nil
	}
	return out, jsonwire.Unmarshal(string(text), (*T)(out))
}

// askMember is like ask and returns one member of the answer.
func askMember[T any](ctx context.Context, c *Client, subtype, member string, fields any) (out T, err error) {
	var text message.JSON
	if err := c.Control(ctx, subtype, fields, &text); err != nil || text == "" {
		return out, err
	}
	d := jsonwire.NewDecoder(string(text))
	if d.Kind() != '{' {
		return out, nil
	}
	for m := d.Members(); m.Next(); {
		if m.Key == member {
			d.Into(&out)
		} else {
			d.Skip()
		}
	}
	return out, d.Err()
}

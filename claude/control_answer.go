package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// answer is what the results of control requests have in common: their text. An
// answer with one member only is given as that member, and [Client.Control]
// reaches the rest of it.
type answer struct{ raw message.JSON }

// Raw is the whole answer, "" where the CLI gave none.
func (a *answer) Raw() message.JSON { return a.raw }

func (a *answer) keep(text message.JSON) { a.raw = text }

// ask sends a control request and decodes its answer by the rules for messages:
// a member that is unknown, or of another type than its field, stays in Raw. An
// answer without a body is the zero value.
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

// askMember is ask for one member of the answer.
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

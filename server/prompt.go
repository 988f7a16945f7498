package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// prompt is [api.QueryParams] with the text still encoded as JSON, because a large text is not
// copied.
type prompt struct {
	api.QueryParams            // without Text
	text            event.JSON // a JSON string; may be empty
}

// decode decodes parameters. If they consist mostly of text, the result shares their memory.
func (p *prompt) decode(params []byte) error {
	var v struct {
		api.QueryParams
		Text literal `json:"text"`
	}
	if err := json.Unmarshal(params, &v); err != nil {
		return ofQuery(err)
	}
	p.QueryParams, p.text = v.QueryParams, event.JSON(v.Text)
	if len(p.text) < len(params)/2 {
		p.text = event.JSON(strings.Clone(string(p.text)))
	}
	return nil
}

// largeText is the size in bytes from which content with a single text block is handled as a plain
// text.
const largeText = 64 << 10

// blocks is [api.QueryWithContentParams]. If the content is a single large text block, it stays
// encoded and is not copied.
type blocks struct {
	api.QueryWithContentParams            // without Content if text is set
	text                       event.JSON // a JSON string; empty for other content
}

// decode decodes parameters. If they consist mostly of text, it keeps their memory.
func (p *blocks) decode(params []byte) error {
	var v struct {
		api.QueryWithContentParams
		Content shared `json:"content"`
	}
	if err := json.Unmarshal(params, &v); err != nil {
		return ofStruct(err, "QueryWithContentParams")
	}
	p.QueryWithContentParams = v.QueryWithContentParams
	if len(v.Contexts) == 0 && len(v.Content) > largeText {
		p.text = oneText(v.Content)
	}
	switch {
	case p.text == "" && len(v.Content) > 0:
		return json.Unmarshal(v.Content, &p.Content)
	case len(p.text) < len(params)/2:
		p.text = event.JSON(strings.Clone(string(p.text)))
	}
	return nil
}

// shared is a JSON value that shares the memory from which it was decoded.
type shared []byte

// UnmarshalJSON stores data without copying it.
func (s *shared) UnmarshalJSON(data []byte) error {
	*s = data
	return nil
}

// oneText returns the text of content that is a single text block, and "" for other content.
func oneText(content []byte) event.JSON {
	var list []map[string]shared
	if json.Unmarshal(content, &list) != nil || len(list) != 1 || len(list[0]) != 2 || string(list[0]["type"]) != `"text"` {
		return ""
	}
	var text literal
	if data := list[0]["text"]; len(data) <= len(`""`) || text.UnmarshalJSON(data) != nil {
		return ""
	}
	return event.JSON(text)
}

// ofQuery renames the type in a decoding error to [api.QueryParams], which is embedded here.
func ofQuery(err error) error { return ofStruct(err, "QueryParams") }

func ofStruct(err error, name string) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		wrong.Struct, wrong.Field = name, strings.TrimPrefix(wrong.Field, name+".")
	}
	return err
}

// literal is an encoded JSON string in canonical form. It shares the memory from which it was
// decoded.
type literal string

// UnmarshalJSON stores data without copying it, unless it is not in canonical form.
func (l *literal) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
	case data[0] != '"':
		return errors.New("text is not a string")
	case isCanonical(data):
		*l = literal(unsafe.String(unsafe.SliceData(data), len(data))) // it is never modified
	default:
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*l = literal(event.Quote(text))
	}
	return nil
}

// isCanonical reports whether a JSON string has only the necessary escapes, in their short form.
func isCanonical(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	for {
		i := bytes.IndexByte(data, '\\')
		if i < 0 {
			return true
		}
		if strings.IndexByte(`"\bfnrt`, data[i+1]) < 0 {
			return false
		}
		data = data[i+2:]
	}
}

func query(s *Server, ctx context.Context, c *caller, p prompt) (api.Accepted, error) {
	content := p.text
	if content == "" {
		content = `""`
	}
	if len(p.Contexts) > 0 || p.Language != "" { // they may be invalid
		text, err := withContexts(p.text.Text(), p.Contexts, p.Language)
		if err != nil {
			return api.Accepted{}, err
		}
		content = event.Quote(text)
	}
	return s.sessions.Query(ctx, p.SessionID, p.Key, content, p.Priority, c.by())
}

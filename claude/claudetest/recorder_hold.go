package claudetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// maxHeld limits the size of the entries that wait for the end of a block, in bytes.
const maxHeld = 8 << 20

// partial holds the members of a partial message that the recorder needs.
type partial struct {
	Type  string `json:"type"`
	Event struct {
		Type  string                     `json:"type"`
		Index int                        `json:"index"`
		Delta map[string]json.RawMessage `json:"delta"`
	} `json:"event"`
}

// deltaTexts are the members of deltas that concatenate to a text.
var deltaTexts = []string{"text", "thinking", "partial_json"}

func parsePartial(e Entry) (p partial, ok bool) {
	if e.Dir != "out" || len(e.Line) == 0 || !strings.Contains(string(e.Line[:min(len(e.Line), 200)]), `"stream_event"`) {
		return p, false
	}
	return p, json.Unmarshal(e.Line, &p) == nil && p.Type == "stream_event"
}

// blockOpen reports whether entries have to wait after e.
func (c *recorderConn) blockOpen(e Entry) bool {
	if c.size > maxHeld || e.Event == "exit" {
		return false
	}
	if p, ok := parsePartial(e); ok {
		return p.Event.Type == "content_block_delta"
	}
	// Another line in the middle of a block: keep the held entries, except at the end of an
	// aborted turn.
	return len(c.held) > 1 && !strings.Contains(string(e.Line), `"type":"result"`)
}

// flush writes the held entries.
func (c *recorderConn) flush() {
	entries := c.held
	c.held, c.size = nil, 0
	c.joinDeltas(entries)
	for _, e := range entries {
		c.write(e)
	}
}

func (c *recorderConn) write(e Entry) {
	red := c.r.Redactor
	if e.Line != nil {
		e.Line = red.JSON(e.Line)
	}
	e.Text, e.Stderr, e.Error = red.Text(e.Text), red.Text(e.Stderr), red.Text(e.Error)
	line, err := jsonwire.Marshal(e)
	if err == nil {
		_, err = c.w.Write(append(line, '\n'))
	}
	c.r.fail(err)
}

// joinDeltas redacts texts that are split over several deltas. A changed text moves into its
// first delta.
func (c *recorderConn) joinDeltas(entries []Entry) {
	type text struct {
		parts   []string
		entries []int
	}
	texts := map[string]*text{}
	for i, e := range entries {
		p, ok := parsePartial(e)
		if !ok || p.Event.Type != "content_block_delta" {
			continue
		}
		for _, name := range deltaTexts {
			var part string
			if raw := p.Event.Delta[name]; raw == nil || json.Unmarshal(raw, &part) != nil {
				continue
			}
			key := fmt.Sprint(p.Event.Index, " ", name)
			if texts[key] == nil {
				texts[key] = &text{}
			}
			texts[key].parts = append(texts[key].parts, part)
			texts[key].entries = append(texts[key].entries, i)
		}
	}
	for key, t := range texts {
		whole := strings.Join(t.parts, "")
		redacted := string(c.r.Redactor.JSON([]byte(whole)))
		if redacted == whole || len(t.parts) < 2 {
			continue
		}
		_, name, _ := strings.Cut(key, " ")
		for n, i := range t.entries {
			part := ""
			if n == 0 {
				part = redacted
			}
			entries[i].Line = withDelta(entries[i].Line, name, part)
		}
	}
}

// withDelta returns a line with another text in its delta.
func withDelta(line json.RawMessage, name, text string) json.RawMessage {
	members := map[string]json.RawMessage{}
	if json.Unmarshal(line, &members) != nil {
		return line
	}
	var event, delta map[string]json.RawMessage
	if json.Unmarshal(members["event"], &event) != nil || json.Unmarshal(event["delta"], &delta) != nil {
		return line
	}
	delta[name] = mustEncode(text)
	event["delta"] = mustEncode(delta)
	members["event"] = mustEncode(event)
	return slices.Clip(mustEncode(members))
}

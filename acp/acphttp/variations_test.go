package acphttp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// variations change the messages of both sides to equivalent ones that other clients and agents
// send.
var variations = map[string]func(m map[string]any) bool{
	// Unknown members in messages and in their parameters. Responses are not changed.
	"future": func(m map[string]any) bool {
		m["future"] = []any{map[string]any{"x": nil}}
		for _, name := range []string{"params", "result"} {
			if inner, ok := m[name].(map[string]any); ok {
				inner["_meta"], inner["future"] = map[string]any{"a.b/c": 1}, false
			}
		}
		return true
	},
	// Strings as ids.
	"ids": func(m map[string]any) bool {
		id, ok := m["id"].(json.Number)
		if ok {
			m["id"] = "request " + id.String() + " \"ü\u2028"
		}
		return ok
	},
	// Numbers as ids that a float cannot represent.
	"large ids": func(m map[string]any) bool {
		id, ok := m["id"].(json.Number)
		if ok {
			m["id"] = json.Number("9007199254740993" + fmt.Sprintf("%03s", id.String()))
		}
		return ok
	},
	// Long texts, and texts that would break a line or an event stream.
	"texts": func(m map[string]any) bool {
		return eachText(m, func(text string) string {
			return text + "\n\ndata: {}\r\n\r\nevent: x\u2028\u2029\x00😀" + strings.Repeat("long ", 40_000)
		})
	},
}

// eachText changes the texts of content blocks, and reports whether there is one.
func eachText(v any, change func(string) string) (changed bool) {
	switch v := v.(type) {
	case map[string]any:
		if text, ok := v["text"].(string); ok && v["type"] == "text" {
			v["text"], changed = change(text), true
		}
		for _, x := range v {
			changed = eachText(x, change) || changed
		}
	case []any:
		for _, x := range v {
			changed = eachText(x, change) || changed
		}
	}
	return changed
}

// vary changes the messages of a client or an agent in a recording, but not those of the transport
// itself.
func vary(t *testing.T, lines []record, change func(map[string]any) bool) (changed int) {
	opens := map[int]bool{} // exchanges with an answer of the agent as the response body
	for i, l := range lines {
		if l.What == "request" && l.Method == "POST" && l.Headers["acp-connection-id"] == "" {
			opens[l.Exchange] = true
		}
		if l.What == "response" && l.Status != 200 {
			delete(opens, l.Exchange)
		}
		switch {
		case l.What == "request", l.What == "body" && opens[l.Exchange]:
			lines[i].Body = varied(t, l.Body, change, &changed)
		case l.What == "event", l.What == "text":
			lines[i].Data = varied(t, l.Data, change, &changed)
		}
	}
	return changed
}

func varied(t *testing.T, text json.RawMessage, change func(map[string]any) bool, changed *int) json.RawMessage {
	if !bytes.HasPrefix(text, []byte("{")) {
		return text
	}
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&m) != nil {
		return text
	}
	if e, ok := m["error"].(map[string]any); ok && (m["id"] == nil || e["message"] == "Initialize not allowed on existing connection") {
		if _, own := m["future"]; own || m["id"] == nil {
			return text
		}
		id := map[string]any{"id": m["id"]}
		if change(id); id["id"] == m["id"] { // the transport repeats only the id
			return text
		}
		m["id"] = id["id"]
	} else if !change(m) {
		return text
	}
	*changed++
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRecordings_varied plays the recordings with changed messages: the transport passes on unknown
// members.
func TestRecordings_varied(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join("..", "..", "testdata", "acp-remote", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("there are no recordings: %v", err)
	}
	for at, name := range slices.Sorted(maps.Keys(variations)) {
		change := variations[name]
		t.Run(name, func(t *testing.T) {
			total := 0
			t.Run("recording", func(t *testing.T) {
				for i, folder := range folders {
					if info, err := os.Stat(folder); err != nil || !info.IsDir() || (i+at)%short.Count(4, 1, 1) != 0 {
						continue // with -short only some of the changes are made
					}
					t.Run(filepath.Base(folder), func(t *testing.T) {
						if lines, ok := readRecording(t, filepath.Join(folder, "exchange.jsonl")); ok {
							total += vary(t, lines, change)
							playHTTP(t, lines)
						} else if lines, ok := readRecording(t, filepath.Join(folder, "frames.jsonl")); ok {
							total += vary(t, lines, change)
							playWS(t, lines)
						}
					})
				}
			})
			if total < 10 {
				t.Errorf("%d messages were changed, want more", total)
			}
		})
	}
}

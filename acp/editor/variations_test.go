package editor_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDialogue_varied sends the requests of an editor with unknown members, and with optional
// members that are null: the responses and the calls of the agent are the same.
func TestDialogue_varied(t *testing.T) {
	t.Parallel()
	const capable = `{"auth":{"terminal":true},"session":{"notices":{},"compaction":{},"configOptions":{"boolean":{}}}}`
	for _, version := range []string{"1", "2"} {
		want := dialogue(t, version, capable, nil)
		for name, change := range map[string]func(map[string]any){
			"future": func(params map[string]any) {
				eachObject(params, func(o map[string]any) {
					if o["command"] == nil { // the configuration of an agent's server is passed on unchanged
						o["future"] = map[string]any{"x": []any{nil}}
					}
				})
			},
			"nulls": func(params map[string]any) {
				for _, name := range []string{"_meta", "clientInfo"} {
					if _, ok := params[name]; !ok {
						params[name] = nil
					}
				}
				if blocks, ok := params["prompt"].([]any); ok {
					for _, b := range blocks {
						if o, ok := b.(map[string]any); ok {
							o["annotations"], o["_meta"] = nil, nil
						}
					}
				}
			},
		} {
			if got := dialogue(t, version, capable, change); got != want {
				t.Errorf("version %s, %s: (-plain +varied)\n%s", version, name, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
			}
		}
	}
}

// eachObject calls f for the objects in a value.
func eachObject(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			eachObject(x, f)
		}
		f(v)
	case []any:
		for _, x := range v {
			eachObject(x, f)
		}
	}
}

// changed returns the parameters of a request as the test varies them.
func (d *talk) changed(params string) json.RawMessage {
	var m map[string]any
	if d.change == nil || json.Unmarshal([]byte(params), &m) != nil {
		return json.RawMessage(params)
	}
	d.change(m)
	text, err := json.Marshal(m)
	if err != nil {
		d.t.Error(err)
	}
	return text
}

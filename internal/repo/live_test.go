package repo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestLiveCover checks the list of recordings that only make soak repeats with the real CLI: the other recordings
// cover every flag, option, message, block, request, hook, tool, event and answer of the API in them.
func TestLiveCover(t *testing.T) {
	corpus := os.DirFS("testdata/wire")
	list, err := os.ReadFile("claude/testdata/soak.txt")
	if err != nil {
		t.Fatal(err)
	}
	left := strings.Fields(string(list))
	entries, err := fs.ReadDir(corpus, ".")
	if err != nil {
		t.Fatal(err)
	}
	shown, names := map[string]bool{}, []string{}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		names = append(names, e.Name())
		if !slices.Contains(left, e.Name()) {
			for feature := range features(t, corpus, e.Name()) {
				shown[feature] = true
			}
		}
	}
	if len(names)-len(left) < 50 || len(shown) < 200 {
		t.Errorf("%d of %d recordings are left, and they show %d things", len(names)-len(left), len(names), len(shown))
	}
	for _, name := range left {
		if !slices.Contains(names, name) {
			t.Errorf("there is no recording %s", name)
			continue
		}
		for feature := range features(t, corpus, name) {
			if !shown[feature] {
				t.Errorf("take %s out of the list: %s is in no other", name, feature)
			}
		}
	}
}

// features returns the features that a recording covers.
func features(t *testing.T, corpus fs.FS, name string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := fs.WalkDir(corpus, name, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(file, "/files/") {
			return err
		}
		text, err := fs.ReadFile(corpus, file)
		if err != nil {
			return err
		}
		switch base := path.Base(file); base {
		case "stdin.jsonl", "stdout.jsonl":
			addLines(all, base, text)
		case "argv.json", "caller.json", "api.json", "meta.json":
			var v any
			if err := json.Unmarshal(text, &v); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			addSettings(all, base, v)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// addLines adds the features of the lines of the wire.
func addLines(all map[string]bool, file string, text []byte) {
	for line := range bytes.Lines(text) {
		var l struct {
			Type, Subtype string
			Request       *wireRequest
			Response      *wireRequest
			Message       struct{ Content json.RawMessage }
			Event         struct {
				Type  string
				Delta struct{ Type string }
			}
		}
		if json.Unmarshal(line, &l) != nil && l.Type == "" {
			all[file+" torn"] = true
			continue
		}
		all[fmt.Sprintln(file, l.Type, l.Subtype, l.Request, l.Response, l.Event.Type, l.Event.Delta.Type)] = true
		var blocks []struct{ Type, Name string }
		if json.Unmarshal(l.Message.Content, &blocks) == nil {
			for _, b := range blocks {
				all[fmt.Sprintln(file, l.Type, "block", b.Type, b.Name)] = true
			}
		}
	}
}

// wireRequest holds the identifying members of a control request or its answer.
type wireRequest struct {
	Subtype  string
	ToolName string `json:"tool_name"`
	Input    struct {
		HookEvent string `json:"hook_event_name"`
	}
}

func (r *wireRequest) String() string {
	if r == nil {
		return ""
	}
	return r.Subtype + " " + r.ToolName + " " + r.Input.HookEvent
}

// addSettings adds flags, options, members of calls and environments, and the answers in the API script.
func addSettings(all map[string]bool, where string, v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if flag, ok := x.(string); ok && where == "argv.json" && strings.HasPrefix(flag, "--") {
				all["flag "+flag] = true
			}
			addSettings(all, where, x)
		}
	case map[string]any:
		for key, x := range v {
			_, isText := x.(string)
			_, isNumber := x.(float64)
			switch {
			case slices.Contains([]string{"status", "stop_reason", "type", "do", "api"}, key) && (isText || isNumber):
				all[fmt.Sprintln(where, key, x)] = true
			case where != "meta.json":
				all[where+" "+key] = true
			}
			if env, ok := x.(map[string]any); ok && key == "env_extra" {
				for name := range env {
					all["env "+name] = true
				}
			}
			if where != "meta.json" && key != "input" && key != "inputSchema" {
				addSettings(all, where, x)
			}
		}
	}
}

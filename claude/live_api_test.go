package claude_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// recordedAPIRequest is a line of api_requests.jsonl: a request of the CLI to the API.
type recordedAPIRequest struct {
	Class string         `json:"class"`
	Body  map[string]any `json:"body"`
}

// requestMembers are the members of a request that are compared unchanged.
var requestMembers = []string{"model", "stream", "max_tokens", "thinking", "output_config"}

// compareRequests compares the requests to the model with the recording: model, tools,
// settings, and the last messages.
func (l *live) compareRequests() {
	l.t.Helper()
	want, err := recordedAPIRequests(filepath.Join(l.rec.Dir, "api_requests.jsonl"))
	if err != nil {
		l.t.Fatal(err)
	}
	given := l.given()
	var wanted, got []json.RawMessage
	for _, r := range want {
		wanted = append(wanted, asJSON(l.t, r))
	}
	for _, r := range l.api.Requests() {
		if r.Side || !strings.HasPrefix(r.Path, "/v1/messages?") {
			continue
		}
		var body map[string]any
		if err := json.Unmarshal([]byte(l.toRecorded(string(r.Body))), &body); err != nil {
			l.t.Errorf("request: %v", err)
			continue
		}
		got = append(got, asJSON(l.t, summarize(body)))
	}
	l.looser(sequence(wanted, given), sequence(got, given), func(want, got []any) string {
		if len(want) == len(got) {
			got = alignRequests(want, got)
		}
		return cmp.Diff(want, got)
	}, "requests of the API")
}

// recordedAPIRequests returns the main requests of a recording.
func recordedAPIRequests(path string) (list []map[string]any, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r recordedAPIRequest
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		delete(r.Body, "system_chars") // depends on paths of the recording machine
		if r.Class == "main" {
			list = append(list, r.Body)
		}
	}
	return list, lines.Err()
}

// summarize returns a request in the form of the recordings.
func summarize(body map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range requestMembers {
		if v, ok := body[name]; ok {
			out[name] = v
		}
	}
	tools := []any{}
	list, _ := body["tools"].([]any)
	for _, t := range list {
		tool, _ := t.(map[string]any)
		tools = append(tools, tool["name"])
	}
	messages, _ := body["messages"].([]any)
	roles := []any{}
	for _, m := range messages {
		message, _ := m.(map[string]any)
		roles = append(roles, message["role"])
		if message["role"] == "user" {
			out["last_user_message"] = m
		}
		out["last_message"] = m
	}
	out["tools"], out["roles"], out["n_messages"], out["system_tail"] = tools, roles, len(messages), systemText(body["system"])
	return out
}

// systemText returns the text of a system prompt.
func systemText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	var b strings.Builder
	blocks, _ := v.([]any)
	for _, e := range blocks {
		block, _ := e.(map[string]any)
		text, _ := block["text"].(string)
		b.WriteString(text)
	}
	return b.String()
}

// alignRequests returns got with the texts of want where the recording has filler, and
// without members that the recording lacks.
func alignRequests(want, got []any) []any {
	out := slices.Clone(got)
	for i := range want {
		w, _ := want[i].(map[string]any)
		g, _ := got[i].(map[string]any)
		aligned := map[string]any{}
		for name, value := range g {
			wanted, ok := w[name]
			text, isText := wanted.(string)
			switch {
			case !ok && name == "last_user_message":
				// The recording has it in an earlier message.
			case isText && strings.Contains(text, "redacted"):
				aligned[name] = wanted
			case name == "system_tail":
				tail, _ := value.(string)
				aligned[name] = tail[max(0, len(tail)-len(text)):]
			default:
				aligned[name] = alignFiller(wanted, value)
			}
		}
		out[i] = aligned
	}
	return out
}

package editor_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// received processes a line of the agent.
func (r *Run) received(line []byte) {
	line = bytes.TrimSpace(line)
	if !json.Valid(line) {
		r.add("agent", mustJSON(map[string]string{"raw": string(line)}))
		return
	}
	msg := json.RawMessage(bytes.Clone(line))
	r.add("agent", msg)
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(msg, &m) != nil {
		return
	}
	switch {
	case m.Method != "" && m.ID != nil:
		r.answerRequest(m.ID, m.Method, m.Params)
	case m.Method == "":
		var id int
		if string(m.ID) == "null" || json.Unmarshal(m.ID, &id) != nil {
			return
		}
		r.mu.Lock()
		answer := r.pending[id]
		r.mu.Unlock()
		select {
		case answer <- msg: // buffered, because await may be called later
		default:
		}
	}
}

// answerRequest answers a request of the agent as scripted.
func (r *Run) answerRequest(id json.RawMessage, method string, params json.RawMessage) {
	var result any
	var failed map[string]any
	var delay int
	switch method {
	case "session/request_permission":
		p := recordedPermission{}
		r.mu.Lock()
		if r.asked < len(r.script.Permissions) {
			p = r.script.Permissions[r.asked]
		}
		r.asked++
		if p.Hold {
			r.held = append(r.held, heldAnswer{id, method})
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		delay = p.DelayMS
		if result = permit(p, params); p.Error {
			result, failed = nil, map[string]any{"code": -32603, "message": "the client failed"}
		}
	case "elicitation/create":
		if result = r.elicitation(id, method); result == nil {
			return
		}
	case "fs/read_text_file", "fs/write_text_file":
		result, failed = r.file(method, params)
	default:
		failed = map[string]any{"code": -32601, "message": "Method not found"}
	}
	msg := map[string]any{"jsonrpc": "2.0", "id": id}
	if failed != nil {
		msg["error"] = failed
	} else {
		msg["result"] = result
	}
	reply := func() {
		defer r.answer.Done()
		_ = r.send(msg) // an agent that has ended needs no answer
	}
	r.answer.Add(1)
	if delay > 0 {
		time.AfterFunc(time.Duration(float64(delay)*r.runner.Sleep)*time.Millisecond, reply)
		return
	}
	reply()
}

// permit selects an option.
func permit(p recordedPermission, params json.RawMessage) any {
	if p.Cancelled {
		return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
	}
	var ask struct {
		Options []struct {
			OptionID string `json:"optionId"`
			Kind     string `json:"kind"`
		} `json:"options"`
	}
	if json.Unmarshal(params, &ask) != nil || len(ask.Options) == 0 {
		return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
	}
	picked := ""
	kind := p.Kind
	if kind == "" {
		kind = "allow_once"
	}
	for _, o := range ask.Options {
		if p.OptionID != "" && o.OptionID == p.OptionID || p.OptionID == "" && o.Kind == kind && picked == "" {
			picked = o.OptionID
		}
	}
	if picked == "" {
		picked = ask.Options[0].OptionID
	}
	if p.Bogus != "" {
		picked = p.Bogus
	}
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": picked}}
}

// elicitation returns the next answer to a form, or nil if it is held.
func (r *Run) elicitation(id json.RawMessage, method string) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.elicited >= len(r.script.Elicitations) {
		return map[string]any{"action": "decline"}
	}
	answer := r.script.Elicitations[r.elicited]
	r.elicited++
	if strings.Contains(string(answer), `"hold"`) {
		r.held = append(r.held, heldAnswer{id, method})
		return nil
	}
	return answer
}

// file reads and writes files as an editor does.
func (r *Run) file(method string, params json.RawMessage) (any, map[string]any) {
	var p struct {
		Path    string `json:"path"`
		Content string `json:"content"`
		Line    int    `json:"line"`
		Limit   int    `json:"limit"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, map[string]any{"code": -32602, "message": err.Error()}
	}
	if method == "fs/write_text_file" {
		if err := os.WriteFile(p.Path, []byte(p.Content), 0o600); err != nil {
			return nil, map[string]any{"code": -32603, "message": err.Error()}
		}
		r.mu.Lock()
		r.saved[p.Path] = true
		r.mu.Unlock()
		return map[string]any{}, nil
	}
	rel, err := filepath.Rel(r.cwd, p.Path)
	text, ok := r.script.Unsaved[rel]
	r.mu.Lock()
	ok = ok && !r.saved[p.Path]
	r.mu.Unlock()
	if err != nil || !ok {
		data, err := os.ReadFile(p.Path)
		if err != nil {
			return nil, map[string]any{"code": -32002, "message": err.Error()}
		}
		text = string(data)
	}
	return map[string]any{"content": text}, nil
}

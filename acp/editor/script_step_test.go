package editor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// step executes one step of the script.
func (r *Run) step(ctx context.Context, s *recordedStep) error {
	switch s.Do {
	case "request", "start":
		answer, err := r.request(s)
		if err != nil || s.Do == "start" {
			return err
		}
		return r.await(ctx, s.As, answer)
	case "await":
		r.mu.Lock()
		answer := r.pending[awaitKey(r.vars, s.As)]
		r.mu.Unlock()
		return r.await(ctx, s.As, answer)
	case "notify":
		return r.notify(s)
	case "wait":
		return r.wait(ctx, s)
	case "mark":
		r.mu.Lock()
		r.mark = len(r.timeline)
		r.mu.Unlock()
		return nil
	case "raw":
		return r.raw(s)
	case "sleep":
		r.pause(ctx, s.MS)
		return nil
	case "write":
		text, err := r.fillText(s.Path)
		if err != nil {
			return err
		}
		path := fmt.Sprint(text)
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.cwd, path)
		}
		return os.WriteFile(path, []byte(s.Text), 0o600)
	case "killcli":
		r.add("killcli", mustJSON(map[string]string{"signal": "SIGKILL"}))
		return r.killChildren()
	case "killagent":
		return r.kill(ctx)
	case "restart":
		if err := r.stop(ctx); err != nil {
			return err
		}
		r.add("restart", mustJSON(map[string]any{}))
		return r.start()
	}
	return fmt.Errorf("there is no step %q", s.Do)
}

// awaitKey returns the id of the request that was started under a name, or -1.
func awaitKey(vars map[string]json.RawMessage, as string) int {
	var id int
	if json.Unmarshal(vars["start:"+as], &id) != nil {
		return -1
	}
	return id
}

// request sends a request and returns a channel for its response.
func (r *Run) request(s *recordedStep) (chan json.RawMessage, error) {
	params, err := r.params(s)
	if err != nil {
		return nil, err
	}
	answer := make(chan json.RawMessage, 1)
	r.mu.Lock()
	id := r.nextID
	r.nextID++
	r.pending[id] = answer
	r.vars["start:"+s.As] = mustJSON(id)
	r.mu.Unlock()
	msg := map[string]any{"jsonrpc": "2.0", "id": id, "method": s.Method}
	if params != nil {
		msg["params"] = params
	}
	if err := r.send(msg); err != nil {
		answer <- mustJSON(map[string]any{"error": map[string]any{"code": 0, "message": "closed"}})
	}
	return answer, nil
}

func (r *Run) params(s *recordedStep) (any, error) {
	if len(s.Params) == 0 {
		return nil, nil
	}
	var v any
	if err := json.Unmarshal(s.Params, &v); err != nil {
		return nil, err
	}
	return r.fill(v)
}

// await waits for a response. An error response is a valid result.
func (r *Run) await(ctx context.Context, as string, answer chan json.RawMessage) error {
	if answer == nil {
		return fmt.Errorf("nothing was started as %q", as)
	}
	ctx, cancel := context.WithTimeout(ctx, stepWait)
	defer cancel()
	select {
	case msg := <-answer:
		var a struct {
			Result json.RawMessage `json:"result"`
		}
		if msg != nil && json.Unmarshal(msg, &a) == nil {
			r.mu.Lock()
			r.vars[as] = a.Result
			r.mu.Unlock()
		}
		return nil
	case <-ctx.Done():
		return errors.New("no answer came")
	}
}

func (r *Run) notify(s *recordedStep) error {
	params, err := r.params(s)
	if err != nil {
		return err
	}
	if err := r.send(map[string]any{"jsonrpc": "2.0", "method": s.Method, "params": params}); err != nil {
		return err
	}
	if s.Method != "session/cancel" {
		return nil
	}
	r.mu.Lock()
	held := r.held
	r.held = nil
	r.mu.Unlock()
	for _, h := range held {
		result := map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
		if strings.HasPrefix(h.method, "elicitation/") {
			result = map[string]any{"action": "cancel"}
		}
		if err := r.send(map[string]any{"jsonrpc": "2.0", "id": h.id, "result": result}); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) raw(s *recordedStep) error {
	line, err := r.fillText(s.Line)
	if err != nil {
		return err
	}
	text, ok := line.(string)
	if !ok {
		text = s.Line
	}
	if err := r.sendLine([]byte(text)); err != nil && !errors.Is(err, os.ErrClosed) {
		select {
		case <-r.exited: // the remaining steps have no effect, as in the recording
			return nil
		default:
			return err
		}
	}
	return nil
}

// wait waits for a message of the agent.
func (r *Run) wait(ctx context.Context, s *recordedStep) error {
	timer := time.NewTimer(stepWait)
	defer timer.Stop()
	for {
		r.mu.Lock()
		for ; r.mark < len(r.timeline); r.mark++ {
			if l := r.timeline[r.mark]; l.Dir == "agent" && fits(l.Msg, s) {
				r.mark++
				r.mu.Unlock()
				return nil
			}
		}
		changed := r.changed
		r.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			return errors.New("the message did not come")
		}
	}
}

func fits(msg json.RawMessage, s *recordedStep) bool {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Update struct {
				Kind string `json:"sessionUpdate"`
			} `json:"update"`
		} `json:"params"`
	}
	if json.Unmarshal(msg, &m) != nil {
		return false
	}
	return (s.Method == "" || m.Method == s.Method) && (s.Update == "" || m.Params.Update.Kind == s.Update) && strings.Contains(string(msg), s.Has)
}

package acpagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/acp/acptest"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// variations change the messages of a recorded agent to equivalent messages that other agents may send.
var variations = map[string]func(v *variation){
	// Unknown kinds of updates, notifications and requests.
	"unknown": func(v *variation) {
		v.each(func(l acptest.Line, u map[string]any) {
			v.insert(l, `{"jsonrpc":"2.0","method":"strange/notify","params":{"deep":[{"x":null}]}}`)
			v.insert(l, `{"jsonrpc":"2.0","id":"strange-%d","method":"strange/ask","params":{}}`, v.number)
			if u != nil {
				v.insert(l, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":{"sessionUpdate":"strange","content":7}}}`, v.session(l))
				v.insert(l, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":7}}`, v.session(l))
				v.insert(l, `{"jsonrpc":"2.0","method":"session/update","params":null}`)
			}
			v.keep(l)
		})
	},
	// Optional members that are null.
	"nulls": func(v *variation) {
		v.each(func(l acptest.Line, u map[string]any) {
			call := u
			if l.Method == "session/request_permission" {
				call, _ = v.params["toolCall"].(map[string]any)
			} else if u == nil || !strings.HasPrefix(fmt.Sprint(u["sessionUpdate"]), "tool_call") {
				call = nil
			}
			for _, name := range []string{"title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput", "_meta"} {
				if _, has := call[name]; call != nil && !has && (name != "title" || fmt.Sprint(call["sessionUpdate"]) != "tool_call") {
					call[name] = nil
				}
			}
			if u != nil && call == nil && strings.HasSuffix(fmt.Sprint(u["sessionUpdate"]), "_chunk") && u["messageId"] == nil {
				u["messageId"] = nil
			}
			v.changed(l)
		})
	},
	// A text in several pieces, with empty pieces in between.
	"pieces": func(v *variation) {
		v.each(func(l acptest.Line, u map[string]any) {
			content, _ := u["content"].(map[string]any)
			text, _ := content["text"].(string)
			if runes := []rune(text); content["type"] == "text" && len(runes) > 1 {
				for _, piece := range []string{string(runes[:1]), "", string(runes[1:])} {
					content["text"] = piece
					v.changed(l)
				}
				return
			}
			v.keep(l)
		})
	},
	// Updates of unknown calls.
	"never announced": func(v *variation) {
		v.each(func(l acptest.Line, u map[string]any) {
			if u["sessionUpdate"] == "tool_call" {
				u["sessionUpdate"] = "tool_call_update"
			}
			v.changed(l)
		})
	},
	// Every update of a call, a plan and the usage is sent twice.
	"twice": func(v *variation) {
		v.each(func(l acptest.Line, u map[string]any) {
			v.keep(l)
			if k := u["sessionUpdate"]; k == "tool_call_update" && u["_meta"] == nil || // output in _meta would be added twice
				k == "plan" || k == "usage_update" || k == "available_commands_update" {
				v.keep(l)
			}
		})
	},
	// Lines that are not messages.
	"noise": func(v *variation) {
		long := strings.Repeat("x", 3<<20)
		v.each(func(l acptest.Line, _ map[string]any) {
			for _, noise := range []string{"", "  ", "\x1b[2J> loading", "42", "[]", "null", `"text"`, "{", `{"a":1}`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":987654,"result":{}}`, "\xff\xfe"} {
				v.raw(l, noise)
			}
			if long != "" {
				v.raw(l, long)
				v.raw(l, `{"jsonrpc":"2.0","method":"strange/long","params":{"x":"`+long+`"}}`)
				long = ""
			}
			v.keep(l)
		})
	},
	// Blocks other than text in the answer.
	"blocks": func(v *variation) {
		blocks := []string{
			`{"type":"image","data":"aGk=","mimeType":"image/png"}`, `{"type":"audio","data":"aGk=","mimeType":"audio/wav"}`,
			`{"type":"resource_link","uri":"file:///linked","name":"linked"}`, `{"type":"resource","resource":{"uri":"file:///embedded","text":"inside"}}`,
			`{"type":"resource","resource":{"uri":"file:///binary","blob":"aGk="}}`, `{"type":"hologram","at":[1,2]}`,
		}
		v.each(func(l acptest.Line, u map[string]any) {
			if u["sessionUpdate"] == "agent_message_chunk" {
				for _, b := range blocks {
					v.insert(l, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":{"sessionUpdate":"agent_message_chunk","content":%s}}}`, v.session(l), b)
				}
			}
			v.keep(l)
		})
	},
	// Unknown members and values.
	"future": func(v *variation) {
		v.each(func(l acptest.Line, u map[string]any) {
			if strings.HasPrefix(fmt.Sprint(u["sessionUpdate"]), "tool_call") {
				u["future"] = map[string]any{"x": 1}
				if u["kind"] != nil {
					u["kind"] = "telepathy"
				}
				if u["status"] == "pending" {
					u["status"] = "paused"
				}
			}
			if v.params != nil {
				v.params["future"] = []any{nil}
			}
			v.changed(l)
		})
	},
	// Requests of the agent with strings as ids.
	"ids": func(v *variation) {
		requests := map[string]bool{}
		v.each(func(l acptest.Line, _ map[string]any) {
			if l.Method != "" && len(l.ID) > 0 {
				requests[fmt.Sprint(l.Run, string(l.ID))] = true
				l.ID = v.textID(l.ID)
				v.changed(l)
				return
			}
			v.keep(l)
		})
		for i := range v.lines {
			if l := &v.lines[i]; l.Client && l.Method == "" && requests[fmt.Sprint(l.Run, string(l.ID))] {
				l.ID = v.textID(l.ID)
			}
		}
	},
}

// variation is a recording that is being changed.
type variation struct {
	from   []acptest.Line
	lines  []acptest.Line
	params map[string]any // of the line
	number int
	meta   *acptest.Meta
	late   bool // the details of a request arrive after the request
}

// each calls f for the requests and notifications of the agent, with their updates. It keeps other
// lines.
func (v *variation) each(f func(l acptest.Line, u map[string]any)) {
	for _, l := range v.from {
		if l.Client || l.Method == "" || l.Raw != "" {
			v.keep(l)
			continue
		}
		v.params = nil
		d := json.NewDecoder(strings.NewReader(string(l.Params)))
		d.UseNumber()
		if d.Decode(&v.params) != nil {
			v.keep(l)
			continue
		}
		u, _ := v.params["update"].(map[string]any)
		if u == nil {
			u = map[string]any(nil)
		}
		f(l, u)
	}
}

func (v *variation) keep(l acptest.Line) { v.lines = append(v.lines, l) }

// changed adds a line with its changed parameters.
func (v *variation) changed(l acptest.Line) {
	params, err := json.Marshal(v.params)
	if err != nil {
		panic(err)
	}
	l.Params = params
	text, err := json.Marshal(l.Message)
	if err != nil {
		panic(err)
	}
	l.Text = `{"jsonrpc":"2.0",` + string(text[1:])
	v.keep(l)
}

// insert adds a message of the agent.
func (v *variation) insert(near acptest.Line, format string, args ...any) {
	v.number++
	text := fmt.Sprintf(format, args...)
	l := acptest.Line{Run: near.Run, Number: 1_000_000 + v.number, Text: text}
	if err := json.Unmarshal([]byte(text), &l.Message); err != nil {
		panic(text)
	}
	v.keep(l)
}

// raw adds a line that is not a message.
func (v *variation) raw(near acptest.Line, text string) {
	v.number++
	l := acptest.Line{Run: near.Run, Number: 1_000_000 + v.number, Raw: text}
	if text == "" {
		l.Raw = "\n"
	}
	v.keep(l)
}

func (v *variation) session(l acptest.Line) json.RawMessage {
	var p struct{ SessionID json.RawMessage }
	if json.Unmarshal(l.Params, &p) != nil {
		return json.RawMessage(`""`)
	}
	return p.SessionID
}

func (v *variation) textID(id json.RawMessage) json.RawMessage {
	return json.RawMessage(`"text-` + strings.Trim(string(id), `"`) + `"`)
}

// TestRecordings_varied replays each recording with a fifth of the variations, or all of them in a soak run. The result
// must be the same as without them.
func TestRecordings_varied(t *testing.T) {
	short.SkipQuick(t, "plays every recording")
	folders, err := filepath.Glob("../../testdata/acp-agents/*/meta.json")
	if err != nil || len(folders) == 0 {
		t.Fatal(err)
	}
	stride := short.Count(21, 5, 1)
	all := maps.Clone(variations)
	maps.Copy(all, rearranged)
	for at, name := range slices.Sorted(maps.Keys(all)) {
		change := all[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, meta := range folders {
				if (i+at)%stride != 0 {
					continue // other changes apply to it
				}
				folder := filepath.Dir(meta)
				t.Run(filepath.Base(folder), func(t *testing.T) {
					work := t.TempDir()
					r, err := acptest.ReadRecording(folder, work)
					if err != nil {
						t.Fatal(err)
					}
					v := &variation{from: r.Lines, meta: &r.Meta}
					change(v)
					r.Lines = v.lines
					d := &driver{t: t, r: r, work: work, late: v.late}
					d.files()
					d.drive()
					d.checkTexts()
				})
			}
		})
	}
}

// TestRecordings_cut ends each recorded agent at several points of its answers to prompts and to
// requests that open a session. Opening a session fails; an open session ends with its requests,
// its calls and its turn.
func TestRecordings_cut(t *testing.T) {
	short.SkipQuick(t, "plays every recording")
	folders, err := filepath.Glob("../../testdata/acp-agents/*/meta.json")
	if err != nil || len(folders) == 0 {
		t.Fatal(err)
	}
	for _, meta := range folders {
		folder := filepath.Dir(meta)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			r, err := acptest.ReadRecording(folder, work)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range r.Agent(1).Exchanges {
				for _, part := range []int{0, 1, 2, 3}[:short.Count(1, 2, 4)] {
					part = (part + i) % 4
					at := len(x.Steps) * part / 4
					a := r.Agent(1)
					a.Exchanges[i].Steps = append(slices.Clone(x.Steps[:at]), acptest.Exit())
					cut(t, fmt.Sprintf("%s, %d of %d steps", x.Method, at, len(x.Steps)), a, work)
				}
			}
		})
	}
}

// cut opens a session of an agent that ends early, and sends it two prompts.
func cut(t *testing.T, name string, a *acptest.Agent, work string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	waiting := make(chan string, 100)
	a.Waiting = func(method string) { waiting <- method }
	s, err := openCut(ctx, a, work)
	if err != nil {
		if ctx.Err() != nil {
			t.Errorf("%s: the start hangs", name)
		}
		return
	}
	defer interruptCut(ctx, s, waiting)()
	for i := range 2 {
		if err := s.Send(ctx, agent.Input{UUID: fmt.Sprint("u", i), Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"go"}`)}}); err != nil && !errors.Is(err, agent.ErrClosed) {
			t.Errorf("%s: Send: %v", name, err)
		}
	}
	var conv event.Conversation
	var end error
	answered, results := map[string]bool{}, 0
	for ev, err := range s.Events(ctx) {
		if end = err; err != nil {
			break
		}
		conv.Apply(ev)
		switch ev := ev.(type) {
		case *event.PermissionRequest:
			if !answered[ev.RequestID] && len(ev.Choices) > 0 {
				answered[ev.RequestID] = true
				_ = s.Answer(ctx, ev.RequestID, &agent.PermissionAnswer{Allow: ev.Choices[0].Behavior == event.ResolvedAllow, Choice: ev.Choices[0].ID}) // the agent may have ended
			}
		case *event.ResultMessage:
			if results++; results == 2 { // the agent ends in a part that is never requested
				_ = s.Close() // the test reads the remaining events
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("%s: Close: %v", name, err)
	}
	if results < 2 && !errors.Is(end, agent.ErrClosed) {
		t.Errorf("%s: the session ended with %v", name, end)
	}
	if len(conv.Prompts) > 0 {
		t.Errorf("%s: requests are open after the end: %s", name, event.Encoded(conv.Prompts))
	}
	_, calls := texts(&conv)
	for id, c := range calls {
		if c.Status == event.ToolInProgress {
			t.Errorf("%s: the call %s is in progress after the end", name, id)
		}
	}
}

// openCut opens or resumes a session, as the recorded client did.
func openCut(ctx context.Context, a *acptest.Agent, work string) (agent.Session, error) {
	p := &acpagent.Provider{As: "recorded", Local: true, Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) {
		r, w := a.Dial()
		return r, w, nil
	}}
	opens := slices.IndexFunc(a.Exchanges, func(x acptest.Exchange) bool { return x.Method == "session/load" || x.Method == "session/resume" })
	if opens >= 0 && !slices.ContainsFunc(a.Exchanges[:opens], func(x acptest.Exchange) bool { return x.Method == "session/new" }) {
		return p.Resume(ctx, strings.Trim(a.Exchanges[opens].Match["sessionId"], `"`), agent.Options{Dir: work})
	}
	return p.Open(ctx, agent.Options{Dir: work, Partial: true, ModeUnchosen: true})
}

// interruptCut interrupts the turn whenever the agent waits for an interrupt. The returned function stops it.
func interruptCut(ctx context.Context, s agent.Session, waiting <-chan string) (end func()) {
	stopped := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-waiting:
				_, _ = s.Interrupt(ctx) // the agent may have ended
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-stopped }
}

package codexagent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
	"github.com/seed7221b0f9/parley/internal/test/kept"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// keptLines returns the lines of the first server of a recording.
func keptLines(t *testing.T, r *codexrec.Recording) (lines []kept.Line) {
	starts := 0
	for _, l := range r.Lines(t) {
		one := kept.Line{Input: l.Client, Text: string(l.Msg)}
		if m := kept.Decode(one); l.Client && m.Method == "initialize" {
			if starts++; starts > 1 {
				break
			}
		}
		lines = append(lines, one)
	}
	return lines
}

// openAt counts the open requests: those that a person answers, and the others. The server resolves
// some itself, or at the end of their turn.
func openAt(lines []kept.Line) (people, others int) {
	open := kept.Open(lines)
	for _, l := range lines {
		m := kept.Decode(l)
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
			Turn      struct{ ID string }
		}
		_ = json.Unmarshal(m.Params, &p) // missing members are empty
		open = slices.DeleteFunc(open, func(o kept.Message) bool {
			var of struct{ TurnID string }
			_ = json.Unmarshal(o.Params, &of)
			return !l.Input && (m.Method == "serverRequest/resolved" && string(p.RequestID) == string(o.ID) ||
				m.Method == "turn/completed" && of.TurnID == p.Turn.ID && of.TurnID != "")
		})
	}
	for _, m := range open {
		switch m.Method {
		case "item/commandExecution/requestApproval", "item/fileChange/requestApproval", "item/permissions/requestApproval",
			"item/tool/requestUserInput", "mcpServer/elicitation/request", "execCommandApproval", "applyPatchApproval":
			people++
		default:
			others++
		}
	}
	return people, others
}

// TestAdopt cuts the lines of each recording at many positions. An adopted session reports the same
// events as an uninterrupted one, and repeats the open requests.
func TestAdopt(t *testing.T) {
	cuts, asked := 0, 0
	all := codexrec.Own(t)
	for i := 0; i < len(all); i += short.Every(3) {
		lines := keptLines(t, all[i])
		first, _, result := kept.Answered(lines, "thread/start", "thread/resume", "thread/fork")
		if first == 0 {
			continue
		}
		var opened struct{ Thread struct{ ID string } }
		if err := json.Unmarshal(result, &opened); err != nil {
			t.Fatal(err)
		}
		t.Run(all[i].Title(), func(t *testing.T) {
			step := max(1, (len(lines)-first)/short.Count(2, 4, len(lines)))
			cuts += kept.Check(t, &codexagent.Provider{}, opened.Thread.ID, agent.Options{Dir: t.TempDir()}, lines, first, step, func(l []kept.Line) (int, int) {
				people, others := openAt(l)
				asked += people
				return people, others
			})
		})
	}
	if cuts < 50 || asked == 0 {
		t.Errorf("%d cuts were tried, with %d open requests", cuts, asked)
	}
}

// TestAdopt_answer checks that a request that is open when the process dies is answered once, by
// the next process.
func TestAdopt_answer(t *testing.T) {
	lines := keptLines(t, codexrec.Named(t, "approval_accept"))
	n := slices.IndexFunc(lines, func(l kept.Line) bool { return kept.Decode(l).Method == "item/commandExecution/requestApproval" }) + 1
	request := kept.Decode(lines[n-1])
	_, _, result := kept.Answered(lines, "thread/start")
	var opened struct{ Thread struct{ ID string } }
	if err := json.Unmarshal(result, &opened); err != nil {
		t.Fatal(err)
	}
	written := kept.Answer(t, &codexagent.Provider{}, opened.Thread.ID, agent.Options{}, lines[:n], &agent.PermissionAnswer{Allow: true})
	if want := `{"id":` + string(request.ID) + `,"result":{"decision":"accept"}}`; len(written) != 1 || written[0] != want {
		t.Errorf("written: %q, want %s", written, want)
	}
}

// TestAdopt_refused checks that Adopt fails and ends the server if its lines lack the thread.
func TestAdopt_refused(t *testing.T) {
	lines := keptLines(t, codexrec.Named(t, "approval_accept"))
	for name, tt := range map[string]struct {
		lines []kept.Line
		id    string
	}{"no handshake": {lines[:1], "x"}, "another thread": {lines, "x"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := kept.New(t, tt.lines)
				if _, err := (&codexagent.Provider{}).Adopt(t.Context(), tt.id, agent.Options{}, agent.Adoption{Process: p, Last: p.Last()}); err == nil || !p.Ended() {
					t.Errorf("the error is %v, and the server has ended: %v", err, p.Ended())
				}
			})
		})
	}
}

// TestAdopt_prompt checks that a prompt that the earlier process has sent is not sent again.
func TestAdopt_prompt(t *testing.T) {
	lines := keptLines(t, codexrec.Named(t, "approval_accept"))
	n, call, _ := kept.Answered(lines, "turn/start")
	_, _, result := kept.Answered(lines, "thread/start")
	var opened struct{ Thread struct{ ID string } }
	var params map[string]any
	if err := errors.Join(json.Unmarshal(result, &opened), json.Unmarshal(call.Params, &params)); err != nil {
		t.Fatal(err)
	}
	params["clientUserMessageId"] = "prompt-1"
	text, err := json.Marshal(map[string]any{"id": call.ID, "method": call.Method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	for i := range lines {
		if m := kept.Decode(lines[i]); lines[i].Input && m.Method == "turn/start" {
			lines[i].Text = string(text)
			break
		}
	}
	synctest.Test(t, func(t *testing.T) {
		p := kept.New(t, lines[:n])
		s, err := (&codexagent.Provider{}).Adopt(t.Context(), opened.Thread.ID, agent.Options{}, agent.Adoption{Process: p, Last: p.Last()})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"prompt-1", "prompt-2"} { // the second one waits for the turn
			if err := s.Send(t.Context(), agent.Input{UUID: id, Text: "again"}); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if w := p.Written(); len(w) != 0 {
			t.Errorf("written: %q", w)
		}
		hosted := s.(agent.Hosted)
		size := 0
		for _, l := range lines[:n] {
			size += len(l.Text)
		}
		if got := hosted.Kept(); got < int64(size) || got > int64(size+n) {
			t.Errorf("the host keeps %d bytes, want those of %d lines: %d", got, n, size)
		}
		turn := turnOf(lines[:n])
		interrupt := `{"id":"parley-orphan","method":"turn/interrupt","params":{"threadId":"` + opened.Thread.ID + `","turnId":"` + turn + `"}}` + "\n"
		notify := func(method, thread, turn string) {
			p.Add(kept.Line{Text: `{"method":"turn/` + method + `","params":{"threadId":"` + thread + `","turn":{"id":"` + turn + `","status":"inProgress","items":[]}}}`})
			synctest.Wait()
		}
		for _, step := range [][]string{nil, {"started", opened.Thread.ID, turn}, {"started", "subagent", "other"}, {"completed", "subagent", "other"}} {
			if step != nil {
				notify(step[0], step[1], step[2])
			}
			if got := hosted.OrphanInput(); string(got) != interrupt {
				t.Errorf("without a server the agent gets %s after %v, want %s", got, step, interrupt)
			}
		}
		notify("completed", opened.Thread.ID, turn)
		if w := p.Written(); len(w) != 1 || !strings.Contains(w[0], "prompt-2") {
			t.Errorf("written after the turn: %q, want the second prompt", w)
		}
		if got := hosted.OrphanInput(); got != nil {
			t.Errorf("without a turn and a server the agent gets %s, want nothing", got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// turnOf returns the id of the turn that the first prompt has started.
func turnOf(lines []kept.Line) string {
	var started struct{ Turn struct{ ID string } }
	_, _, result := kept.Answered(lines, "turn/start")
	_ = json.Unmarshal(result, &started)
	return started.Turn.ID
}

// TestAdopt_planned checks that the first prompt after an adoption ends the plan mode of the
// earlier process. The server keeps the mode of the last prompt that set one.
func TestAdopt_planned(t *testing.T) {
	lines := keptLines(t, codexrec.Named(t, "approval_accept"))
	n, _, result := kept.Answered(lines, "thread/start")
	var opened struct{ Thread struct{ ID string } }
	if err := json.Unmarshal(result, &opened); err != nil {
		t.Fatal(err)
	}
	id := opened.Thread.ID
	for name, tt := range map[string]struct {
		past []string // modes of the earlier prompts
		mode string
		want string // mode of the prompt
	}{
		"never planned":       {[]string{""}, "default", ""},
		"planned":             {[]string{"plan"}, "default", "default"},
		"planned, then asked": {[]string{"plan", ""}, "default", "default"},
		"planning has ended":  {[]string{"plan", "default"}, "default", ""},
		"planning goes on":    {[]string{"plan"}, "plan", "plan"},
		"planning begins":     {[]string{"default"}, "plan", "plan"},
	} {
		t.Run(name, func(t *testing.T) {
			past := slices.Clone(lines[:n])
			for i, mode := range tt.past {
				params := map[string]any{"threadId": id, "input": []any{}, "clientUserMessageId": fmt.Sprint("p", i)}
				if mode != "" {
					params["collaborationMode"] = map[string]any{"mode": mode}
				}
				call, err := json.Marshal(map[string]any{"id": 1000 + i, "method": "turn/start", "params": params})
				if err != nil {
					t.Fatal(err)
				}
				turn := fmt.Sprintf(`{"id":"t%d","status":"completed","items":[]}`, i)
				past = append(past, kept.Line{Input: true, Text: string(call)}, kept.Line{Text: fmt.Sprintf(`{"id":%d,"result":{"turn":%s}}`, 1000+i, turn)},
					kept.Line{Text: fmt.Sprintf(`{"method":"turn/completed","params":{"threadId":%q,"turn":%s}}`, id, turn)})
			}
			synctest.Test(t, func(t *testing.T) {
				p := kept.New(t, past)
				provider := &codexagent.Provider{Options: codex.Options{Experimental: true}}
				s, err := provider.Adopt(t.Context(), id, agent.Options{Mode: tt.mode}, agent.Adoption{Process: p, Last: p.Last()})
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}()
				done := make(chan error, 1)
				go func() { done <- s.Send(t.Context(), agent.Input{UUID: "new", Text: "go"}) }()
				synctest.Wait()
				var sent struct{ CollaborationMode struct{ Mode string } }
				w := p.Written()
				if len(w) != 1 || json.Unmarshal(kept.Decode(kept.Line{Text: w[0]}).Params, &sent) != nil || sent.CollaborationMode.Mode != tt.want {
					t.Fatalf("written: %q, want one prompt with the mode %q", w, tt.want)
				}
				p.Add(kept.Line{Text: `{"id":` + string(kept.Decode(kept.Line{Text: w[0]}).ID) + `,"result":{"turn":{"id":"new","status":"inProgress","items":[]}}}`})
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestAdopt_next checks that the next prompt is sent when the prompt of the earlier process was
// refused or its turn has ended, and not before.
func TestAdopt_next(t *testing.T) {
	lines := keptLines(t, codexrec.Named(t, "approval_accept"))
	n, _, result := kept.Answered(lines, "thread/start")
	var opened struct{ Thread struct{ ID string } }
	if err := json.Unmarshal(result, &opened); err != nil {
		t.Fatal(err)
	}
	id := opened.Thread.ID
	for name, tt := range map[string]struct{ call, end string }{
		"a turn that is refused":       {`{"id":1000,"method":"turn/start","params":{"threadId":"` + id + `","input":[]}}`, `{"id":1000,"error":{"code":-32600,"message":"no"}}`},
		"a review that is refused":     {`{"id":1000,"method":"review/start","params":{"threadId":"` + id + `"}}`, `{"id":1000,"error":{"code":-32600,"message":"no"}}`},
		"a compaction that is refused": {`{"id":1000,"method":"thread/compact/start","params":{"threadId":"` + id + `"}}`, `{"id":1000,"error":{"code":-32600,"message":"no"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := kept.New(t, append(slices.Clone(lines[:n]), kept.Line{Input: true, Text: tt.call}))
				s, err := (&codexagent.Provider{}).Adopt(t.Context(), id, agent.Options{}, agent.Adoption{Process: p, Last: p.Last()})
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}()
				if err := s.Send(t.Context(), agent.Input{UUID: "new", Text: "go"}); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if w := p.Written(); len(w) != 0 {
					t.Errorf("written before the answer: %q, want nothing", w)
				}
				p.Add(kept.Line{Text: tt.end})
				synctest.Wait()
				if w := p.Written(); len(w) != 1 || !strings.Contains(w[0], `"new"`) {
					t.Errorf("written after the answer: %q, want the prompt", w)
				}
			})
		})
	}
}

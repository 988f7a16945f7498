package acpagent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/acp/acptest"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/kept"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
)

// elsewhere makes an agent run on another machine: its requests for files and terminals are refused.
var elsewhere = spawn.Func(nil)

// keptLines returns the lines of the first process of a recording.
func keptLines(t *testing.T, folder string) (lines []kept.Line) {
	r, err := acptest.ReadRecording(folder, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Lines {
		if l.Run == 1 {
			text := l.Text
			if text == "" {
				text = l.Raw
			}
			lines = append(lines, kept.Line{Input: l.Client, Text: text})
		}
	}
	return lines
}

// asksPerson reports whether a request is for a person.
func asksPerson(m kept.Message) bool {
	return m.Method == "session/request_permission" || m.Method == "elicitation/create"
}

// openAt counts the open requests to a person, and the other open requests. Those that were
// cancelled with their turn count as others, because they are answered automatically.
func openAt(lines []kept.Line) (people, others int) {
	cancelled := map[string]bool{}
	prompts := map[string]bool{}
	for i, l := range lines {
		m := kept.Decode(l)
		if l.Input && m.Method == "session/prompt" {
			prompts[string(m.ID)] = true
		}
		if l.Input && m.Method == "session/cancel" || !l.Input && m.Method == "" && prompts[string(m.ID)] {
			for _, o := range kept.Open(lines[:i]) {
				cancelled[string(o.ID)] = true
			}
		}
	}
	for _, m := range kept.Open(lines) {
		if asksPerson(m) && !cancelled[string(m.ID)] {
			people++
		} else {
			others++
		}
	}
	return people, others
}

// TestAdopt cuts the lines of each recording at many places. The adopted session must report the
// same events as an uninterrupted one, and ask the open requests again.
func TestAdopt(t *testing.T) {
	const dir = "../../testdata/acp-agents"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	cuts, asked := 0, 0
	for i := 0; i < len(entries); i += short.Every(2) {
		folder := filepath.Join(dir, entries[i].Name())
		if !isFile(filepath.Join(folder, "meta.json")) {
			continue
		}
		lines := keptLines(t, folder)
		first, call, result := kept.Answered(lines, "session/new", "session/load", "session/resume")
		if first == 0 {
			continue
		}
		var opened, named struct{ SessionID string }
		_ = json.Unmarshal(call.Params, &named) // absent for a new session
		_ = json.Unmarshal(result, &opened)     // may be absent for a continued session
		id := slices.MaxFunc([]string{opened.SessionID, named.SessionID}, func(a, b string) int { return len(a) - len(b) })
		t.Run(entries[i].Name(), func(t *testing.T) {
			step := max(1, (len(lines)-first)/short.Count(2, 4, len(lines)))
			provider := &acpagent.Provider{Command: []string{"test"}, Spawner: elsewhere}
			cuts += kept.Check(t, provider, id, agent.Options{Dir: t.TempDir(), Partial: true}, lines, first, step, func(l []kept.Line) (int, int) {
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

// A request that is open when the process dies is answered once, by the next process, and the
// events of the answer belong to its line.
func TestAdopt_answer(t *testing.T) {
	lines := keptLines(t, "../../testdata/acp-agents/codex-acp-edit_permission")
	n := slices.IndexFunc(lines, func(l kept.Line) bool { return asksPerson(kept.Decode(l)) }) + 1
	request := kept.Decode(lines[n-1])
	_, _, result := kept.Answered(lines, "session/new")
	var opened struct{ SessionID string }
	if err := json.Unmarshal(result, &opened); err != nil {
		t.Fatal(err)
	}
	provider := &acpagent.Provider{Command: []string{"test"}, Spawner: elsewhere}
	written := kept.Answer(t, provider, opened.SessionID, agent.Options{Dir: t.TempDir()}, lines[:n], &agent.PermissionAnswer{Allow: true})
	if len(written) != 1 {
		t.Fatalf("written: %q, want one answer", written)
	}
	if m := kept.Decode(kept.Line{Text: written[0]}); string(m.ID) != string(request.ID) || !strings.Contains(string(m.Result), `"selected"`) {
		t.Errorf("written: %s, want an answer to %s that selects an option", written[0], request.ID)
	}
}

// The events of an answer have the person's decision with its scope and reason, regardless of the
// process that read the request.
func TestAdopt_resolved(t *testing.T) {
	for name, tt := range map[string]struct {
		request string
		answer  agent.Answer
		want    string
	}{
		"allow":             {mayLine, &agent.PermissionAnswer{Allow: true}, "allow scope= why="},
		"allow for session": {mayLine, &agent.PermissionAnswer{Allow: true, Scope: event.ScopeSession}, "allow scope=session why="},
		"allow always":      {mayLine, &agent.PermissionAnswer{Allow: true, Scope: event.ScopeAlways, Message: "sure"}, "allow scope=always why=sure"},
		"deny":              {mayLine, &agent.PermissionAnswer{Message: "too early"}, "deny scope= why=too early"},
		"a choice":          {mayLine, &agent.PermissionAnswer{Allow: true, Choice: "always"}, "allow scope= why="},
		"accept":            {elicitLine, &agent.ElicitationAnswer{Action: "accept", Content: json.RawMessage(`{"n":"x"}`)}, `accept {"n":"x"}`},
		"decline":           {elicitLine, &agent.ElicitationAnswer{Action: "decline"}, "decline "},
	} {
		for _, past := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, past %v", name, past), func(t *testing.T) {
				script := append(slices.Clone(begunLines), promptLine)
				if past {
					script = append(script, tt.request)
				}
				adopted(t, script, func(t *testing.T, p *kept.Process, s agent.Session, events func() []event.Event) {
					if !past {
						p.Add(kept.Line{Text: tt.request})
						synctest.Wait()
					}
					if err := s.Answer(t.Context(), "request-1", tt.answer); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					var got []string
					for _, ev := range events() {
						switch ev := ev.(type) {
						case *event.PermissionResolved:
							got = append(got, fmt.Sprintf("%s scope=%s why=%s", ev.Behavior, ev.Scope, ev.Message))
						case *event.QuestionResolved:
							got = append(got, ev.Action+" "+string(ev.Answers))
						}
					}
					if len(got) != 1 || got[0] != tt.want {
						t.Errorf("the events tell %q, want %q", got, tt.want)
					}
				})
			})
		}
	}
}

// adopted runs a function with a session that was adopted after a script, in a bubble.
func adopted(t *testing.T, script []string, f func(t *testing.T, p *kept.Process, s agent.Session, events func() []event.Event)) {
	t.Helper()
	var lines []kept.Line
	for _, l := range script {
		text, input := strings.CutPrefix(l, "> ")
		lines = append(lines, kept.Line{Input: input, Text: text})
	}
	provider := &acpagent.Provider{Command: []string{"test"}, Spawner: elsewhere}
	synctest.Test(t, func(t *testing.T) {
		p := kept.New(t, lines)
		s, err := provider.Adopt(t.Context(), "s1", agent.Options{Dir: "/"}, agent.Adoption{Process: p, Last: p.Last()})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var list []event.Event
		done := make(chan struct{})
		go func() {
			defer close(done)
			for b := range s.(agent.Hosted).Batches(t.Context()) {
				mu.Lock()
				list = append(list, b.Events...)
				mu.Unlock()
			}
		}()
		synctest.Wait()
		f(t, p, s, func() []event.Event {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(list)
		})
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
}

// A prompt that the earlier process has written is not sent again, and the next one waits for its turn. A prompt without an id does not
// count as one of them.
func TestAdopt_prompt(t *testing.T) {
	for _, tt := range []struct {
		past, send string
		written    bool
	}{{"p1", "p1", false}, {"p1", "p2", true}, {"p1", "", true}, {"", "", true}, {"", "p1", true}} {
		t.Run(fmt.Sprintf("%q after %q", tt.send, tt.past), func(t *testing.T) {
			script := append(slices.Clone(begunLines), strings.Replace(promptLine, `"p1"`, `"`+tt.past+`"`, 1))
			adopted(t, script, func(t *testing.T, p *kept.Process, s agent.Session, _ func() []event.Event) {
				if err := s.Send(t.Context(), agent.Input{UUID: tt.send, Text: "again"}); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if w := p.Written(); len(w) != 0 {
					t.Errorf("written during the turn: %q, want nothing", w)
				}
				p.Add(kept.Line{Text: turnOverLine})
				synctest.Wait()
				w := p.Written()
				if (len(w) == 1) != tt.written || tt.written && (!strings.Contains(w[0], `"id":4`) || !strings.Contains(w[0], `"parley/prompt":"`+tt.send+`"`)) {
					t.Errorf("written after the turn: %q, want the prompt with the next id: %v", w, tt.written)
				}
			})
		})
	}
}

// If the lines do not contain the session, the result is an error and the agent ends.
func TestAdopt_refused(t *testing.T) {
	lines := keptLines(t, "../../testdata/acp-agents/codex-acp-edit_permission")
	for name, part := range map[string][]kept.Line{"no session": lines[:1], "another session": lines} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := kept.New(t, part)
				provider := &acpagent.Provider{Command: []string{"test"}, Spawner: elsewhere}
				_, err := provider.Adopt(t.Context(), "x", agent.Options{Dir: "/"}, agent.Adoption{Process: p, Last: p.Last()})
				if !errors.Is(err, agent.ErrNotFound) || !p.Ended() {
					t.Errorf("the error is %v, and the agent has ended: %v", err, p.Ended())
				}
			})
		})
	}
}

package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
)

// keptProcess is a CLI under a host. Lines written to it are numbered like those that it writes.
type keptProcess struct {
	t *testing.T

	mu      sync.Mutex
	news    sync.Cond
	lines   []spawn.Line
	next    int
	ids     map[string]bool
	written []string // by the client that is tested
	ended   bool
}

func newKept(t *testing.T, past []spawn.Line) *keptProcess {
	p := &keptProcess{t: t, lines: slices.Clone(past), ids: map[string]bool{}}
	p.news.L = &p.mu
	return p
}

// add adds a line of a direction.
func (p *keptProcess) add(input bool, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, spawn.Line{Number: uint64(len(p.lines) + 1), Input: input, Text: []byte(text)})
	p.news.Broadcast()
}

func (p *keptProcess) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.news.Broadcast()
}

func (p *keptProcess) NextLine(context.Context) (spawn.Line, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.next == len(p.lines) && !p.ended {
		p.news.Wait()
	}
	if p.next == len(p.lines) {
		return spawn.Line{}, io.EOF
	}
	p.next++
	return p.lines[p.next-1], nil
}

func (p *keptProcess) WriteLine(_ context.Context, id string, text []byte) error {
	p.mu.Lock()
	if p.ids[id] {
		p.t.Errorf("the line %s is written twice", id)
	}
	p.ids[id] = true
	p.written = append(p.written, string(text))
	p.mu.Unlock()
	p.add(true, string(text))
	return nil
}

func (p *keptProcess) Stdin() io.WriteCloser { return kindless{p} }
func (p *keptProcess) Stdout() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }
func (p *keptProcess) Stderr() io.ReadCloser { return nil }
func (p *keptProcess) PID() int              { return 7 }
func (p *keptProcess) Terminate() error      { p.end(); return nil }
func (p *keptProcess) Kill() error           { p.end(); return nil }
func (p *keptProcess) Wait() (spawn.ExitStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended {
		p.news.Wait()
	}
	return spawn.ExitStatus{}, nil
}

// kindless is an input that supports only Close.
type kindless struct{ p *keptProcess }

func (k kindless) Write([]byte) (int, error) { return 0, errors.New("a line without an id") }
func (k kindless) Close() error              { k.p.end(); return nil }

// recordedLines returns the lines of a recording in both directions, or nil if it has several CLIs.
func recordedLines(t *testing.T, scenario string) (lines []spawn.Line) {
	dir := filepath.Join(corpus(t), scenario)
	text, err := os.ReadFile(filepath.Join(dir, "timeline.jsonl"))
	if err != nil {
		return nil
	}
	files := map[string][]string{}
	for direction, name := range map[string]string{"in": "stdin.jsonl", "out": "stdout.jsonl"} {
		data, _ := os.ReadFile(filepath.Join(dir, name)) // a missing file is empty
		files[direction] = strings.Split(string(data), "\n")
	}
	for line := range strings.Lines(string(text)) {
		var e struct {
			Dir, Ev string
			N       int
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Ev == "line" && e.N <= len(files[e.Dir]) {
			lines = append(lines, spawn.Line{Number: uint64(len(lines) + 1), Input: e.Dir == "in", Text: []byte(files[e.Dir][e.N-1])})
		}
	}
	return lines
}

// openAt returns the subtypes of the CLI's requests that are open after the first lines.
func openAt(lines []spawn.Line) map[string]string {
	open := map[string]string{}
	for _, l := range lines {
		var m struct {
			Type      string
			RequestID string `json:"request_id"`
			Request   struct{ Subtype string }
			Response  struct {
				RequestID string `json:"request_id"`
			}
		}
		_ = json.Unmarshal(l.Text, &m) // a line that is not JSON is not a request
		switch {
		case !l.Input && m.Type == "control_request":
			open[m.RequestID] = m.Request.Subtype
		case !l.Input && m.Type == "control_cancel_request":
			delete(open, m.RequestID)
		case l.Input && m.Type == "control_response":
			delete(open, m.Response.RequestID)
		}
	}
	return open
}

// handshakeEnd returns the number of the answer to initialize, or 0 if it is missing.
func handshakeEnd(lines []spawn.Line) uint64 {
	id := ""
	for _, l := range lines {
		var m struct {
			RequestID string `json:"request_id"`
			Request   struct{ Subtype string }
			Response  struct {
				RequestID string `json:"request_id"`
				Subtype   string
			}
		}
		_ = json.Unmarshal(l.Text, &m)
		if l.Input && m.Request.Subtype == "initialize" {
			id = m.RequestID
		}
		if !l.Input && id != "" && m.Response.RequestID == id && m.Response.Subtype == "success" {
			return l.Number
		}
	}
	return 0
}

// adopted holds the observations of an adopted client.
type adopted struct {
	Session          string
	Queued, Tasks    int
	Tools            []string
	Info             string
	Numbers          []uint64 // of the lines that Lines yields
	asked, unanswers []string // requests that callbacks got, and those that the client answered without a callback
}

// adoptAt adopts a CLI after the first n lines of a recording and then gives it the others.
func adoptAt(t *testing.T, lines []spawn.Line, n int) (a adopted) {
	synctest.Test(t, func(t *testing.T) {
		p := newKept(t, lines[:n])
		ask := func(id string) { p.mu.Lock(); a.asked = append(a.asked, id); p.mu.Unlock() }
		client, err := claude.Adopt(t.Context(), &claude.Options{
			SessionLock: claude.LockOff,
			CanUseTool: func(_ context.Context, r *claude.PermissionRequest) (claude.PermissionResult, error) {
				ask(r.RequestID)
				return nil, claude.ErrAnswerLater
			},
			OnElicitation: func(_ context.Context, r *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
				ask(r.RequestID)
				return nil, claude.ErrAnswerLater
			},
		}, claude.Adoption{Process: p, Last: uint64(n)})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for l, err := range client.Lines(context.Background()) {
				if err == nil {
					a.Numbers = append(a.Numbers, l.Number)
				}
			}
		}()
		synctest.Wait()
		a.checkAsked(t, p, openAt(lines[:n]))
		for _, l := range lines[n:] {
			p.add(l.Input, string(l.Text))
		}
		synctest.Wait()
		v := client.View()
		a.Session, a.Queued, a.Tasks, a.Info = v.SessionID, v.Queued, v.LiveTasks, string(client.ServerInfo().Raw())
		for _, tool := range v.Tools {
			a.Tools = append(a.Tools, tool.ToolUseID)
		}
		client.Close()
		<-done
	})
	return a
}

// checkAsked checks that exactly the open requests were asked again, and that nothing else was written.
func (a *adopted) checkAsked(t *testing.T, p *keptProcess, open map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.written {
		var m struct {
			Response struct {
				RequestID string `json:"request_id"`
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || open[m.Response.RequestID] == "" {
			t.Errorf("the client has written %s", line)
		}
		a.unanswers = append(a.unanswers, m.Response.RequestID)
	}
	var want []string
	for id, subtype := range open {
		if subtype == "can_use_tool" || subtype == "elicitation" {
			want = append(want, id)
		} else if !slices.Contains(a.unanswers, id) && !strings.HasPrefix(subtype, "remote_") {
			t.Errorf("%s %s has no answer", subtype, id)
		}
	}
	slices.Sort(want)
	slices.Sort(a.asked)
	if diff := cmp.Diff(want, a.asked); diff != "" {
		t.Errorf("requests that are asked again: -want +got\n%s", diff)
	}
	a.asked, p.written = nil, nil
}

// A client that is restored from the lines of another client equals it, wherever the lines are
// split, and passes open requests to the callbacks again.
func TestAdopt(t *testing.T) {
	hermeticProcess(t)
	names := scenarios(t)
	cuts := 0
	for i := 0; i < len(names); i += short.Every(4) {
		lines := recordedLines(t, names[i])
		first := int(handshakeEnd(lines))
		if first == 0 {
			continue
		}
		t.Run(names[i], func(t *testing.T) {
			want := adoptAt(t, lines, len(lines))
			step := max(1, (len(lines)-first)/6)
			for n := first; n < len(lines); n += step {
				got := adoptAt(t, lines, n)
				cuts++
				if !slices.IsSorted(got.Numbers) || len(got.Numbers) == 0 {
					t.Errorf("adopted after line %d: the numbers of the lines are %d", n, got.Numbers)
				}
				got.Numbers, want.Numbers = nil, nil // an answer of the client is a line too
				if slices.ContainsFunc(lines[n:], func(l spawn.Line) bool { return l.Input && strings.Contains(string(l.Text), `"user"`) }) {
					got.Queued = want.Queued // this process has not sent those
				}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(adopted{})); diff != "" {
					t.Errorf("adopted after line %d: -want +got\n%s", n, diff)
				}
			}
		})
	}
	if cuts < 50 {
		t.Errorf("%d cuts were tried", cuts)
	}
}

// TestAdopt_largePrompt checks that a prompt that is otherwise written in parts reaches a host as one line with one id.
func TestAdopt_largePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newKept(t, nil)
		p.add(true, `{"type":"control_request","request_id":"i1","request":{"subtype":"initialize"}}`)
		p.add(false, answer("i1", `{"commands":[],"pid":9}`))
		client, err := claude.Adopt(t.Context(), &claude.Options{SessionLock: claude.LockOff}, claude.Adoption{Process: p, Last: uint64(len(p.lines))})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if _, err := client.Send(t.Context(), claude.Text(strings.Repeat("x", 2<<20))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(p.written) != 1 || len(p.written[0]) < 2<<20 {
			t.Errorf("%d lines were written, want one with the whole prompt", len(p.written))
		}
	})
}

// TestAdopt_answer checks that a request that is open when the process dies is answered once, by
// the next process.
func TestAdopt_answer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after []spawn.Line // the lines that the previous process wrote after it
		want  int          // answers that the next process writes
	}{
		{"open", nil, 1},
		{"answered", []spawn.Line{{Input: true, Text: []byte(`{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"deny","message":"no"}}}`)}}, 0},
		{"withdrawn", []spawn.Line{{Text: []byte(`{"type":"control_cancel_request","request_id":"r1"}`)}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lines := []string{
					`>{"type":"control_request","request_id":"i1","request":{"subtype":"initialize"}}`, `<` + answer("i1", `{"commands":[],"pid":9}`),
					`>{"type":"user","uuid":"u1","message":{"role":"user","content":"go"}}`, `<` + initLine("u1"),
					`<{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}`,
				}
				p := newKept(t, nil)
				for _, l := range lines {
					p.add(l[0] == '>', l[1:])
				}
				for _, l := range tt.after {
					p.add(l.Input, string(l.Text))
				}
				client, err := claude.Adopt(t.Context(), &claude.Options{
					SessionLock: claude.LockOff,
					CanUseTool: func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) {
						return &claude.Deny{Message: "no"}, nil
					},
				}, claude.Adoption{Process: p, Last: uint64(len(p.lines))})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if n := len(p.written); n != tt.want {
					t.Errorf("%d lines were written, want %d: %q", n, tt.want, p.written)
				}
				if pid := client.ServerInfo().PID; pid != 9 {
					t.Errorf("the answer to initialize has the process id %d, want 9", pid)
				}
				p.add(false, good("done", "u1"))
				if err := client.WaitIdle(t.Context()); err != nil && !errors.Is(err, claude.ErrClosed) {
					t.Errorf("the turn has not ended: %v", err)
				}
				client.Close()
			})
		})
	}
}

// TestAdopt_waitIdle checks that an adopted session is not idle between two turns of the past while later lines of it are unread.
func TestAdopt_waitIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newKept(t, nil)
		add := func(lines ...string) {
			for _, l := range lines {
				p.add(l[0] == '>', l[1:])
			}
			synctest.Wait()
		}
		prompt := func(uuid string) string {
			return `>{"type":"user","uuid":"` + uuid + `","message":{"role":"user","content":"go"}}`
		}
		add(`>{"type":"control_request","request_id":"i1","request":{"subtype":"initialize"}}`, `<`+answer("i1", `{"commands":[]}`),
			prompt("u1"), `<`+initLine("u1"), `<`+good("done", "u1"))
		client, err := claude.Adopt(t.Context(), &claude.Options{SessionLock: claude.LockOff}, claude.Adoption{Process: p, Last: uint64(len(p.lines) + 2)})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		idle := make(chan error, 1)
		go func() { idle <- client.WaitIdle(t.Context()) }()
		waits := func(when string) {
			t.Helper()
			select {
			case err := <-idle:
				t.Fatalf("%s, WaitIdle returned %v", when, err)
			default:
			}
		}
		synctest.Wait()
		waits("with unread lines of the past")
		add(prompt("u2"), `<`+initLine("u2"))
		waits("with an open turn of the past")
		add(`<` + good("done", "u2"))
		if err := <-idle; err != nil {
			t.Errorf("after the last turn, WaitIdle returned %v", err)
		}
	})
}

// A hook that is open when the process ends is run again by the next one, under the id that the CLI was given, and answered once.
func TestAdopt_hook(t *testing.T) {
	for name, after := range map[string]string{
		"open":      "",
		"answered":  `>{"type":"control_response","response":{"subtype":"success","request_id":"h1","response":{}}}`,
		"withdrawn": `<{"type":"control_cancel_request","request_id":"h1"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newKept(t, nil)
			for _, l := range []string{
				`>{"type":"control_request","request_id":"i1","request":{"subtype":"initialize","hooks":{"PostToolUse":[{"hookCallbackIds":["hook_0"]}],"PreToolUse":[{"hookCallbackIds":["hook_7"],"timeout":86400}]}}}`,
				`<` + answer("i1", `{"commands":[]}`), `<` + hookLine("h1", "hook_7", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`), after,
			} {
				if l != "" {
					p.add(l[0] == '>', l[1:])
				}
			}
			calls := 0
			client, err := claude.Adopt(t.Context(), &claude.Options{SessionLock: claude.LockOff, MaxAbsence: 24 * time.Hour, Guard: func(_ context.Context, r *claude.GuardRequest) (*claude.Deny, error) {
				calls++
				return &claude.Deny{Message: "no " + r.ToolName}, nil
			}}, claude.Adoption{Process: p, Last: uint64(len(p.lines))})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			want := 0
			if after == "" {
				want = 1
			}
			if len(p.written) != want || calls != want {
				t.Fatalf("%s: the guard is called %d times, and %q is written; want %d", name, calls, p.written, want)
			}
			if want == 1 && !strings.Contains(p.written[0], "no Bash") {
				t.Errorf("the answer is %s, want that of the guard", p.written[0])
			}
			p.add(false, hookLine("h2", "hook_0", `{"hook_event_name":"PostToolUse"}`)) // of another version
			synctest.Wait()
			if n := len(p.written); n != want+1 || !strings.Contains(p.written[want], `"success"`) {
				t.Errorf("%s: a hook that this version does not have is answered with %q", name, p.written[want:])
			}
			client.Close()
		})
	}
}

// TestAdopt_lostHook checks that the call of a hook that this process does not have is refused. The
// CLI would treat an error as permission to run the tool.
func TestAdopt_lostHook(t *testing.T) {
	for event, want := range map[string]string{
		"PreToolUse":        `"permissionDecision":"deny"`,
		"PermissionRequest": `"behavior":"deny"`,
		"UserPromptSubmit":  `"decision":"block"`,
		"PostToolUse":       `"response":{}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newKept(t, nil)
			p.add(true, `{"type":"control_request","request_id":"i1","request":{"subtype":"initialize"}}`)
			p.add(false, answer("i1", `{"commands":[]}`))
			p.add(false, `{"type":"control_request","request_id":"h1","request":{"subtype":"hook_callback","callback_id":"hook_9","input":{"hook_event_name":"`+event+`"}}}`)
			client, err := claude.Adopt(t.Context(), &claude.Options{SessionLock: claude.LockOff}, claude.Adoption{Process: p, Last: 3})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if len(p.written) != 1 || !strings.Contains(p.written[0], want) || !strings.Contains(p.written[0], `"success"`) {
				t.Errorf("%s is answered with %q, want %s", event, p.written, want)
			}
			client.Close()
		})
	}
}

// TestAdopt_noHandshake checks that a CLI whose lines lack the handshake is not adopted, and ends.
func TestAdopt_noHandshake(t *testing.T) {
	for name, lines := range map[string][]string{"none": nil, "message": {`{"type":"system","subtype":"status"}`}} {
		synctest.Test(t, func(t *testing.T) {
			p := newKept(t, nil)
			for _, l := range lines {
				p.add(false, l)
			}
			if len(lines) == 0 {
				p.end()
			}
			_, err := claude.Adopt(t.Context(), &claude.Options{SessionLock: claude.LockOff}, claude.Adoption{Process: p, Last: uint64(len(lines))})
			if _, ok := errors.AsType[*claude.HandshakeError](err); !ok {
				t.Errorf("%s: the error is %v, want a HandshakeError", name, err)
			}
			if !p.ended {
				t.Errorf("%s: the CLI still runs", name)
			}
		})
	}
}

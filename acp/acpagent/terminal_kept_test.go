package acpagent_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/test/kept"
	"github.com/seed7221b0f9/parley/spawn"
)

// fakeKeeper simulates commands. Find returns only commands that have an entry in output.
type fakeKeeper struct {
	output map[string]string

	mu    sync.Mutex
	calls []string
}

func (k *fakeKeeper) note(call, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = append(k.calls, call+" "+name)
}

// take returns the calls since the last take, sorted.
func (k *fakeKeeper) take() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	slices.Sort(k.calls)
	defer func() { k.calls = nil }()
	return strings.Join(k.calls, ", ")
}

func (k *fakeKeeper) Keep(_ context.Context, name string, cmd spawn.Command) (agent.Kept, error) {
	k.note("keep", name)
	return newFakeKept(k, name), nil
}

func (k *fakeKeeper) Find(_ context.Context, name string) (agent.Kept, error) {
	k.note("find", name)
	if _, ok := k.output[name]; !ok {
		return nil, fmt.Errorf("%w: %s", agent.ErrNotFound, name)
	}
	return newFakeKept(k, name), nil
}

// fakeKept is a command that runs until it is killed.
type fakeKept struct {
	k      *fakeKeeper
	name   string
	output *strings.Reader
	read   chan struct{} // closed when the output was read
	all    func()
	ended  chan struct{}
	kill   func()
	taken  uint64
}

func newFakeKept(k *fakeKeeper, name string) *fakeKept {
	p := &fakeKept{k: k, name: name, output: strings.NewReader(k.output[name]), read: make(chan struct{}), ended: make(chan struct{})}
	p.all, p.kill = sync.OnceFunc(func() { close(p.read) }), sync.OnceFunc(func() { close(p.ended) })
	return p
}

func (p *fakeKept) Read(b []byte) (int, error) {
	if p.output.Len() > 0 {
		return p.output.Read(b)
	}
	p.all()
	<-p.ended
	return 0, io.EOF
}

func (p *fakeKept) Close() error { return nil }

func (p *fakeKept) Stdin() io.WriteCloser { return noInput{} }
func (p *fakeKept) Stdout() io.ReadCloser { return p }
func (p *fakeKept) Stderr() io.ReadCloser { return nil }
func (p *fakeKept) PID() int              { return 1 }
func (p *fakeKept) Terminate() error      { p.kill(); return nil }
func (p *fakeKept) Kill() error           { p.k.note("kill", p.name); p.kill(); return nil }
func (p *fakeKept) Cut() bool             { return p.name == "terminal-3" }
func (p *fakeKept) Taken() uint64         { p.taken++; return p.taken }

func (p *fakeKept) CaughtUp(context.Context) error {
	<-p.read
	return nil
}

func (p *fakeKept) Wait() (spawn.ExitStatus, error) {
	<-p.ended
	return spawn.ExitStatus{Code: -1, Signal: "SIGKILL"}, nil
}

func (p *fakeKept) Discard(_ context.Context, line uint64) error {
	p.k.note(fmt.Sprint("discard ", line), p.name)
	return nil
}

func (p *fakeKept) Forget(context.Context) error {
	p.k.note("forget", p.name)
	return nil
}

type noInput struct{}

func (noInput) Write(b []byte) (int, error) { return len(b), nil }
func (noInput) Close() error                { return nil }

// An adopted session has the terminals of the previous process. An open request is answered once; a
// released terminal no longer exists; and a lost terminal counts as killed.
func TestAdopt_terminals(t *testing.T) {
	create := func(id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"terminal/create","params":{"sessionId":"s1","command":"sh","args":["-c","x"],"outputByteLimit":%d}}`, id, 5+id)
	}
	about := func(id int, method, terminal string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"terminal/%s","params":{"sessionId":"s1","terminalId":"%s"}}`, id, method, terminal)
	}
	answer := func(id int, result string) string {
		return fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)
	}
	failed := func(id int) string {
		return fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"no"}}`, id)
	}
	script := append(slices.Clone(begunLines), promptLine,
		create(100), answer(100, `{"terminalId":"terminal-1"}`), create(101), answer(101, `{"terminalId":"terminal-2"}`),
		about(102, "release", "terminal-1"), answer(102, `{}`), create(103), answer(103, `{"terminalId":"terminal-3"}`),
		create(104), failed(104), create(105), about(106, "wait_for_exit", "terminal-2"), about(107, "output", "terminal-3"))
	var lines []kept.Line
	for _, l := range script {
		text, input := strings.CutPrefix(l, "> ")
		lines = append(lines, kept.Line{Input: input, Text: text})
	}
	k := &fakeKeeper{output: map[string]string{"terminal-3": "0123456789"}}
	provider := &acpagent.Provider{Command: []string{"test"}}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := kept.New(t, lines)
		s, err := provider.Adopt(t.Context(), "s1", agent.Options{Dir: dir, Keeper: k}, agent.Adoption{Process: p, Last: p.Last()})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for range s.(agent.Hosted).Batches(t.Context()) {
				continue
			}
		}()
		synctest.Wait()
		if got, want := k.take(), "find terminal-2, find terminal-3, keep terminal-5"; got != want {
			t.Errorf("the keeper was called with %q, want %q", got, want)
		}
		p.Add(kept.Line{Text: about(108, "output", "terminal-3")})
		p.Add(kept.Line{Text: about(109, "release", "terminal-2")})
		p.Add(kept.Line{Text: about(110, "output", "terminal-1")})
		p.Add(kept.Line{Text: create(111)})
		synctest.Wait()
		all := strings.Join(p.Written(), "\n")
		for _, want := range []string{
			`"id":105,"result":{"terminalId":"terminal-5"}`, `"id":106,"result":{"signal":"SIGKILL"}`, `"id":107,"result":{"output":"0123456789","truncated":true`,
			`"id":108,"result":{"output":"0123456789","truncated":true`, `"id":109,"result":{}`, `"id":110,"error"`, `"id":111,"result":{"terminalId":"terminal-6"}`,
		} {
			if strings.Count(all, want) != 1 {
				t.Errorf("%s is not written once:\n%s", want, all)
			}
		}
		k.take()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		want := "forget terminal-3, forget terminal-5, forget terminal-6, kill terminal-3, kill terminal-5, kill terminal-6"
		if got := k.take(); got != want {
			t.Errorf("at the end the keeper was called with %q, want %q", got, want)
		}
	})
}

// The host discards output that no request can return.
func TestTerminal_discard(t *testing.T) {
	k := &fakeKeeper{output: map[string]string{"terminal-1": strings.Repeat("x", 10<<20)}}
	create := `{"jsonrpc":"2.0","id":100,"method":"terminal/create","params":{"sessionId":"s1","command":"sh","args":["-c","x"],"outputByteLimit":100}}`
	provider := &acpagent.Provider{Command: []string{"test"}}
	dir := t.TempDir()
	var lines []kept.Line
	for _, l := range append(slices.Clone(begunLines), promptLine, create) {
		text, input := strings.CutPrefix(l, "> ")
		lines = append(lines, kept.Line{Input: input, Text: text})
	}
	synctest.Test(t, func(t *testing.T) {
		p := kept.New(t, lines)
		s, err := provider.Adopt(t.Context(), "s1", agent.Options{Dir: dir, Keeper: k}, agent.Adoption{Process: p, Last: p.Last()})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for range s.(agent.Hosted).Batches(t.Context()) {
				continue
			}
		}()
		synctest.Wait()
		got := k.take()
		if n := strings.Count(got, "discard"); n < 7 || n > 10 || !strings.Contains(got, "discard 1 terminal-1") {
			t.Errorf("of 10 MiB with a limit of 100 bytes was given up: %q, want something for each MiB but the first two", got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

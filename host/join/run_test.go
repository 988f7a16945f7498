//go:build unix

package join

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/filelock"
	"github.com/seed7221b0f9/parley/spawn"
)

// shellPolicy runs the script in the options of a launch, and accepts every line.
type shellPolicy struct{}

func (shellPolicy) Start(_ context.Context, l host.Launch, start func(spawn.Command) error) error {
	var script string
	if err := json.Unmarshal(l.Options, &script); err != nil {
		return err
	}
	return start(spawn.Command{Path: "/bin/sh", Args: []string{"-c", script}, Dir: l.Dir, Env: []string{"PATH=" + os.Getenv("PATH")}})
}

func (shellPolicy) Line(_ string, line []byte) ([]byte, error) { return line, nil }

// machine is a machine that joins a test server.
type machine struct {
	Config
	states chan State
	ended  chan error
	leave  func()
}

// fast are times for tests in which no peer is late.
var fast = times{min: time.Millisecond, max: 4 * time.Millisecond, refused: 2 * time.Millisecond, ping: time.Hour}

// joining starts a machine. Its host ends with the test.
func joining(t testing.TB, s *testServer, tm times) *machine {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	m := &machine{states: make(chan State, 1000), ended: make(chan error, 1)}
	m.Config = Config{Server: s.address(), Token: "secret", DataDir: t.TempDir(), Policy: shellPolicy{}, times: tm,
		Registration: host.Registration{Name: "laptop", Agents: []string{"sh"}, Dirs: []string{"/"}},
		OnState:      func(s State) { m.states <- s }}
	ctx, cancel := context.WithCancel(context.Background())
	m.leave = cancel
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.ended <- Run(ctx, m.Config)
	}()
	t.Cleanup(func() {
		cancel()
		await(t, done, "the end of Run")
		m.stopHost(t)
		m.awaitHost(t)
	})
	return m
}

// stopHost ends the host and its agents.
func (m *machine) stopHost(t testing.TB) {
	t.Helper()
	dir, err := HostDir(m.DataDir, m.Server)
	must(t, err)
	l, err := host.Dial(within(t), dir, 0)
	if errors.Is(err, host.ErrNotRunning) {
		return
	}
	must(t, err)
	must(t, l.Stop(within(t)))
	l.Close()
}

// awaitHost waits until the host has released its lock.
func (m *machine) awaitHost(t testing.TB) {
	t.Helper()
	dir, err := HostDir(m.DataDir, m.Server)
	must(t, err)
	lock, err := filelock.Lock(filepath.Join(dir, "host", "lock"))
	must(t, err)
	must(t, lock.Unlock())
}

// end ends the machine, and returns the error of Run.
func (m *machine) end(t testing.TB) error {
	t.Helper()
	m.leave()
	return await(t, m.ended, "the end of Run")
}

// until waits until the link has a state.
func (m *machine) until(t testing.TB, what string, is func(State) bool) State {
	t.Helper()
	for {
		if s := await(t, m.states, what); is(s) {
			return s
		}
	}
}

func joined(s State) bool { return s.Joined }

// launch starts a script as an agent.
func launch(t testing.TB, l *host.Link, script string) *host.Process {
	t.Helper()
	text, err := json.Marshal(script)
	must(t, err)
	p, err := l.Launch(within(t), host.Launch{Agent: "sh", Dir: "/", Options: text}, host.AgentOptions{Key: "s"})
	must(t, err)
	return p
}

// read reads records up to a line of the agent, and checks that the numbers have no gaps.
func read(t testing.TB, p *host.Process, last *uint64, lines *[]string, until string) {
	t.Helper()
	for {
		r, err := p.Next(within(t))
		must(t, err)
		if *last++; r.Number != *last {
			t.Fatalf("record %d follows %d", r.Number, *last-1)
		}
		if r.Kind == host.Output {
			line := strings.TrimSuffix(string(r.Data), "\n")
			if *lines = append(*lines, line); line == until {
				return
			}
		}
	}
}

// A machine joins, runs agents for the server, and leaves them running when it ends. The next
// process offers the same agents again.
func TestRun(t *testing.T) {
	s := newServer(t)
	m := joining(t, s, fast)
	r := await(t, s.seen, "the registration")
	if r.Name != "laptop" || r.Version != host.Version || !strings.Contains(r.System, "/") {
		t.Errorf("the registration is %+v", r)
	}
	l := await(t, s.links, "the link")
	m.until(t, "the state joined", joined)
	p := launch(t, l, "cat")
	_, err := p.Write(within(t), "1", []byte("one\n"))
	must(t, err)
	var last uint64
	var lines []string
	read(t, p, &last, &lines, "one")
	if err := m.end(t); err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
	await(t, l.Done(), "the end of the link")

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { m.ended <- Run(ctx, m.Config) }()
	l = await(t, s.links, "the link of the next process")
	agents, err := l.Agents(within(t))
	must(t, err)
	if len(agents) != 1 || agents[0].Exit != nil || agents[0].Key != "s" {
		t.Fatalf("the next process finds %+v, want the agent", agents)
	}
	p, err = l.Attach(within(t), agents[0].Number, last+1)
	must(t, err)
	_, err = p.Write(within(t), "2", []byte("two\n"))
	must(t, err)
	read(t, p, &last, &lines, "two")
	cancel()
	must(t, await(t, m.ended, "the end of Run"))
}

// Links that are cut in the middle of a stream lose and duplicate no data.
func TestRun_cut(t *testing.T) {
	s := newServer(t)
	m := joining(t, s, fast)
	l := await(t, s.links, "the link")
	const total, cuts = 20000, 5
	p := launch(t, l, fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); echo $i; done; cat", total))
	number := p.Agent().Number
	var last uint64
	var lines []string
	for i := range cuts {
		read(t, p, &last, &lines, fmt.Sprint((i+1)*total/10))
		s.cut()
		l = await(t, s.links, "the next link")
		var err error
		p, err = l.Attach(within(t), number, last+1)
		must(t, err)
	}
	read(t, p, &last, &lines, fmt.Sprint(total))
	_, err := p.Write(within(t), "x", []byte("end\n"))
	must(t, err)
	read(t, p, &last, &lines, "end")
	if len(lines) != total+1 {
		t.Errorf("%d lines, want %d", len(lines), total+1)
	}
	for i, line := range lines[:total] {
		if line != fmt.Sprint(i+1) {
			t.Fatalf("line %d is %q", i+1, line)
		}
	}
	must(t, m.end(t))
}

// A link is closed after the pong timeout if packets are lost.
func TestRun_silent(t *testing.T) {
	s := newServer(t)
	m := joining(t, s, times{min: time.Millisecond, max: 4 * time.Millisecond, ping: 10 * time.Millisecond, pong: 500 * time.Millisecond, dial: 200 * time.Millisecond})
	await(t, s.links, "the link")
	m.until(t, "the state joined", joined)
	s.swallow(true)
	began := time.Now()
	lost := m.until(t, "the loss of the link", func(s State) bool { return !s.Joined })
	if took := time.Since(began); !errors.Is(lost.Err, ErrUnresponsive) || took < 400*time.Millisecond {
		t.Errorf("the link ends after %v with %v, want %v after 500ms", took, lost.Err, ErrUnresponsive)
	}
	m.until(t, "a failed attempt", func(s State) bool { return errors.Is(s.Err, context.DeadlineExceeded) })
	s.swallow(false)
	m.until(t, "the next link", joined)
	must(t, m.end(t))
}

// The end of the context ends Run even if the server is silent.
func TestRun_leaves(t *testing.T) {
	s := newServer(t)
	m := joining(t, s, times{})
	await(t, s.links, "the link")
	m.until(t, "the state joined", joined)
	s.swallow(true)
	began := time.Now()
	must(t, m.end(t))
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("Run ended after %v", took)
	}
}

// A revoked token ends Run, with the message of the server.
func TestRun_revoked(t *testing.T) {
	for _, status := range []int{401, 403} {
		s := newServer(t)
		m := joining(t, s, fast)
		await(t, s.links, "the link")
		s.status.Store(int64(status))
		s.cut()
		err := await(t, m.ended, "the end of Run")
		if e, ok := errors.AsType[*StatusError](err); !ok || e.Status != status || e.Message != "the token was revoked" {
			t.Errorf("Run = %v, want the answer %d of the server", err, status)
		}
	}
}

// Any other response counts as a failed attempt.
func TestRun_unavailable(t *testing.T) {
	s := newServer(t)
	s.status.Store(503)
	m := joining(t, s, fast)
	for range 3 {
		if st := await(t, m.states, "a state"); st.Joined || !strings.Contains(st.Err.Error(), "503") {
			t.Errorf("the state is %+v, want the answer 503", st)
		}
	}
	s.status.Store(0)
	m.until(t, "the link", joined)
	must(t, m.end(t))
}

// A machine whose registration is refused reports the reason, and tries again.
func TestRun_refused(t *testing.T) {
	s := newServer(t)
	tries := 0
	s.check = func(r host.Registration) error {
		if tries++; tries < 3 {
			return fmt.Errorf("the name %s is taken", r.Name)
		}
		return nil
	}
	m := joining(t, s, fast)
	for range 2 {
		if st := await(t, m.states, "a state"); !errors.Is(st.Err, host.ErrRefused) || !strings.Contains(st.Err.Error(), "laptop is taken") || st.Next != fast.refused {
			t.Errorf("the state is %+v, want a refusal", st)
		}
	}
	m.until(t, "the link", joined)
	must(t, m.end(t))
}

// The pauses between attempts double up to the maximum.
func TestRun_pauses(t *testing.T) {
	s := newServer(t)
	s.status.Store(500)
	m := joining(t, s, fast)
	for i, longest := range []time.Duration{1, 2, 4, 4, 4} {
		longest *= time.Millisecond
		if st := await(t, m.states, "a state"); st.Next < longest/2 || st.Next > longest {
			t.Errorf("pause %d is %v, want %v to %v", i, st.Next, longest/2, longest)
		}
	}
	must(t, m.end(t))
}

// A link that has lasted long enough resets the pause that failed attempts have increased.
func TestRun_lasted(t *testing.T) {
	s := newServer(t)
	s.status.Store(503)
	const longest = 300 * time.Millisecond
	m := joining(t, s, times{min: time.Millisecond, max: longest, ping: time.Hour})
	m.until(t, "a long pause", func(s State) bool { return s.Next >= longest/2 })
	s.status.Store(0)
	m.until(t, "the link", joined)
	<-time.After(longest)
	s.cut()
	if lost := m.until(t, "the end of the link", func(s State) bool { return !s.Joined }); lost.Next >= longest/2 {
		t.Errorf("after a link that has lasted the machine waits %v, want a short pause", lost.Next)
	}
	must(t, m.end(t))
}

// A host that was stopped is started again for the next link.
func TestRun_host(t *testing.T) {
	s := newServer(t)
	m := joining(t, s, fast)
	l := await(t, s.links, "the link")
	m.stopHost(t)
	await(t, l.Done(), "the end of the link")
	l = await(t, s.links, "the next link")
	p := launch(t, l, "echo here; cat")
	var last uint64
	var lines []string
	read(t, p, &last, &lines, "here")
	must(t, m.end(t))
}

// Only one process can join a server with a data directory.
func TestRun_twice(t *testing.T) {
	s := newServer(t)
	m := joining(t, s, fast)
	await(t, s.links, "the link")
	if err := Run(within(t), m.Config); !errors.Is(err, ErrJoined) {
		t.Errorf("the second Run = %v, want %v", err, ErrJoined)
	}
	must(t, m.end(t))
}

// A redirect does not get the token.
func TestRun_redirect(t *testing.T) {
	s := newServer(t)
	s.status.Store(307)
	m := joining(t, s, fast)
	if st := await(t, m.states, "a state"); st.Joined || !strings.Contains(st.Err.Error(), "307") {
		t.Errorf("the state is %+v, want the answer 307", st)
	}
	must(t, m.end(t))
}

// Invalid configurations, and those that would send the token unencrypted, are refused.
func TestConfig(t *testing.T) {
	good := Config{Server: "https://s.example", Token: "t", DataDir: "/d", Policy: shellPolicy{}, Registration: host.Registration{Name: "n"}}
	for name, change := range map[string]func(*Config){
		"plain http":     func(c *Config) { c.Server = "http://s.example" },
		"plain http, IP": func(c *Config) { c.Server = "http://10.0.0.1:7717" },
		"another scheme": func(c *Config) { c.Server = "ftp://s.example" },
		"no scheme":      func(c *Config) { c.Server = "s.example" },
		"no address":     func(c *Config) { c.Server = "" },
		"no host":        func(c *Config) { c.Server = "https://:443" },
		"a token":        func(c *Config) { c.Server = "https://s.example/#token=x" },
		"a query":        func(c *Config) { c.Server = "https://s.example/?token=x" },
		"a user":         func(c *Config) { c.Server = "https://u:p@s.example" },
		"no token":       func(c *Config) { c.Token = "" },
		"two lines":      func(c *Config) { c.Token = "a\nb" },
		"no name":        func(c *Config) { c.Registration.Name = "" },
		"no data":        func(c *Config) { c.DataDir = "" },
		"no policy":      func(c *Config) { c.Policy = nil },
	} {
		c := good
		change(&c)
		if err := Run(within(t), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: Run = %v, want %v", name, err, ErrConfig)
		}
	}
}

// One server has one directory, for each spelling of its address.
func TestHostDir(t *testing.T) {
	want, err := HostDir("/d", "https://s.example")
	must(t, err)
	if dir, _ := filepath.Split(want); dir != "/d/joined/" {
		t.Errorf("the directory is %s, want one in /d/joined", want)
	}
	if dir, err := HostDir("/d", "s.example"); !errors.Is(err, ErrConfig) {
		t.Errorf("an address without a scheme has the directory %q, %v, want %v", dir, err, ErrConfig)
	}
	for _, same := range []string{"https://S.example/", "https://s.example:443"} {
		if got, err := HostDir("/d", same); err != nil || got != want {
			t.Errorf("HostDir(%s) = %s, %v, want %s", same, got, err, want)
		}
	}
	for _, other := range []string{"https://s.example:8443", "https://s.example/below", "http://127.0.0.1"} {
		if got, err := HostDir("/d", other); err != nil || got == want || filepath.Dir(got) != filepath.Dir(want) {
			t.Errorf("HostDir(%s) = %s, %v", other, got, err)
		}
	}
}

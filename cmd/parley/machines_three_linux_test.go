package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// joinedMachine is a machine with scripted CLIs that joins a server through a way.
type joinedMachine struct {
	name, token, hostDir string // token is the id of its token
	way                  *way
	process              *exec.Cmd
	errors               *lockedText
}

// joinMachine starts a machine and waits until it has joined.
func (w *killWorld) joinMachine(name string) *joinedMachine {
	t := w.t
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &joinedMachine{name: name, errors: &lockedText{}, way: newWay(t, func() string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.address
	})}
	server, data, project := "http://"+m.way.Addr().String(), filepath.Join(home, "data"), filepath.Join(home, "project")
	if m.hostDir, err = join.HostDir(data, server); err == nil {
		err = os.Mkdir(project, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	var made api.TokensCreateResult
	w.call("tokens.create", api.TokensCreateParams{Name: name, Role: "host"}, &made)
	m.token = made.ID
	m.process = exec.Command(linkedProgram(t), "host", "join", "--data", data, "--name", name, "--dir", project, "--cli", w.cli, server)
	m.process.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "GORACE=atexit_sleep_ms=0", "PARLEY_TOKEN=" + made.Token}
	m.process.Dir, m.process.Stderr = home, m.errors
	t.Cleanup((&simHost{T: t, data: m.hostDir}).stop)
	if err := m.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = m.process.Process.Signal(os.Interrupt) // it may be gone
		_ = m.process.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", name, m.errors.text())
		}
	})
	w.machineIs(name, api.MachineReachable)
	return m
}

// machineIs waits until a machine has a state.
func (w *killWorld) machineIs(name, state string) {
	w.t.Helper()
	eventually(w.t, name+" is "+state, func() bool {
		var all api.MachinesListResult
		w.call("machines.list", api.Empty{}, &all)
		return slices.ContainsFunc(all.Machines, func(m api.Machine) bool { return m.Name == name && m.State == state })
	})
}

// agentsOn returns the agents of machines.
func agentsOn(t *testing.T, machines []*joinedMachine) (all []host.Agent) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	for _, m := range machines {
		l, err := host.Dial(ctx, m.hostDir, 0)
		if err != nil {
			t.Fatal(err)
		}
		list, err := l.Agents(ctx)
		l.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			_, a.Key, _ = strings.Cut(a.Key, "/") // the relay prefixes the key with the name of the agent
			all = append(all, a)
		}
	}
	return all
}

// TestMachines_three runs sessions on three machines over paths that cut, delay, half-open and swallow connections at random points of turns.
// Every turn ends as without a fault: the agents record that they have read each line once, the log has each of their lines once, and every
// viewer has the state that a new one gets.
func TestMachines_three(t *testing.T) {
	short.Skip(t, "a server and three machines")
	turns, strikes := short.Count(1, 4, 12), short.Count(1, 9, 90)
	w := newKillWorld(t, testSeed(t))
	var machines []*joinedMachine
	for _, name := range []string{"crane", "dock", "quay"} {
		machines = append(machines, w.joinMachine(name))
	}
	w.elsewhere = func() []host.Agent { return agentsOn(t, machines) }
	ctx := t.Context()
	calm, err := w.connectOn(ctx, "crane")
	if err == nil {
		err = calm.run(ctx, 1, turns)
	}
	if err != nil {
		t.Fatal(err)
	}
	gap := max(1, 3*calm.messages()*4/10/strikes) // sessions continue while a fault lasts

	var work sync.WaitGroup
	for _, m := range machines {
		s, err := w.connectOn(ctx, m.name)
		if err != nil {
			t.Fatal(err)
		}
		w.sessions = append(w.sessions, s)
		work.Go(func() {
			if err := s.run(ctx, 1, turns); err != nil {
				t.Errorf("the session on %s: %v", m.name, err)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		work.Wait()
		close(done)
		w.changed.Broadcast()
	}()
	count := 0
	for ; count < strikes && w.seenMore(1+w.rand.IntN(2*gap), done); count++ {
		m := machines[w.rand.IntN(len(machines))]
		f := fault(1 + w.rand.IntN(int(swallows)))
		t.Logf("the way of %s %s", m.name, faultNames[f])
		m.way.set(f)
		select {
		case <-time.After(time.Duration(20+w.rand.IntN(200)) * time.Millisecond):
		case <-done:
		}
		m.way.heal()
	}
	<-done
	t.Logf("%d faults in %d sessions with %d messages each", count, len(machines), calm.messages())
	for _, m := range machines {
		w.machineIs(m.name, api.MachineReachable)
	}
	if left := w.agents(); len(left) != 0 {
		t.Errorf("the server itself has the agents %+v, want none", left)
	}
	w.checkAll(calm, turns)
}

// seenMore waits until viewers have received this number of further messages. It returns false if the work
// is done before.
func (w *killWorld) seenMore(n int, done <-chan struct{}) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n += w.seen; w.seen < n; w.changed.Wait() {
		select {
		case <-done:
			return false
		default:
		}
	}
	return true
}

// TestMachines_minute breaks the links of three machines in mid turn for a minute, each in another way, so that both ends have to detect it. The
// agents continue to work, and no line is lost or doubled.
func TestMachines_minute(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") != "1" {
		t.Skip("takes more than a minute: make soak PART=machines runs this test")
	}
	const turns = 3
	w := newKillWorld(t, testSeed(t))
	faults := map[string]fault{"crane": cuts, "dock": halfOpens, "quay": swallows}
	var machines []*joinedMachine
	for name := range faults {
		machines = append(machines, w.joinMachine(name))
	}
	w.elsewhere = func() []host.Agent { return agentsOn(t, machines) }
	ctx := t.Context()
	calm, err := w.connectOn(ctx, "crane")
	if err == nil {
		err = calm.run(ctx, 1, turns)
	}
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	for _, m := range machines {
		s, err := w.connectOn(ctx, m.name)
		if err != nil {
			t.Fatal(err)
		}
		w.sessions = append(w.sessions, s)
		work.Go(func() {
			if err := s.run(ctx, 1, turns); err != nil {
				t.Errorf("the session on %s: %v", m.name, err)
			}
		})
		if err := s.await(ctx, func(c *event.Conversation) bool { return c.State == "running" && c.Totals.Turns == 1 }); err != nil {
			t.Fatal(err)
		}
		m.way.set(faults[m.name])
	}
	for _, m := range machines {
		w.machineIs(m.name, api.MachineUnreachable)
	}
	<-time.After(time.Minute)
	for _, m := range machines {
		m.way.set(passes) // broken connections stay broken until their ends give up
	}
	for _, m := range machines {
		w.machineIs(m.name, api.MachineReachable)
	}
	work.Wait()
	w.checkAll(calm, turns)
}

// TestMachines_revoked checks that revoking a machine's token disconnects it at once: its session
// has no agent, its command ends, and it cannot join again. Its agent continues on the machine.
func TestMachines_revoked(t *testing.T) {
	short.Skip(t, "a server and a machine")
	w := newKillWorld(t, 1)
	m := w.joinMachine("crane")
	s, err := w.connectOn(t.Context(), "crane")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.run(t.Context(), 1, 1); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- m.process.Wait() }()
	began := time.Now()
	w.call("tokens.revoke", api.TokensRevokeParams{ID: m.token}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	if err := next(ctx, t, ended); err == nil || m.process.ProcessState.ExitCode() != 1 {
		t.Errorf("the command ends with %v, want exit code 1", err)
	}
	w.machineIs("crane", api.MachineUnreachable)
	t.Logf("out after %v", time.Since(began).Round(time.Millisecond))
	if agents := agentsOn(t, []*joinedMachine{m}); len(agents) != 1 || syscall.Kill(agents[0].PID, 0) != nil {
		t.Errorf("the agents of the machine are %+v, want one that runs", agents)
	}
	again := exec.Command(m.process.Path, m.process.Args[1:]...)
	again.Env, again.Dir = m.process.Env, m.process.Dir
	if out, err := again.CombinedOutput(); err == nil || again.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "401") {
		t.Errorf("joining again: %v\n%s", fmt.Sprint(err), out)
	}
}

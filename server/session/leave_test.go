//go:build unix

package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/spawn"
)

// A call to the agent that fails because the server leaves the agent with the host writes nothing:
// the next server finds the prompt as sent and the answer as given, and completes the call.
func TestLeave_callFails(t *testing.T) {
	for name, tt := range map[string]struct {
		begin func(c *hostStage) // the call, which is held
		want  string             // in the state at the next server
	}{
		"a prompt": {func(c *hostStage) {
			if _, err := c.server.Query(c.Context(), c.id, "", `"next"`, "", "by"); err != nil {
				c.Error(err)
			}
		}, `"status":"delivered"`},
		"an answer": {func(c *hostStage) {
			r, err := Of[Requests](c.server).PermissionRespond(c.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: "r-1", Behavior: "allow"}, "me")
			if err != nil || !r.Accepted {
				c.Errorf("the answer returned %+v, %v, want it accepted", r, err)
			}
		}, `"given":[{"id":"r-1"`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHostStage(t)
			c.begin()
			if name == "an answer" {
				c.say("ask r-1")
				c.is(RequiresAction)
			} else {
				c.say("result")
				c.is(Idle)
			}
			p := c.puppets.agent()
			began, fail := p.hold()
			done := make(chan struct{})
			go func() { defer close(done); tt.begin(c) }()
			<-began
			var left *actor
			c.with(func(a *actor) error { left = a; return nil })
			left.leave(t.Context())
			before, _ := left.log.Last(t.Context())
			fail()
			<-done
			c.await("the call has failed", func() bool {
				failed := false
				if err := left.call(t.Context(), func() error { failed = !left.sending; return nil }); err != nil {
					t.Fatal(err)
				}
				return failed
			})
			if at, _ := left.log.Last(t.Context()); at != before {
				t.Errorf("the log ends at %d instead of %d, want no record of an actor without its agent", at.Seq, before.Seq)
			}
			c.leave()
			c.serve(nil)
			c.has("the work goes on", tt.want)
		})
	}
}

// The text that an agent streams before its server ends is in the conversation of the next two
// servers, for each position of the last record in the log, and even if a power failure has emptied
// the file of shown deltas.
func TestLeave_streamed(t *testing.T) {
	short.SkipQuick(t, "leaves a session at many places")
	for name, tt := range map[string]struct {
		lines []string
		text  string
	}{
		"the record first": {[]string{"begin stream", "delta one"}, "one"},
		"a record between": {[]string{"begin stream", "delta one", "say between", "delta two"}, "onetwo"},
		"a record last":    {[]string{"begin stream", "delta one", "delta two", "say between"}, "onetwo"},
	} {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, without the file %v", name, lost), func(t *testing.T) {
				c := newHostStage(t)
				c.begin()
				snapshot := func() string {
					r, err := c.server.Attach(t.Context(), api.AttachParams{SessionID: c.id})
					if err != nil {
						t.Fatal(err)
					}
					return string(r.Snapshot)
				}
				has := func(text string) func() bool {
					return func() bool { return strings.Contains(snapshot(), `"`+text+`"`) }
				}
				for _, line := range tt.lines {
					c.say(line)
				}
				c.await("the words", has(tt.text))
				if strings.Contains(strings.Join(tt.lines, " "), "between") {
					c.await("the record", func() bool { return c.count(`"between"`) > 0 })
				}
				for range 2 {
					c.leave()
					if lost {
						if err := os.RemoveAll(filepath.Join(c.lists, c.id)); err != nil {
							t.Fatal(err)
						}
					}
					c.serve(nil)
					c.await("the words at the next server", has(tt.text))
				}
				c.say("delta three")
				c.await("all words", has(tt.text+"three"))
			})
		}
	}
}

// An agent in a box of a host is taken over if the session has the same box now, and ended if it has another one or
// none.
func TestLeave_box(t *testing.T) {
	one, two := &api.Box{Kind: "bwrap", Network: "on"}, &api.Box{Kind: "bwrap", Network: "off"}
	for name, tt := range map[string]struct {
		before, after *api.Box
		want          State
	}{
		"the same":    {one, &api.Box{Kind: "bwrap", Network: "on"}, Running},
		"none":        {nil, nil, Running},
		"another":     {one, two, Interrupted},
		"a first one": {nil, one, Interrupted},
		"no longer":   {one, nil, Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHostStage(t)
			box := func(b *api.Box) {
				c.server.opts.Box = func(agent.Provider, string, bool, []string) *api.Box { return b }
			}
			box(tt.before)
			c.begin()
			if all := c.left(); len(all) != 1 {
				t.Errorf("the host has the agents %+v, want that of the session", all)
			}
			c.leave()
			c.box = func(agent.Provider, string, bool, []string) *api.Box { return tt.after }
			c.serve(nil)
			c.is(tt.want)
			if all := c.left(); (len(all) == 1) != (tt.want == Running) {
				t.Errorf("the host has the agents %+v and the session is %s", all, tt.want)
			}
		})
	}
}

// The lines of a second agent count from 1 again: it is adopted like the first one, and every line
// of both is in the log once.
func TestLeave_secondAgent(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	for _, line := range []string{"say one", "say two", "say three", "result"} {
		c.say(line)
	}
	c.is(Idle)
	if _, err := Of[Details](c.server).Disconnect(t.Context(), ref(c.id)); err != nil {
		t.Fatal(err)
	}
	c.await("the host forgets the first agent", func() bool { return len(c.left()) == 0 })
	if _, err := c.server.Query(t.Context(), c.id, "", `"again"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	c.is(Running)
	c.has("the second prompt", `"status":"delivered"`)
	c.leave()
	c.sayAlone("say four")
	c.serve(nil)
	c.is(Running)
	for _, text := range []string{"one", "two", "three", "four"} {
		c.await("the text "+text, func() bool { return c.count(`"text":"`+text+`"`) == 1 })
	}
}

// The access of an agent to the model ends once, when its host has forgotten the agent, and not
// while the agent runs without this server.
func TestLeave_access(t *testing.T) {
	var mu sync.Mutex
	granted, revoked := 0, 0
	c := newHostStage(t)
	c.server.opts.Prepare = func(string, agent.Provider, *agent.Options) (func(), error) {
		mu.Lock()
		defer mu.Unlock()
		granted++
		return func() {
			mu.Lock()
			defer mu.Unlock()
			revoked++
		}, nil
	}
	counts := func() string {
		mu.Lock()
		defer mu.Unlock()
		return fmt.Sprint(granted, revoked)
	}
	c.begin()
	if got := counts(); got != "1 0" {
		t.Errorf("with one agent, granted and revoked are %s, want 1 0", got)
	}
	c.say("result")
	c.is(Idle)
	if _, err := Of[Details](c.server).Disconnect(t.Context(), ref(c.id)); err != nil {
		t.Fatal(err)
	}
	c.await("the access ends with the agent", func() bool { return counts() == "1 1" })
	if free, _ := c.server.Places(); free != 8 {
		t.Errorf("%d places are free without an agent, want 8", free)
	}
	if _, err := c.server.Query(t.Context(), c.id, "", `"again"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	c.is(Running)
	c.leave()
	if got := counts(); got != "2 1" {
		t.Errorf("with an agent that runs on, granted and revoked are %s, want 2 1", got)
	}
}

// If the program of an agent cannot be run, starting the agent returns an error, and the session
// can continue with another agent.
func TestHost_spawnFails(t *testing.T) {
	c := newHostStage(t)
	spawner := c.host.spawner(c.id, &agent.Options{})
	p, err := spawner.Spawn(t.Context(), spawn.Command{Path: "/no/such/program", Dir: "/"})
	if err == nil || p != nil {
		t.Errorf("a program that is missing: %v, %v, want an error and no process", p, err)
	}
	spawner.abandon()
	if all := c.left(); len(all) != 0 {
		t.Errorf("the host has the agents %+v, want none", all)
	}
	if err := c.host.Close(); err != nil {
		t.Fatal(err)
	}
	if p, err := spawner.Spawn(t.Context(), spawn.Command{Path: "/bin/cat", Dir: "/"}); !errors.Is(err, host.ErrLinkLost) || p != nil {
		t.Errorf("a host that was left: %v, %v, want %v", p, err, host.ErrLinkLost)
	}
}

// An agent of a dead host has no process there that could take an input.
func TestLeaveInput_dead(t *testing.T) {
	a := &actor{}
	h := &hostedPuppet{bare: newBare("agent-1"), orphan: new("stop"), kept: new(int64)}
	r := &running{}
	a.leaveInput(t.Context(), r, h)
	a.renewInput(r, h)
	if r.orphan != nil {
		t.Errorf("the input %q is left with no one", r.orphan)
	}
}

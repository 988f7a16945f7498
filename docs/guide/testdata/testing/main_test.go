package main

import (
	"bytes"
	"context"
	"errors"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/simagent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/api"
	"net"
	"path/filepath"
	"testing"
)

func TestAgent(t *testing.T) {
	api := claudetest.StartFakeAPI(t, claudetest.Replies(
		claudetest.Use("Bash", map[string]any{"command": "echo hi", "description": "greet"}),
		claudetest.Say("It said hi."),
	))
	opts, err := claudetest.HermeticOptions(t.TempDir(), api.URL())
	if err != nil {
		t.Fatal(err)
	}
	opts.AllowedTools = []string{"Bash"}
	result, err := claude.Run(t.Context(), "Say hi in the shell.", opts)
	if err != nil {
		t.Fatal(err)
	}
	if result.Result != "It said hi." {
		t.Errorf("the answer is %q", result.Result)
	}
	for _, r := range api.Requests() {
		t.Log(r.Path) // what the CLI asked
	}
}

func TestScript(t *testing.T) {
	script, err := claudetest.ParseScript([]byte(`{"replies": [
		{"match": {"last_includes": "weather"}, "blocks": [{"text": "It rains."}]},
		{"error": {"status": 529, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}}},
		{"blocks": [{"text": "Hello."}], "delay_ms": 20}
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	api := claudetest.StartFakeAPI(t, script)
	opts, err := claudetest.HermeticOptions(t.TempDir(), api.URL())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ prompt, want string }{{"How is the weather?", "It rains."}, {"Hi.", "Hello."}} {
		result, err := claude.Run(t.Context(), tt.prompt, opts) // the CLI repeats the second request after the error
		if err != nil || result.Result != tt.want {
			t.Errorf("%q is answered with %+v, %v, want %q", tt.prompt, result, err, tt.want)
		}
	}
}

func TestCrash(t *testing.T) {
	dies := func(cli *claudetest.CLI) int {
		cli.Handshake()
		cli.Prompt()
		cli.BeginTurn()
		cli.Emit(cli.AssistantText("I will look."))
		cli.Stderr("out of disk\n")
		return 3
	}
	_, err := claude.Run(t.Context(), "list the files", &claude.Options{Spawner: claudetest.InProcess(dies)})
	var exit *claude.ExitError
	if !errors.As(err, &exit) || exit.Code != 3 {
		t.Errorf("the error is %v", err)
	}
}

func TestReplay(t *testing.T) {
	echo := func(cli *claudetest.CLI) int {
		cli.Handshake()
		prompt, err := cli.Prompt()
		if err != nil {
			return 1
		}
		cli.Turn("You said " + prompt.Text())
		return 0
	}
	opts := &claude.Options{Spawner: claudetest.InProcess(echo)} // to record the real CLI, leave out the spawner
	var cassette bytes.Buffer
	opts.Transport = claudetest.NewRecorder(claude.ProcessTransport(opts), &cassette)
	if _, err := claude.Run(t.Context(), "hello", opts); err != nil {
		t.Fatal(err)
	}
	replay, err := claudetest.NewReplayer(&cassette)
	if err != nil {
		t.Fatal(err)
	}
	opts.Transport = replay // a program that does something else gets a *claudetest.ReplayError
	result, err := claude.Run(t.Context(), "hello", opts)
	if err != nil || result.Result != "You said hello" {
		t.Errorf("%v, %v", result, err)
	}
}

func TestServer(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	store, err := eventlog.Open(ctx, &eventlog.Options{Dir: filepath.Join(t.TempDir(), "log"), UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close(context.Background())
	dir := t.TempDir()
	s, err := server.New(ctx, server.Options{
		Providers: []agent.Provider{&simagent.Provider{}}, Store: store, Dir: filepath.Join(t.TempDir(), "server"), Directories: []string{dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }()
	c, err := client.New(client.Options{URL: "http://" + listener.Addr().String(), Token: s.Token()})
	if err != nil {
		t.Fatal(err)
	}
	var session api.ConnectResult
	if err := c.Call(ctx, "session.connect", api.ConnectParams{CWD: dir}, &session); err != nil {
		t.Error(err)
	}
	stop() // drains
	if err := <-served; err != nil {
		t.Error(err)
	}
}

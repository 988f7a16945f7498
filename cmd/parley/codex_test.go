//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
)

// TestCodex runs the command against the real codex and a scripted API.
func TestCodex(t *testing.T) {
	program := codexcli.Require(t, codexcli.Newer)
	api := codextest.NewAPI(t)
	repeat := func(r codextest.Reply) codextest.Reply {
		r.Repeat = true
		return r
	}
	run := func(id string) codextest.Reply {
		return codextest.Calls(codextest.EscalatedCommand(id, "echo done > made", "May I?"))
	}
	api.Reply(repeat(codextest.Say("Hello ", "from Codex.")))
	api.ReplyTo("count-them", repeat(codextest.Say(`{"n":`, `3}`)))
	api.ReplyTo("run-declined", run("call_1"), repeat(codextest.Say("Then not.")))
	api.ReplyTo("chat-declined", run("call_2"), repeat(codextest.Say("Then not.")))
	api.ReplyTo("chat-allowed", run("call_3"), repeat(codextest.Say("Done it.")))
	half := codextest.Message("one two ", "three")
	hold := codextest.Stream(codextest.Usage{}, append(half[:2:2], codextest.Event{Wait: make(chan struct{})})...)
	api.ReplyTo("please-wait", repeat(hold))
	api.ReplyTo("please-fail", repeat(codextest.Fail(400, `{"error":{"message":"the API refuses"}}`)))
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/codex",
		Setup: func(env *testscript.Env) error { return setupCodex(t, env, api, program) },
		Cmds:  commands,
	})
}

// setupCodex sets up the environment of a script, without the caller's variables.
func setupCodex(t *testing.T, env *testscript.Env, api *codextest.API, program string) error {
	bin, _, _ := strings.Cut(env.Getenv("PATH"), string(os.PathListSeparator))
	home := codextest.NewHome(t, api, "")
	hermetic, err := claudetest.HermeticEnv(env.WorkDir, "http://127.0.0.1:9")
	if err != nil {
		return err
	}
	vars := append(append([]string{"WORK=" + env.WorkDir, "GORACE=atexit_sleep_ms=0", "PARLEY_SIM_PACE=0"}, hermetic...), home.Env()...)
	for _, v := range home.Env() {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			vars = append(vars, "PATH="+strings.Join([]string{bin, filepath.Dir(program), rest}, string(os.PathListSeparator)))
		}
	}
	env.Cd = home.Project
	env.Vars = append(vars, "PROJECT="+home.Project)
	return nil
}

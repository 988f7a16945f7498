package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestMachines_codeInterrupted checks that Ctrl-C ends the prompt for a pairing code.
func TestMachines_codeInterrupted(t *testing.T) {
	p := sitDown(t, "http://127.0.0.1:9", nil, "host", "join", "--data", t.TempDir(), "https://server.invalid")
	p.sees("Machines, Add machine: ")
	p.types("\x03")
	p.ends(0)
}

// TestMachines_code joins with a pairing code. The code works once; the token is saved with mode
// 0600 and used to join again. parley machines lists and revokes the machine, and then the saved
// token is removed.
func TestMachines_code(t *testing.T) {
	w := newHostWorldOn(t, claudetest.StartFakeAPI(t, claudetest.Replies()))
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server, data := strings.TrimSuffix(w.client.URL(), "/"), filepath.Join(home, "data")
	dir, err := join.HostDir(data, server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup((&simHost{T: t, data: dir}).stop)
	joining := func(stdin string) (*exec.Cmd, *lockedText) {
		cmd := exec.Command(linkedProgram(t), "host", "join", "--data", data, "--name", "m1", "--dir", home, "--label", "fast", "--cli", e2e.CLI(t), server)
		out := &lockedText{}
		cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, home, strings.NewReader(stdin), out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, out
	}
	is := func(state string) {
		t.Helper()
		eventually(t, "the machine is "+state, func() bool {
			var all api.MachinesListResult
			w.call("machines.list", api.Empty{}, &all)
			return len(all.Machines) == 1 && all.Machines[0].State == state
		})
	}
	ends := func(cmd *exec.Cmd, out *lockedText, code int) {
		t.Helper()
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		defer cancel()
		if _ = next(ctx, t, ended); cmd.ProcessState.ExitCode() != code {
			t.Errorf("the command ends with %d, want %d:\n%s", cmd.ProcessState.ExitCode(), code, out.text())
		}
	}

	var made api.PairingCreateResult
	w.call("pairing.create", api.PairingCreateParams{Role: "host", Name: "a machine"}, &made)
	first, out := joining(made.Code + "\n")
	is(api.MachineReachable)
	if info, err := os.Stat(filepath.Join(dir, "token")); err != nil || info.Mode() != 0o600 {
		t.Errorf("the kept token: %v, %v, want a file with mode 0600", info, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "token")); err != nil || strings.Contains(string(text), made.Code) || strings.Contains(out.text(), strings.TrimSpace(string(text))) {
		t.Errorf("the kept token is the code, or printed, or unreadable: %v", err)
	}
	_ = first.Process.Signal(os.Interrupt)
	ends(first, out, 0)
	is(api.MachineUnreachable)

	again, out := joining("") // with the saved token
	is(api.MachineReachable)
	other, otherOut := joining(made.Code + "\n") // the code was used
	ends(other, otherOut, 1)

	parley := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(linkedProgram(t), append(args, "--data", w.data)...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("parley %v: %v\n%s", args, err, text)
		}
		return string(text)
	}
	if text := parley("machines"); !strings.HasPrefix(text, "MACHINE") || !strings.Contains(text, "m1") || !strings.Contains(text, "reachable") || !strings.Contains(text, "fast") || !strings.Contains(text, home) {
		t.Errorf("the table is\n%s", text)
	}
	var listed api.MachinesListResult
	if err := json.Unmarshal([]byte(parley("machines", "--json")), &listed); err != nil || len(listed.Machines) != 1 || listed.Machines[0].Token != made.ID {
		t.Errorf("the JSON is %+v, %v, want the machine with the token %s", listed, err, made.ID)
	}
	if text := parley("machines", "revoke", "m1"); text != "revoked the token of m1; its link is closed\n" {
		t.Errorf("revoke prints %q", text)
	}
	ends(again, out, 1)
	is(api.MachineUnreachable)
	if _, err := os.Lstat(filepath.Join(dir, "token")); err == nil {
		t.Error("the refused token is kept")
	}
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/internal/test/bwraptest"
)

// TestJoin_box joins with --sandbox bwrap: an agent sees its directory and its login, and neither the files around it nor the token of the machine. Without
// bubblewrap the machine does not join.
func TestJoin_box(t *testing.T) {
	bin := bwraptest.Dir(t)
	w := newJoinWorld(t)
	w.write("claude", "#!/bin/sh\n{ cat "+w.dir+"/secret "+w.data+"/token; ls ~; cat ~/.claude/.credentials.json; echo $"+"HOME; } > seen 2>&1\nexec cat\n", 0o700)
	for name, text := range map[string]string{"secret": "hidden", "data/token": "hidden", ".claude/.credentials.json": "the login\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(w.dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		w.write(name, text, 0o600)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	w.env = append(w.env, "PATH="+bin+":"+os.Getenv("PATH"))
	cmd := w.command("secret\n", "--name", "laptop", "--sandbox", "bwrap", w.server.URL)
	said := &lockedText{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hostDir, err := join.HostDir(w.data, w.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup((&simHost{T: t, data: hostDir}).stop)
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })() // of a failed test
	l, r := next(ctx, t, w.links), next(ctx, t, w.seen)
	if r.Box != "bwrap" {
		t.Errorf("the registration has the box %q, want bwrap", r.Box)
	}
	project := filepath.Join(w.dir, "project")
	p, err := l.Launch(ctx, host.Launch{Agent: "claude", Dir: project}, host.AgentOptions{Key: "s"})
	if err != nil {
		t.Fatalf("%v\n%s", err, said.text())
	}
	if _, err := p.Write(ctx, "1", []byte(`{"type":"user","message":{"role":"user","content":"hello"}}`+"\n")); err != nil {
		t.Fatal(err)
	}
	for {
		record, err := p.Next(ctx)
		if err != nil {
			t.Fatalf("%v\n%s", err, said.text())
		}
		if record.Kind == host.Output {
			break
		}
	}
	seen, err := os.ReadFile(filepath.Join(project, "seen"))
	// The home has the program and the directory, which are below it.
	if err != nil || strings.Contains(string(seen), "hidden") || strings.Count(string(seen), "No such file") != 2 || strings.Count(string(seen), "\n") != 6 || !strings.HasSuffix(string(seen), "\nclaude\nproject\nthe login\n"+w.dir+"\n") {
		t.Errorf("the agent has seen %q, %v", seen, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	none := t.TempDir()
	w.env = append(w.env, "PATH="+none)
	cmd = w.command("secret\n", "--sandbox", "bwrap", w.server.URL)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "bwrap is not in PATH") {
		t.Errorf("without bubblewrap: %v\n%s", err, out)
	}
}

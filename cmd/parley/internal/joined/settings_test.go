//go:build unix

package joined

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/host/join"
)

// Each flag sets its option and has a default.
func TestRegister(t *testing.T) {
	var f Settings
	flags := pflag.NewFlagSet("join", pflag.ContinueOnError)
	f.Register(flags)
	must(t, flags.Parse(nil))
	if got, want := fmt.Sprintf("%+v", f), fmt.Sprintf("%+v", Settings{maxMode: DefaultMode, sandbox: "none", data: remote.DefaultData()}); got != want {
		t.Errorf("the defaults are %s, want %s", got, want)
	}
	f = Settings{}
	flags = pflag.NewFlagSet("join", pflag.ContinueOnError)
	f.Register(flags)
	must(t, flags.Parse(strings.Fields("--name n --label l1 --label l2 --dir d1 --dir d2 --max-mode auto --slots 3 --token-file t --cli c --pass-env E --data x --sandbox bwrap --stdio")))
	want := Settings{name: "n", labels: []string{"l1", "l2"}, dirs: []string{"d1", "d2"}, maxMode: "auto", slots: 3, tokenFile: "t", cli: "c", passEnv: []string{"E"}, data: "x", sandbox: "bwrap", stdio: true}
	if got, want := fmt.Sprintf("%+v", f), fmt.Sprintf("%+v", want); got != want {
		t.Errorf("the settings are %s, want %s", got, want)
	}
}

// An invalid command line is refused before a server or a token is needed.
func TestSettings_check(t *testing.T) {
	good := Settings{maxMode: DefaultMode, sandbox: "none", data: "/d"}
	want, err := join.HostDir("/d", "https://s.example")
	must(t, err)
	if dir, err := good.check("https://s.example"); dir != want || err != nil {
		t.Errorf("the directory is %q, %v, want %q", dir, err, want)
	}
	for name, tt := range map[string]struct {
		server string
		change func(*Settings)
		want   string
	}{
		"plain http":      {"http://s.example", func(*Settings) {}, "encryption"},
		"an unknown mode": {"https://s.example", func(f *Settings) { f.maxMode = "plan" }, "--max-mode plan"},
		"an unknown box":  {"https://s.example", func(f *Settings) { f.sandbox = "docker" }, "--sandbox docker"},
		"no id":           {"https://s.example", func(f *Settings) { f.stdio = true }, "not the id of a server"},
		"negative slots":  {"https://s.example", func(f *Settings) { f.slots = -1 }, "--slots -1"},
	} {
		f := good
		tt.change(&f)
		var usage *term.UsageError
		if dir, err := f.check(tt.server); dir != "" || !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, %v, want a usage error with %q", name, dir, err, tt.want)
		}
		if err := f.Join(t.Context(), tt.server, nil, nil); !errors.As(err, &usage) {
			t.Errorf("%s: Join returns %v, want a usage error", name, err)
		}
	}
}

// A token is read from a file that only its owner can read, and is removed from the environment.
func TestSettings_token(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	if got, err := readToken(file("good", "a token\n", 0o600)); got != "a token\n" || err != nil {
		t.Errorf("the token is %q, %v, want the text of the file", got, err)
	}
	for name, mode := range map[string]os.FileMode{"group": 0o640, "others": 0o604, "execute": 0o601} {
		if got, err := readToken(file(name, "secret", mode)); got != "" || err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("a file that the %s can use: %q, %v, want a refusal", name, got, err)
		}
	}
	if _, err := readToken(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v, want %v", err, fs.ErrNotExist)
	}
	empty, err := os.Open(os.DevNull)
	must(t, err)
	defer empty.Close()
	for name, f := range map[string]Settings{"an empty file": {tokenFile: file("empty", " \n", 0o600)}, "an empty input": {}, "no file": {tokenFile: filepath.Join(dir, "none")}} {
		env := "in the environment"
		if f.tokenFile == "" {
			env = ""
		}
		t.Setenv(tokenVariable, env)
		if got, err := f.token(t.Context(), empty); got != "" || err == nil {
			t.Errorf("%s: the token is %q, %v, want an error", name, got, err)
		}
		if left, ok := os.LookupEnv(tokenVariable); ok {
			t.Errorf("%s: %s is still %q, want it unset: agents inherit the environment", name, tokenVariable, left)
		}
	}
}

// A signal ends the wait for a token on standard input. Join then reports no error.
func TestSettings_tokenInterrupted(t *testing.T) {
	silent, w, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(w.Close(), silent.Close())) })
	t.Setenv(tokenVariable, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := Settings{maxMode: DefaultMode, sandbox: "none", data: t.TempDir()}
	ended := make(chan error, 1)
	go func() { ended <- f.Join(ctx, "https://s.example", silent, io.Discard) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Join returns %v, want nil", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("Join still reads standard input")
	}
}

// A machine registers with its offer, by default under its host name.
func TestSettings_registration(t *testing.T) {
	at := newMachine(t, nil)
	own, err := os.Hostname()
	must(t, err)
	for set, want := range map[string]string{"": own, "n": "n"} {
		f := Settings{name: set, labels: []string{"l"}, slots: 4}
		r, err := f.registration(at.Policy)
		must(t, err)
		if r.Name != want || fmt.Sprint(r.Labels) != "[l]" || fmt.Sprint(r.Agents) != "[claude]" || fmt.Sprint(r.Dirs) != fmt.Sprint(at.Dirs()) || r.Slots != 4 || r.MaxMode != DefaultMode {
			t.Errorf("with the name %q it is %+v, want the name %q and what it offers", set, r, want)
		}
	}
}

// Each change of the link is printed once, on one line.
func TestTeller(t *testing.T) {
	var out strings.Builder
	tell := &teller{out: &out, server: "https://s", name: "m", agents: []string{"claude", "x"}}
	gone := errors.New("gone\nfor now")
	for _, step := range []struct {
		state join.State
		want  string
	}{
		{join.State{Err: gone}, "No link: gone for now. Dialing again."},
		{join.State{Err: gone}, ""},
		{join.State{Joined: true}, "Joined https://s as m; agents: claude, x."},
		{join.State{Err: gone}, "The link is lost; dialing again."},
		{join.State{Err: gone}, "No link: gone for now. Dialing again."},
		{join.State{Err: fmt.Errorf("%w: full", host.ErrRefused)}, "The server has refused this machine: "},
		{join.State{Joined: true}, "Joined https://s as m; agents: claude, x."},
		{join.State{Err: gone}, "The link is lost; dialing again."},
	} {
		out.Reset()
		tell.state(step.state)
		if got := strings.TrimSuffix(out.String(), "\n"); strings.Contains(got, "\n") || !strings.HasPrefix(got, step.want) || step.want == "" && got != "" {
			t.Errorf("after %+v it prints %q, want %q", step.state, got, step.want)
		}
	}
	for running, want := range map[int]string{0: "No agent runs.", 2: "run on (2)"} {
		out.Reset()
		if tell.end("/dir", running); !strings.Contains(out.String(), want) || strings.Contains(out.String(), "--data /dir") != (running > 0) {
			t.Errorf("with %d agents it prints %q, want %q", running, out.String(), want)
		}
	}
}

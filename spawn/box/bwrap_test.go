package box

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/spawn"
)

var update = flag.Bool("update", false, "write the golden files")

// TestCommand_golden checks the arguments of bwrap for each kind of box, on a fixed system.
func TestCommand_golden(t *testing.T) {
	seen := sight{
		links: map[string]string{"/bin": "usr/bin", "/sbin": "usr/sbin", "/lib": "usr/lib", "/lib64": "usr/lib64"},
		files: map[string]bool{"/src/project/key": true, "/proc/kcore": true, "/proc/keys": true},
	}
	base := Box{Program: "/usr/bin/bwrap", Init: "/usr/local/bin/parley", Home: "/home/user", Network: NetworkOff}
	cmd := spawn.Command{Path: "/usr/bin/agent", Args: []string{"--print", "a b"}, Dir: "/src/project", Env: []string{"TOKEN=hidden", "LD_PRELOAD=/src/project/x.so"}}
	for _, tt := range []struct {
		name string
		edit func(*Box, *spawn.Command)
	}{
		{"plain", func(*Box, *spawn.Command) {}},
		{"network", func(b *Box, _ *spawn.Command) { b.Network = NetworkOn }},
		{"plain", func(b *Box, _ *spawn.Command) { b.Network = NetworkAllow }}, // differs only in the doors
		{"door", func(b *Box, _ *spawn.Command) {
			b.Doors = map[int]string{9000: "/run/user/1/p/api", 8000: "/data/x/proxy"}
		}},
		{"nested", func(b *Box, c *spawn.Command) { // inner paths follow outer ones, visible or hidden
			b.Write, b.Read = []string{"/src/project/.data/tree", "/home/user/.cache/go"}, []string{"/src", "/home/user/.config/tool"}
			b.Hide, b.Logins = []string{"/src/project/.data", "/src/project/key", "/elsewhere"}, []string{"/home/user/.agent/login.json"}
			c.Files = []string{"/src/project/.data/tmp/mcp.json"}
		}},
		{"package", func(_ *Box, c *spawn.Command) { c.Path = "/opt/agents/node_modules/agent/node_modules/x/cli.js" }},
		{"file", func(_ *Box, c *spawn.Command) { c.Path = "/home/user/.local/bin/agent" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, c := base, cmd
			tt.edit(&b, &c)
			if err := b.check(c.Dir); err != nil {
				t.Fatal(err)
			}
			got := b.command(c, seen)
			if slices.ContainsFunc(got.Args, func(a string) bool { return strings.Contains(a, "hidden") || strings.Contains(a, "x.so") }) {
				t.Error("a value of the environment is in the arguments")
			}
			if want := []string{"PARLEY_BOXED_TOKEN=hidden", "PARLEY_BOXED_LD_PRELOAD=/src/project/x.so"}; !slices.Equal(got.Env, want) {
				t.Errorf("the environment outside is %q", got.Env)
			}
			if back := Unpacked(append(got.Env, "MARK=1")); !slices.Equal(back, cmd.Env) {
				t.Errorf("the environment inside is %q", back)
			}
			golden(t, filepath.Join("testdata", tt.name+".txt"), strings.Join(lines(got), "\n")+"\n")
		})
	}
}

// lines returns a command with each option and its values on a line.
func lines(cmd spawn.Command) []string {
	out := []string{cmd.Path}
	for _, a := range cmd.Args {
		if strings.HasPrefix(a, "-") {
			out = append(out, a)
		} else {
			out[len(out)-1] += " " + a
		}
	}
	return out
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

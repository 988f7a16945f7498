//go:build unix

package host

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/spawn"
)

// TestReadSpool_damaged checks damage of each kind in a spool of several files: the damage is
// reported, and all records before it are returned.
func TestReadSpool_damaged(t *testing.T) {
	h := newFakeHost(t, Options{Spool: 8 << 10}, func(stdin *bufio.Reader, _, _ io.Writer) int {
		_, _ = io.Copy(io.Discard, stdin)
		return 0
	})
	p := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{Key: "key"})
	for i := range 8 {
		_, err := p.Write(within(t), fmt.Sprint(i), append(bytes.Repeat([]byte("x"), 800), '\n'))
		must(t, err)
	}
	must(t, p.CloseInput())
	_, err := p.Exit(within(t))
	must(t, err)
	a, err := h.agent(p.Agent().Number)
	must(t, err)
	<-a.done
	files, err := segmentFiles(a.dir)
	must(t, err)
	if len(files) < 3 {
		t.Fatalf("there are %d files, want at least 3", len(files))
	}
	const middle = 1
	text, err := os.ReadFile(files[middle])
	must(t, err)
	first, _ := frameSize(text)
	_, begin, err := parsePart(text[headSize:first])
	must(t, err)
	begins := begin.Number
	for name, tt := range map[string]struct {
		harm func(dir string) error
		last uint64 // the last record before the damage
	}{
		"a file is missing":       {func(dir string) error { return os.Remove(filepath.Join(dir, filepath.Base(files[middle]))) }, begins - 1},
		"a file is empty":         {changed(files[middle], func([]byte) []byte { return nil }), begins - 1},
		"a file is cut":           {changed(files[middle], func(b []byte) []byte { return b[:first+headSize+1] }), begins},
		"whole frames are cut":    {changed(files[middle], func(b []byte) []byte { return b[:first] }), begins},
		"the length of a frame":   {changed(files[middle], func(b []byte) []byte { b[first] = 0xff; return b }), begins},
		"the type of a frame":     {changed(files[middle], func(b []byte) []byte { b[4] = 'x'; return b }), begins - 1},
		"the number of a record":  {changed(files[middle], func(b []byte) []byte { b[headSize+11] ^= 1; return b }), begins - 1},
		"zeros":                   {changed(files[middle], func(b []byte) []byte { clear(b[first:]); return b }), begins},
		"a record is there twice": {changed(files[middle], func(b []byte) []byte { return append(b[:first:first], b...) }), begins},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			dir := filepath.Join(data, folder, deadName, "1")
			must(t, os.CopyFS(dir, os.DirFS(a.dir)))
			must(t, tt.harm(dir))
			dead, err := ReadSpool(data)
			if err == nil || len(dead) != 1 || dead[0].Key != "key" {
				t.Fatalf("the agents are %+v, %v, want one with the key and an error", dead, err)
			}
			if dead[0].Last != tt.last || dead[0].Exit != nil {
				t.Errorf("the last record is %d, and the exit %v, want %d and none", dead[0].Last, dead[0].Exit, tt.last)
			}
			if !dead[0].Wrote("a text that no line has") {
				t.Error("Wrote is false, want true: the damage may have hidden a line")
			}
			lines, last := dead[0].Process(), uint64(0)
			for {
				line, err := lines.NextLine(within(t))
				if err != nil {
					if errors.Is(err, io.EOF) || last != tt.last {
						t.Errorf("after line %d: %v, want an error after %d", last, err, tt.last)
					}
					break
				}
				if line.Number != last+1 {
					t.Fatalf("line %d follows %d", line.Number, last)
				}
				last = line.Number
			}
			if status, err := lines.Wait(); err != nil || status.Signal != "SIGKILL" {
				t.Errorf("the agent has ended with %+v, %v, want SIGKILL", status, err)
			}
		})
	}
}

// Wrote finds the lines that the owner wrote, not those of the agent. It cannot exclude a line from before a checkpoint.
func TestWrote(t *testing.T) {
	h := newFakeHost(t, Options{}, func(stdin *bufio.Reader, stdout, _ io.Writer) int {
		_, _ = io.WriteString(stdout, "the agent wrote this\n")
		_, _ = io.Copy(io.Discard, stdin)
		return 0
	})
	p := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{Key: "key"})
	_, err := p.Write(within(t), "1", []byte("the owner wrote that\n"))
	must(t, err)
	must(t, p.CloseInput())
	_, err = p.Exit(within(t))
	must(t, err)
	a, err := h.agent(p.Agent().Number)
	must(t, err)
	<-a.done
	data := t.TempDir()
	must(t, os.CopyFS(filepath.Join(data, folder, deadName, "1"), os.DirFS(a.dir)))
	dead, err := ReadSpool(data)
	if err != nil || len(dead) != 1 {
		t.Fatalf("the agents are %+v, %v, want one", dead, err)
	}
	for text, want := range map[string]bool{"owner wrote": true, "agent wrote": false, "nobody wrote": false} {
		if got := dead[0].Wrote(text); got != want {
			t.Errorf("Wrote(%q) is %v, want %v", text, got, want)
		}
	}
	if dead[0].Checkpoint = 1; !dead[0].Wrote("nobody wrote") {
		t.Error("Wrote is false after a checkpoint, want true")
	}
}

// changed returns a function that changes the file of this name in a directory.
func changed(name string, change func([]byte) []byte) func(dir string) error {
	return func(dir string) error {
		own := filepath.Join(dir, filepath.Base(name))
		text, err := os.ReadFile(own)
		if err != nil {
			return err
		}
		return os.WriteFile(own, change(text), 0o600)
	}
}

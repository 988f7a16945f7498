package tape_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/spawn"
)

// A recording replaces the CLI: the program under test starts no process.
func ExamplePlayer() {
	p, hints, err := tape.Read(filepath.Join("..", "..", "testdata", "wire", "simple-string"))
	if err != nil {
		log.Fatal(err)
	}
	player := tape.NewPlayer(p, hints)
	for m, err := range claude.Query(context.Background(), "Say hello", &claude.Options{Spawner: player}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(message.Kind(m))
	}
	fmt.Println(len(player.Input()), "lines of input")
	// Output:
	// system/init
	// assistant
	// result
	// 2 lines of input
}

// play starts a player and returns its process with a reader of its lines.
func play(t *testing.T, name string) (spawn.Process, *bufio.Reader) {
	t.Helper()
	recorded, hints, err := tape.Read(filepath.Join("..", "..", "testdata", "wire", name))
	if err != nil {
		t.Fatal(err)
	}
	player := tape.NewPlayer(recorded, hints)
	p, err := player.Spawn(t.Context(), spawn.Command{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := player.Spawn(t.Context(), spawn.Command{}); err == nil {
		t.Error("a recording can be started twice")
	}
	return p, bufio.NewReader(p.Stdout())
}

func say(t *testing.T, p spawn.Process, line string) {
	t.Helper()
	if _, err := io.WriteString(p.Stdin(), line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// kind reads a line and returns its kind.
func kind(t *testing.T, out *bufio.Reader) (string, string) {
	t.Helper()
	line, err := out.ReadString('\n')
	if err != nil {
		return err.Error(), ""
	}
	m, err := message.Decode([]byte(strings.TrimSpace(line)))
	if err != nil {
		t.Fatal(err)
	}
	return message.Kind(m), line
}

// TestPlayerOvertakes: an SDK that waits for the answer to initialize before it
// sends its prompt gets it, although lines before it wait for the prompt.
func TestPlayerOvertakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, out := play(t, "argv-kitchen-sink") // titles come before the answer
		say(t, p, `{"type":"control_request","request_id":"mine","request":{"subtype":"initialize"}}`)
		if k, line := kind(t, out); k != "control_response" || !strings.Contains(line, `"mine"`) {
			t.Fatalf("%s came first: %s", k, line)
		}
		say(t, p, `{"type":"user"}`)
		if k, _ := kind(t, out); k != "system/session_title_changed" {
			t.Errorf("%s came behind it", k)
		}
		if err := errors.Join(p.Stdin().Close(), p.Kill()); err != nil {
			t.Error(err)
		}
		if status, err := p.Wait(); err != nil {
			t.Errorf("status is %v, err is %v; want err == nil", status, err)
		}
	})
}

// TestPlayerSignals: a CLI that was ended by a signal waits for it.
func TestPlayerSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, out := play(t, "raw-sigterm-in-bash")
		say(t, p, `{"type":"control_request","request_id":"mine","request":{"subtype":"initialize"}}`)
		say(t, p, `{"type":"user"}`)
		for _, want := range []string{"control_response", "system/init", "assistant"} {
			if k, _ := kind(t, out); k != want {
				t.Fatalf("%s, want %s", k, want)
			}
		}
		waited := make(chan spawn.ExitStatus)
		go func() {
			status, _ := p.Wait() // it does not fail
			waited <- status
		}()
		synctest.Wait()
		select {
		case <-waited:
			t.Fatal("it has ended without a signal")
		default:
		}
		if err := p.Terminate(); err != nil {
			t.Fatal(err)
		}
		if k, _ := kind(t, out); k != "user" {
			t.Errorf("%s behind the signal", k)
		}
		if status := <-waited; status.Code != 143 {
			t.Errorf("exit %v", status)
		}
		if _, err := io.WriteString(p.Stdin(), "x\n"); err == nil {
			t.Error("a dead process can be written to")
		}
	})
}

// TestPlayerUnfinishedLine: a line without a line feed in the recording has none here.
func TestPlayerUnfinishedLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := play(t, "cli-garbage-stdout")
		say(t, p, `{"type":"control_request","request_id":"mine","request":{"subtype":"initialize"}}`)
		say(t, p, `{"type":"user"}`)
		say(t, p, `{"type":"control_response","response":{"request_id":"r1"}}`)
		if err := p.Stdin().Close(); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(p.Stdout())
		if err != nil {
			t.Fatal(err)
		}
		last := text[strings.LastIndexByte(string(text), '\n')+1:]
		if !json.Valid(last) || len(last) == 0 {
			t.Errorf("the last line is %q", last)
		}
	})
}

// A timeline with invalid line numbers is played with the existing lines.
func TestPlayer_timeline(t *testing.T) {
	recorded := &tape.Process{Stdout: []string{"a\n", "b\n"}}
	for _, n := range []int{0, -1, 1, 3, 2} {
		recorded.Timeline = append(recorded.Timeline, tape.Event{Dir: "out", Ev: "line", N: n})
	}
	p, err := tape.NewPlayer(recorded, tape.Hints{}).Spawn(t.Context(), spawn.Command{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stdin().Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(p.Stdout()); err != nil || string(got) != "a\nb\n" {
		t.Errorf("played %q, %v", got, err)
	}
}

// TestPlayerSameInput: of several lines of one kind that are written in another order, each
// matches the recorded one with the same content, regardless of its ids.
func TestPlayerSameInput(t *testing.T) {
	line := func(ids, text string) string {
		return fmt.Sprintf(`{"type":"user","request_id":"r%s","uuid":"u%s","session_id":"s%s","message":%q}`, ids, ids, ids, text)
	}
	var moments []tape.Moment
	for i, text := range []string{"one", "two", "three"} {
		moments = append(moments, tape.Moment{Event: tape.Event{Dir: "in", Ev: "line"}, Line: line(fmt.Sprint(i), text)})
	}
	// Its end is a signal: without one the process ends soon after the last line that it could read.
	moments = append(moments, tape.Moment{Event: tape.Event{Ev: "signal"}})
	recorded := tape.NewProcess(moments)
	player := tape.NewPlayer(recorded, tape.Hints{})
	var got []string
	player.Protocol = &tape.Protocol{
		Key:     func(string) (string, string) { return "user", "" },
		Rewrite: func(line, _, _ string) string { return line },
		Take: func(_, recorded, _ string) (string, error) {
			got = append(got, recorded)
			return "", nil
		},
	}
	p, err := player.Spawn(t.Context(), spawn.Command{})
	if err != nil {
		t.Fatal(err)
	}
	say(t, p, line("a", "three"))
	say(t, p, line("b", "two"))
	say(t, p, line("c", "new"))
	if want := []string{recorded.Stdin[2], recorded.Stdin[1], recorded.Stdin[0]}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("three, two and a new one stand for\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
}

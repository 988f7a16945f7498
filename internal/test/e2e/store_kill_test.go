package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// writerVariable makes this program, when run again, write a stored session until it is
// killed.
const writerVariable = "PARLEY_STORE_WRITER"

type storeWriter struct {
	Env      map[string]string
	CLI, Dir string
	Store    string
	Flush    claude.StoreFlush
}

func runStoreWriter(config string) error {
	var w storeWriter
	if err := json.Unmarshal([]byte(config), &w); err != nil {
		return err
	}
	store, err := claudestore.NewDir(w.Store)
	if err != nil {
		return err
	}
	ctx := context.Background()
	c, err := claude.Connect(ctx, &claude.Options{CLIPath: w.CLI, Dir: w.Dir, Env: w.Env, CleanEnv: true,
		SessionStore: store, SessionStoreFlush: w.Flush})
	if err != nil {
		return err
	}
	defer c.Close()
	for i := range killTurns {
		for _, err := range c.Query(ctx, killPrompt(i)) {
			if err != nil {
				return err
			}
		}
		fmt.Println("told", c.SessionID())
	}
	return nil
}

const killTurns = 30

func killPrompt(i int) string { return fmt.Sprintf("prompt-%02d-xyzzy", i) }

// A program that is killed at any point has stored all reported entries, each once, and the
// real CLI continues from the store on another machine.
func TestStoreKilledWriter(t *testing.T) {
	t.Parallel()
	for n := range short.Count(2, 6, 20) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			killOne(t, n)
		})
	}
}

func killOne(t *testing.T, n int) {
	var replies []claudetest.Reply
	for i := range killTurns {
		replies = append(replies, claudetest.Say(fmt.Sprintf("answer-%02d", i)))
	}
	first := newWorld(t, replies...)
	w := storeWriter{Env: first.opts.Env, CLI: first.opts.CLIPath, Dir: first.dir, Store: t.TempDir(), Flush: claude.FlushBatched}
	if n%2 == 1 {
		w.Flush = claude.FlushEager
	}
	turns, wait := 1+rand.IntN(4), time.Duration(rand.IntN(150))*time.Millisecond
	t.Logf("killed %v behind turn %d, flush %s", wait, turns, w.Flush)
	id := killWriter(t, w, turns, wait)
	store, err := claudestore.NewDir(w.Store)
	if err != nil {
		t.Fatal(err)
	}
	key := claude.SessionKey{ProjectKey: claude.ProjectKey(first.dir), SessionID: id}
	entries, err := store.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	local := filepath.Join(first.opts.Env["CLAUDE_CONFIG_DIR"], "projects", key.ProjectKey, id+".jsonl")
	checkStored(t, entries, local)

	second := newWorld(t, claudetest.Say("Here I am again."))
	second.opts.Dir, second.opts.SessionStore, second.opts.Resume = first.dir, store, id
	if r, err := claude.Run(t.Context(), "Go on.", second.opts); err != nil || r.SessionID != id {
		t.Fatalf("%+v, %v; want err == nil and r.SessionID == id", r, err)
	}
	asked := second.asked(0)
	for i := range turns {
		if n := strings.Count(asked, killPrompt(i)); n != 1 {
			t.Errorf("%s is %d times in what the API was asked: %s", killPrompt(i), n, asked)
		}
	}
}

// killWriter starts a writer and kills it some time after a turn.
func killWriter(t *testing.T, w storeWriter, turns int, wait time.Duration) (id string) {
	t.Helper()
	config, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{writerVariable + "=" + string(config), "TMPDIR=" + t.TempDir()}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	for range turns {
		if !lines.Scan() {
			t.Fatalf("the writer ended before %d turns: %v\n%s", turns, lines.Err(), stderr.String())
		}
		id = strings.TrimPrefix(lines.Text(), "told ")
	}
	<-time.After(wait)
	return id
}

// checkStored checks that each entry is stored once, in the order of the CLI's file.
func checkStored(t *testing.T, entries []json.RawMessage, local string) {
	t.Helper()
	text, err := os.ReadFile(local)
	if err != nil {
		t.Fatal(err)
	}
	place := map[string]int{}
	for i, line := range strings.Split(string(text), "\n") {
		if id := claudestore.UUID(json.RawMessage(line)); id != "" {
			place[id] = i
		}
	}
	seen, last := map[string]bool{}, -1
	for _, e := range entries {
		id := claudestore.UUID(e)
		if id == "" {
			continue
		}
		at, ok := place[id]
		if seen[id] || !ok || at < last {
			t.Errorf("entry %s: seen %v, in the file %v, at %d behind %d", id, seen[id], ok, at, last)
		}
		seen[id], last = true, at
	}
	if len(seen) == 0 {
		t.Error("nothing was stored")
	}
}

package rollout_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
)

// compress compresses every rollout below a directory, and removes the plain ones unless keep is
// set.
func compress(t *testing.T, dir string, keep bool) (n int) {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(e.Name(), "rollout-") || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		if err := os.WriteFile(path+".zst", enc.EncodeAll(text, nil), 0o600); err != nil || keep {
			return err
		}
		return os.Remove(path)
	})
	if err != nil || n == 0 {
		t.Fatalf("%d files, %v", n, err)
	}
	return n
}

// content returns all data of a directory: conversations by thread, and usage.
func content(t *testing.T, dir string) (turns map[string]string, usage []rollout.UsageRecord) {
	t.Helper()
	d := rollout.Open(dir)
	sessions, problems, err := d.List(t.Context())
	if err != nil || len(problems) > 0 || len(sessions) == 0 {
		t.Fatalf("%d sessions, %v, %v", len(sessions), problems, err)
	}
	turns = map[string]string{}
	for _, s := range sessions {
		c, err := d.Read(t.Context(), s.ThreadID)
		if err != nil {
			t.Fatal(err)
		}
		turns[s.ThreadID] = string(item.ValueOf([]any{c.Turns, c.Usage, c.Models, c.Preview, c.Model}))
	}
	for u, err := range d.Usage(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		usage = append(usage, u)
	}
	return turns, usage
}

// TestCompressed checks that a compressed rollout reads like the plain one, through forks and
// reverts, and counts once if both exist.
func TestCompressed(t *testing.T) {
	for _, name := range []string{"fork", "revert", "approval_accept"} {
		dir, ok := codexrec.Named(t, name).Home(t)
		if !ok {
			t.Fatal("no files")
		}
		turns, usage := content(t, dir)
		for _, keep := range []bool{true, false} {
			compress(t, dir, keep)
			again, used := content(t, dir)
			if diff := cmp.Diff(turns, again) + cmp.Diff(usage, used); diff != "" {
				t.Errorf("%s, kept %v: %s", name, keep, diff)
			}
			if keep {
				remove(t, dir, ".zst")
			}
		}
	}
}

func remove(t *testing.T, dir, suffix string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "sessions/*/*/*/*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCompressed_torn checks that a torn compressed file returns the decodable part and reports a problem.
func TestCompressed_torn(t *testing.T) {
	dir := t.TempDir()
	name := "sessions/2026/01/01/rollout-2026-01-01T00-00-00-" + thread + ".jsonl"
	var text strings.Builder
	text.WriteString(`{"type":"session_meta","payload":{"id":"` + thread + `","cwd":"/p"}}` + "\n")
	for i := range 20_000 { // more than one block
		text.WriteString(`{"type":"event_msg","payload":{"type":"agent_message","message":"` + strings.Repeat(string(rune('a'+i%26)), i%40) + `"}}` + "\n")
	}
	write(t, dir, name, text.String())
	compress(t, dir, false)
	path := filepath.Join(dir, name+".zst")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()*3/4); err != nil {
		t.Fatal(err)
	}
	c, err := rollout.Open(dir).Read(t.Context(), thread)
	if err != nil || len(c.Turns) != 1 || len(c.Turns[0].Items) == 0 || c.Skipped != 2 { // the torn line, and the error that ended the reading
		t.Fatalf("%d skipped, %v", c.Skipped, err)
	}
	var last error
	for _, err := range rollout.Open(dir).Usage(t.Context()) {
		last = err
	}
	if last == nil {
		t.Error("usage does not report the torn file")
	}
}

// TestCompressed_live reads files that the real program compressed.
func TestCompressed_live(t *testing.T) {
	t.Parallel()
	api := codextest.NewAPI(t)
	api.Reply(codextest.Say("Done."))
	home := codextest.NewHome(t, api, "")
	opts := home.Options(t, codexcli.Require(t, codexcli.Newer))
	opts.Experimental = true
	run := func(f func(c *codex.Client) error) {
		t.Helper()
		c, err := codex.Connect(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := f(c); err != nil {
			t.Fatal(err)
		}
	}
	id := ""
	run(func(c *codex.Client) error {
		th, err := c.StartThread(t.Context(), &codex.ThreadOptions{CWD: home.Project})
		if err != nil {
			return err
		}
		id = th.ID()
		if _, err := th.Run(t.Context(), "look"); err != nil {
			return err
		}
		return c.ArchiveThread(t.Context(), id)
	})
	files, err := filepath.Glob(filepath.Join(home.Codex, "archived_sessions/*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files is %v, err is %v; want err == nil and len(files) == 1", files, err)
	}
	old := time.Now().AddDate(0, -3, 0)
	if err := os.Chtimes(files[0], old, old); err != nil {
		t.Fatal(err)
	}
	run(func(c *codex.Client) error { // a server compresses old files once, at the first request
		if err := c.Call(t.Context(), "rollout/compress", nil, nil); err != nil {
			return err
		}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			if _, err := os.Stat(files[0]); err != nil {
				return nil // it is compressed
			}
			select {
			case <-t.Context().Done():
				return t.Context().Err()
			case <-tick.C:
			}
		}
	})
	c, err := rollout.Open(home.Codex).Read(t.Context(), id)
	if err != nil || !strings.HasSuffix(c.Path, ".jsonl.zst") || !c.Archived || len(c.Turns) != 1 || c.Preview != "look" || c.Usage == nil {
		t.Fatalf("%+v, %v; want err == nil and strings.HasSuffix(c.Path, \".jsonl.zst\") and c.Archived and len(c.Turns) == 1 and c.Preview == \"look\" and c.Usage != nil", c, err)
	}
}

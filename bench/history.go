package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// historied is the output of a side; consumer/history.go has the same, ts/consumer.mjs the first
// two.
type historied struct {
	Sessions  int     `json:"sessions"`
	ListS     float64 `json:"list_s"`
	AgainS    float64 `json:"again_s"`
	SearchS   float64 `json:"search_s"`
	LastS     float64 `json:"last_s"`
	LastBytes int64   `json:"last_bytes"`
	LastCount int     `json:"last_count"`
}

// historyRows are the rows about session files.
var historyRows = []string{"list_sessions_s", "list_again_s", "search_rare_s", "last_100_ms", "last_100_read_percent"}

// bigBytes is the size of the session that is opened at its end.
const bigBytes = 500 << 20

// prepareHistory writes the sessions of the usage rows, and a large one.
func (b *bench) prepareHistory(ctx context.Context) error {
	dir, manifest, err := ensureCorpus(ctx, b.cache, b.scale)
	if err != nil {
		return err
	}
	b.usage.dir = dir
	b.big = filepath.Join(dir+"-big", "projects", "-work", "10000000-0000-4000-8000-000000000000.jsonl")
	b.notef("lists and searches: %d files, %.2f GB", manifest.Files, float64(manifest.Bytes)/1e9)
	if err := b.writeBig(int64(float64(bigBytes) * b.scale)); err != nil {
		return err
	}
	return readTree(ctx, dir)
}

// writeBig writes a long session unless it exists.
func (b *bench) writeBig(size int64) error {
	if info, err := os.Stat(b.big); err == nil && info.Size() >= size {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(b.big), 0o700); err != nil {
		return err
	}
	f, err := os.Create(b.big + ".part")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	text, parent := strings.Repeat("All work and no play. ", 180), "null"
	var written int64
	for i := 0; written < size; i++ {
		id := fmt.Sprintf(`"20000000-0000-4000-8000-%012d"`, i)
		role, content := "user", fmt.Sprintf(`"%d %s"`, i, text)
		if i%2 == 1 {
			role, content = "assistant", fmt.Sprintf(`[{"type":"text","text":"%d %s"}]`, i, text)
		}
		n, _ := fmt.Fprintf(w, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"content":%s},"uuid":%s,"timestamp":"2026-01-01T00:00:00.000Z",`+
			`"cwd":"/work","sessionId":"10000000-0000-4000-8000-000000000000","version":"2.1.325"}`+"\n", parent, role, role, content, id)
		parent, written = id, written+int64(n)
	}
	if err := w.Flush(); err != nil { // reports the first error of all writes
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(b.big+".part", b.big)
}

// historyRound runs one list on every side; searching and opening have no peer.
func (b *bench) historyRound(ctx context.Context) error {
	env := b.env("CLAUDE_CONFIG_DIR=" + b.usage.dir)
	sessions := -1
	for _, s := range b.sides {
		argv := append(slices.Clone(s.argv), b.firehose, "history")
		switch s.name {
		case "parley":
			argv = append(slices.Clone(s.argv), "history", "-big", b.big)
		case "python":
			continue
		}
		var got historied
		if err := b.measureIn(ctx, argv, env, &got); err != nil {
			return err
		}
		if sessions >= 0 && got.Sessions != sessions {
			return fmt.Errorf("%s lists %d sessions, not %d", s.name, got.Sessions, sessions)
		}
		sessions = got.Sessions
		b.logf("  %-8s %8.3f s for %d sessions", s.name, got.ListS, got.Sessions)
		b.add("list_sessions_s", s.name, got.ListS)
		if s.name != "parley" {
			b.add("list_again_s", s.name, got.ListS)
			continue
		}
		if err := b.addHistory(&got); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) addHistory(got *historied) error {
	info, err := os.Stat(b.big)
	if err != nil {
		return err
	}
	if got.LastCount != 100 {
		return fmt.Errorf("the last page has %d messages", got.LastCount)
	}
	b.add("list_again_s", "parley", got.AgainS)
	b.add("search_rare_s", "parley", got.SearchS)
	b.add("last_100_ms", "parley", got.LastS*1000)
	b.add("last_100_read_percent", "parley", 100*float64(got.LastBytes)/float64(info.Size()))
	return nil
}

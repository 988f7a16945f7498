package transcript

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seeds are small sessions of every shape.
func seeds(f *testing.F) {
	for _, shape := range shapes {
		g := &growing{t: &testing.T{}}
		shape(g, 3)
		if text := strings.Join(g.lines, "\n") + "\n"; len(text) < 8<<10 {
			f.Add([]byte(text), byte(0))
		}
	}
}

// FuzzSession runs every reader on an arbitrary file. A reader must not panic, and its number of
// steps must be linear in the size of the file.
func FuzzSession(f *testing.F) {
	seeds(f)
	config := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte, which byte) {
		d := Open(config)
		path := filepath.Join(d.projects(), "-p", growthID+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s := d.sessionAt(path)
		for _, name := range []string{"list", "conversation", "tree", "page", "page from the start", "search", "doctor", "repair"} {
			var steps int64
			_ = readers[name](context.WithValue(t.Context(), stepCounter{}, &steps), s) // an empty file is not a session
			if limit := 200*int64(len(text)) + 2000; steps > limit {
				t.Errorf("%s takes %d steps for %d bytes", name, steps, len(text))
			}
		}
		w := newWork(t.Context())
		var tree []Entry
		for e := range s.Entries(t.Context()) {
			if l := linkOrNil(e); l != nil && l.UUID != "" && !l.IsSidechain {
				tree = append(tree, e)
			}
		}
		if len(tree) > 0 {
			_, _ = cutAt(w, tree, LinkOf(tree[int(which)%len(tree)]).UUID) // it may not be a message
		}
	})
}

// FuzzIndex reads an arbitrary file as an index: it is broken and thus empty, or encoding it again
// gives the same content.
func FuzzIndex(f *testing.F) {
	ix := &Index{records: map[string]*indexRecord{"/p/x.jsonl": {start: true, info: &Info{Summary: "s"}}, "/p/y.jsonl": {}}}
	f.Add(strings.TrimPrefix(string(ix.encode()), indexHeader))
	f.Add("")
	f.Fuzz(func(t *testing.T, body string) {
		ix := &Index{records: map[string]*indexRecord{}}
		ix.decode(body)
		again := &Index{records: map[string]*indexRecord{}}
		again.decode(strings.TrimPrefix(string(ix.encode()), indexHeader))
		if len(again.records) != len(ix.records) {
			t.Errorf("%d records become %d", len(ix.records), len(again.records))
		}
		for path, r := range ix.records {
			if o := again.records[path]; o == nil || o.stamp != r.stamp || (o.info == nil) != (r.info == nil) {
				t.Errorf("%q is not the same when it is read again", path)
			}
		}
	})
}

// FuzzSide reads an arbitrary file as each of the sidecars of a session.
func FuzzSide(f *testing.F) {
	for _, text := range []string{`{"customTitle":"x"}`, `{"archived":true,"at":"2026-11-01T10:00:00.000Z"}`, `{"toolUseId":"t"}`, `{"pid":1,"sessionId":"x"}`,
		`{"sessionId":"` + growthID + `","projectKey":"..","deletedAt":"2026-11-01T10:00:00Z"}`, `{"sessionId":"` + growthID + `","projectKey":"","deletedAt":"2026-11-01T10:00:00Z"}`, `{"cleanupPeriodDays":1e99}`, "\x1f\x8b\x08"} {
		f.Add([]byte(text))
	}
	config := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		d := Open(config)
		side := filepath.Join(d.projects(), "-p", growthID)
		for _, name := range []string{
			side + ".jsonl", side + "/custom-title.json", side + "/archived.json", side + "/subagents/agent-x.meta.json", side + "/subagents/agent-x.jsonl",
			config + "/sessions/1.json", config + "/parley-trash/x/deleted.json", config + "/parley-trash/x/" + growthID + ".jsonl", config + "/settings.json",
			config + "/archive/saves/x.json.gz",
		} {
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := d.sessionAt(side + ".jsonl")
		_, _ = s.Info(t.Context())
		_, _ = s.Subagents()
		d.Live(growthID)
		d.Retention()
		list, err := d.Trash()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			if filepath.Dir(filepath.Join(d.projects(), x.ProjectKey)) != d.projects() {
				t.Errorf("it would be restored to %q", x.ProjectKey)
			}
		}
		_, _ = OpenArchive(config + "/archive").Files()
	})
}

package eventlog

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzMeta repairs an arbitrary configuration of a stream with events and an arbitrary format file. Afterwards both are
// valid and no event is lost.
func FuzzMeta(f *testing.F) {
	f.Add([]byte(`{}`), []byte("x"), []byte("1\n"))
	f.Add([]byte{}, []byte{}, []byte{})
	f.Add([]byte(`{"name":"EVENTS","storage":"file"}`), []byte("0123456789abcdef"), []byte("-1"))
	f.Fuzz(func(t *testing.T, config, sum, format []byte) {
		o := &Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), Now: time.Now}
		d := &dataDir{path: o.Dir}
		stream := ""
		for _, want := range streamConfigs(o) {
			if _, ok := blockStreams[want.Name]; ok {
				stream = want.Name
			}
		}
		msgs := filepath.Join(d.streamDir(stream), "msgs")
		if err := os.MkdirAll(msgs, 0o700); err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{
			filepath.Join(d.streamDir(stream), metaFiles[0]): config, filepath.Join(d.streamDir(stream), metaFiles[1]): sum,
			filepath.Join(d.path, formatName): format, filepath.Join(msgs, "1.blk"): []byte("x"),
		}
		for name, data := range files {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before, err := d.badState()
		if err != nil {
			t.Fatal(err)
		}
		if err := d.mendMeta(o); err != nil {
			t.Fatal(err)
		}
		if err := d.mendFormat(o); err != nil {
			t.Fatal(err)
		}
		if after, err := d.badState(); err != nil || after != 0 {
			t.Errorf("of %d damaged files %d (%v) are left, want none", before, after, err)
		}
		if err := d.checkFormat(); err != nil {
			t.Logf("the format is newer: %v", err)
		}
		aside, _ := os.ReadDir(filepath.Join(d.path, damagedName))
		if before > 0 && len(config)*len(sum)*len(format) > 0 && len(aside) == 0 {
			t.Error("a damaged file was replaced, and its content is gone")
		}
	})
}

package usage

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// FuzzScan reads an arbitrary file as a transcript, at once and in two parts: the answers are the
// same.
func FuzzScan(f *testing.F) {
	f.Add([]byte(line(nil)+"\n"+line(nil)), 40)
	f.Add([]byte("{}\n\n{\"type\":\"cost-state\",\"x\":1}\n["), 3)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		path := filepath.Join(dir, "projects", "-p", "s.jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write := func(b []byte) {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(text)
		whole, err := Scan(context.Background(), Options{ConfigDirs: []string{dir}, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		whole.Report(ByDay, View{})
		whole.Reconcile(View{})
		cut = max(0, cut) % (len(text) + 1)
		// A part that ends in a complete line without its line feed would be read as complete.
		cut = bytes.LastIndexByte(text[:cut], '\n') + 1
		write(text[:cut])
		parts, err := Scan(context.Background(), Options{ConfigDirs: []string{dir}, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		write(text)
		if err := parts.Update(context.Background()); err != nil {
			t.Fatal(err)
		}
		if a, b := whole.Report(ByModel, View{}).Total.Sum.Tokens, parts.Report(ByModel, View{}).Total.Sum.Tokens; a != b {
			t.Errorf("at once %+v, in two parts %+v", a, b)
		}
	})
}

// FuzzPrices reads an arbitrary text as a table of prices.
func FuzzPrices(f *testing.F) {
	f.Add([]byte(`{"models":{"m":{"input":1,"output":2}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ReadPrices(bytes.NewReader(text))
		if err == nil {
			p.Of("claude-opus-5-5")
		}
	})
}

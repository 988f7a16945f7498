package eventlog

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzCheckpoint reads arbitrary files of a checkpoint and a journal: it does not panic, the maps
// are not nil, and the damage has a text.
func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte(`{"lasts":{"s":3},"damage":[{"session":"s","from":1,"to":2,"reason":"x"}]}`), []byte("00000000 s 4\n"))
	f.Add([]byte(`{`), []byte(""))
	f.Add([]byte{}, []byte("\x00\n\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, base, journal []byte) {
		d := &dataDir{path: dir}
		for name, data := range map[string][]byte{baseName: base, journalName: journal} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := readBase(filepath.Join(dir, baseName))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.readJournal(c); err != nil {
			t.Fatal(err)
		}
		if c.Lasts == nil || c.Purged == nil {
			t.Fatalf("a checkpoint without maps: %+v", c)
		}
		for _, one := range c.Damage {
			_ = one.String()
		}
		c.accept(nil)
		c.forgettable()
	})
}

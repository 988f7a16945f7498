package textfile_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/textfile"
)

func TestRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	for content, want := range map[string]string{"": "", "x": "x", "\ufeffx\ufeff": "x\ufeff", "\ufeff": "", "\xef\xbb": "\xef\xbb", "\ufeff\ufeffx": "\ufeffx", "x\ufeff": "x\ufeff"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := textfile.Read(file); err != nil || string(got) != want {
			t.Errorf("Read of %q returns %q, %v; want %q", content, got, err, want)
		}
		if got, err := io.ReadAll(textfile.Reader(strings.NewReader(content))); err != nil || string(got) != want {
			t.Errorf("Reader of %q returns %q, %v; want %q", content, got, err, want)
		}
	}
	if _, err := textfile.Read(file + ".missing"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v, want %v", err, os.ErrNotExist)
	}
}

package export

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var errKilled = errors.New("killed")

// dyingDisk performs a number of steps, the last one half if it is a write, and then fails.
type dyingDisk struct {
	osDisk
	left int
}

func (d *dyingDisk) step() bool { d.left--; return d.left >= 0 }

func (d *dyingDisk) CreateTemp(dir, pattern string) (tempFile, error) {
	if !d.step() {
		return nil, errKilled
	}
	f, err := d.osDisk.CreateTemp(dir, pattern)
	return &dyingFile{f, d}, err
}

func (d *dyingDisk) Link(from, to string) error {
	if !d.step() {
		return errKilled
	}
	return d.osDisk.Link(from, to)
}

func (d *dyingDisk) Rename(from, to string) error {
	if !d.step() {
		return errKilled
	}
	return d.osDisk.Rename(from, to)
}

func (d *dyingDisk) Remove(path string) error {
	if !d.step() {
		return errKilled
	}
	return d.osDisk.Remove(path)
}

type dyingFile struct {
	tempFile
	d *dyingDisk
}

func (f *dyingFile) Write(p []byte) (int, error) {
	if !f.d.step() {
		return 0, errKilled
	}
	if f.d.left == 0 {
		n, _ := f.tempFile.Write(p[:len(p)/2])
		return n, errKilled
	}
	return f.tempFile.Write(p)
}

// TestKilledAnywhere stops the writing of a file at every step: the file is complete, either the
// old one or the new one.
func TestKilledAnywhere(t *testing.T) {
	const steps = 12
	content := strings.Repeat("new content\n", 20_000) // several writes
	for _, mayReplace := range []bool{false, true} {
		for left := range steps {
			path := filepath.Join(t.TempDir(), "out.html")
			if mayReplace {
				if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := writeWhole(&dyingDisk{left: left}, path, mayReplace, func(w io.Writer) error {
				_, err := io.Copy(w, strings.NewReader(content))
				return err
			})
			got, readErr := os.ReadFile(path)
			switch {
			case string(got) == content:
			case mayReplace && string(got) == "old" && err != nil:
			case !mayReplace && readErr != nil && err != nil:
			default:
				t.Errorf("after %d steps there are %d bytes, and %v", left, len(got), err)
			}
			if left == steps-1 && err != nil {
				t.Errorf("it takes more than %d steps: %v", steps, err)
			}
		}
	}
}

package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestPieceWithWrongContent reads a piece that holds the content of another checksum: the piece is damaged.
func TestPieceWithWrongContent(t *testing.T) {
	a := OpenArchive(t.TempDir())
	one, two := sumOf([]byte("one")), sumOf([]byte("two"))
	for _, text := range []string{"one", "two"} {
		if err := a.savePiece(&savedFile{}, sumOf([]byte(text)), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := a.piece(one); err != nil || string(got) != "one" {
		t.Fatalf("%q, %v; want err == nil and string(got) == \"one\"", got, err)
	}
	data, err := os.ReadFile(a.piecePath(two))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.piecePath(one), data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = a.piece(one)
	var damage *DamageError
	if !errors.As(err, &damage) || !errors.Is(err, errWrongSum) || filepath.Base(damage.Path) != filepath.Base(a.piecePath(one)) {
		t.Errorf("the error is %v", err)
	}
}

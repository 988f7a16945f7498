package joined

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// marksFile is the name of the file in the host's directory with the secret from which marks are
// computed.
const marksFile = "marks"

// maxMarks limits the size of that file.
const maxMarks = 1 << 10

// marks returns the function that computes the marks of sessions. Marks are the same after a
// restart, because agents continue to run, and a server cannot compute them.
func marks(dir string) (func(session string) string, error) {
	name := filepath.Join(dir, marksFile)
	secret, err := regularfile.ReadNoFollow(name, maxMarks)
	if errors.Is(err, fs.ErrNotExist) {
		secret = []byte(random.Hex(32))
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = os.WriteFile(name, secret, 0o600)
		}
	}
	if err == nil && len(secret) < 32 {
		err = errors.New(name + " is incomplete; remove it")
	}
	if err != nil {
		return nil, err
	}
	return func(session string) string {
		if session == "" {
			return ""
		}
		h := hmac.New(sha256.New, secret)
		h.Write([]byte(session))
		return hex.EncodeToString(h.Sum(nil)[:16])
	}, nil
}

package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed7221b0f9/parley/internal/filelock"
)

// NextEpoch returns an epoch for [Dial] that is higher than all earlier ones of the data directory. It is on disk
// when NextEpoch returns. Several processes may call it at once.
func NextEpoch(dataDir string) (uint64, error) {
	dir := filepath.Join(dataDir, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	return counter(filepath.Join(dir, epochName)).increase(anyNumber)
}

// RenewEpoch is [NextEpoch] for an owner that has lost its connection. It returns [ErrFenced] if
// another owner has since taken an epoch.
func RenewEpoch(dataDir string, epoch uint64) (uint64, error) {
	return counter(filepath.Join(dataDir, folder, epochName)).increase(func(last uint64) error {
		if last != epoch {
			return fmt.Errorf("%w: %d, and this owner had %d", ErrFenced, last, epoch)
		}
		return nil
	})
}

// counter is a file with a number.
type counter string

// anyNumber allows every number.
func anyNumber(uint64) error { return nil }

// increase increments the number in the file and returns it, unless allowed returns an error for
// the current number.
func (c counter) increase(allowed func(uint64) error) (uint64, error) {
	f, err := filelock.Lock(string(c))
	if err != nil {
		return 0, err
	}
	n, err := nextNumber(f.File, allowed)
	return n, errors.Join(err, f.Unlock())
}

func nextNumber(f *os.File, allowed func(uint64) error) (uint64, error) {
	var text [20]byte
	length, _ := f.ReadAt(text[:], 0)
	n, err := strconv.ParseUint(string(text[:length]), 10, 64)
	if length > 0 && err != nil {
		return 0, fmt.Errorf("%s does not contain a number: %w", f.Name(), err)
	}
	if err := allowed(n); err != nil {
		return 0, err
	}
	n++
	// A fixed number of digits, so that one write replaces the number.
	if _, err := f.WriteAt(fmt.Appendf(nil, "%020d", n), 0); err != nil {
		return 0, err
	}
	return n, f.Sync()
}

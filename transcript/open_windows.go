package transcript

import (
	"fmt"
	"io/fs"
	"os"
)

// openRegular opens a session file for reading. A link is not followed.
func openRegular(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: %w", path, fs.ErrInvalid)
	}
	return os.Open(path)
}

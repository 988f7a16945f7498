package claude

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// scratch manages files that are removed when their process ends.
type scratch struct {
	dir   string // "" means the system's
	owner string // the user who reads the files; "" means the user of this process
	paths []string
}

// file writes a value to a file that only the owner can read. It returns an absolute
// path, because the CLI may run in another directory.
func (s *scratch) file(name, value string) (string, error) {
	path, err := s.write(name, value)
	if err != nil {
		return "", fmt.Errorf("claude: a file for %s: %w", name, err)
	}
	return path, nil
}

func (s *scratch) write(name, value string) (string, error) {
	f, err := os.CreateTemp(s.dir, "parley-"+name+"-*.json") // mode 0600
	if err != nil {
		return "", err
	}
	s.paths = append(s.paths, f.Name())
	_, err = f.WriteString(value)
	if err == nil && s.owner != "" {
		err = giveTo(f, s.owner)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(f.Name())
}

// flagValue writes a JSON value of any length to a file and returns its path, because
// every user of the machine can read the arguments of a process and JSON can hold
// secrets. It returns other values unchanged: they are paths or "".
func (s *scratch) flagValue(name, value string) (string, error) {
	if !inlineJSON(value) {
		return value, nil
	}
	return s.file(name, value)
}

// inlineJSON reports whether the value of a flag that takes a file or JSON is JSON.
func inlineJSON(value string) bool {
	return strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(value, "\ufeff")), "{")
}

func (s *scratch) remove() {
	for _, p := range s.paths {
		os.Remove(p)
	}
	s.paths = nil
}

// giveTo changes the owner of a file to another user, who alone can then read it.
func giveTo(f *os.File, name string) error {
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.LookupId(name); err != nil {
			return err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	return f.Chown(uid, gid)
}

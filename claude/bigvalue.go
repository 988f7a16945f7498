package claude

import (
	"fmt"
	"os"
)

// maxFlagValue is the length over which a value does not go onto the command
// line: the system bounds an argument, and everybody can read it there.
const maxFlagValue = 16 << 10

// scratch are files that live as long as the process they were made for.
type scratch struct {
	dir   string // "" is the system's
	paths []string
}

// file writes a value to a file that only this user can read and returns its
// path.
func (s *scratch) file(name, value string) (string, error) {
	f, err := os.CreateTemp(s.dir, "parley-"+name+"-*.json") // mode 0600
	if err != nil {
		return "", fmt.Errorf("claude: a file for %s: %w", name, err)
	}
	s.paths = append(s.paths, f.Name())
	_, err = f.WriteString(value)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return "", fmt.Errorf("claude: a file for %s: %w", name, err)
	}
	return f.Name(), nil
}

// flagValue is the value itself, or the path of a file that holds it when it is
// too long for a flag.
func (s *scratch) flagValue(name, value string) (string, error) {
	if len(value) <= maxFlagValue {
		return value, nil
	}
	return s.file(name, value)
}

func (s *scratch) remove() {
	for _, p := range s.paths {
		os.Remove(p)
	}
	s.paths = nil
}

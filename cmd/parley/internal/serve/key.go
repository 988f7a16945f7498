package serve

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/textfile"
)

// keyVariable holds an API key for agents. It is not a flag, because all users can read
// arguments.
const keyVariable = "PARLEY_API_KEY"

// maxKeyFile limits the size of a key file.
const maxKeyFile = 4096

// key returns the API key that agents use without knowing it, or "". The process hides its memory and
// environment from other processes of the same user, if the system supports that.
func (f *Settings) key() (string, error) {
	key := os.Getenv(keyVariable)
	if err := os.Unsetenv(keyVariable); err != nil { // child processes do not inherit it
		return "", err
	}
	if f.apiKeyFile != "" {
		if key != "" {
			return "", term.Usagef("--api-key-file and %s are both set", keyVariable)
		}
		var err error
		if key, err = readKey(f.apiKeyFile); err != nil {
			return "", err
		}
	}
	if key == "" {
		if f.apiUpstream != "" {
			return "", term.Usagef("--api-upstream is for a key: see --api-key-file")
		}
		return "", nil
	}
	if err := proc.Hide(); err != nil {
		return "", fmt.Errorf("hiding the key from other processes: %w", err)
	}
	return key, nil
}

// readKey returns the key in a file.
func readKey(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(textfile.Trim(data)))
	if key == "" {
		return "", fmt.Errorf("%s holds no key", name)
	}
	return key, nil
}

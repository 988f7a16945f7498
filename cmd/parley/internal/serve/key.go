package serve

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server"
)

// keyVariable holds an API key for agents. It is not a flag, because all users can read
// arguments.
const keyVariable = "PARLEY_API_KEY"

// maxKeyFile limits the size of a key file.
const maxKeyFile = 4096

// key adds the API key that agents use without knowing it. The process hides its memory and
// environment from other processes of the same user, if the system supports that.
func (f *Settings) key(opts *server.Options) error {
	key := os.Getenv(keyVariable)
	if err := os.Unsetenv(keyVariable); err != nil { // child processes do not inherit it
		return err
	}
	if f.apiKeyFile != "" {
		if key != "" {
			return term.Usagef("--api-key-file and %s are both set", keyVariable)
		}
		file, err := os.Open(f.apiKeyFile)
		if err != nil {
			return err
		}
		defer file.Close()
		data, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
		if err != nil {
			return err
		}
		if key = strings.TrimSpace(string(data)); key == "" {
			return fmt.Errorf("%s holds no key", f.apiKeyFile)
		}
	}
	if key == "" {
		if f.apiUpstream != "" {
			return term.Usagef("--api-upstream is for a key: see --api-key-file")
		}
		return nil
	}
	if err := hideProcess(); err != nil {
		return fmt.Errorf("hiding the key from other processes: %w", err)
	}
	opts.APIKey, opts.APIUpstream = key, f.apiUpstream
	return nil
}

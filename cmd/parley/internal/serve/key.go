package serve

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server"
)

// keyVariable holds an API key for agents. It is not a flag: arguments are for everyone to see.
const keyVariable = "PARLEY_API_KEY"

// maxKeyFile bounds the file of a key.
const maxKeyFile = 4096

// key adds the API key that agents use without holding it. The process that has it hides its
// memory and environment from others of the same user, where the system can do that.
func (f *Settings) key(opts *server.Options) error {
	key := os.Getenv(keyVariable)
	if err := os.Unsetenv(keyVariable); err != nil { // nothing that is started inherits it
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

// Package remote finds a server, by its data directory on this machine or by its address, and calls
// it.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/internal/textfile"
)

// Flags select a server.
type Flags struct{ Server, Data string }

// Register adds the flags.
func (f *Flags) Register(p *pflag.FlagSet) {
	p.StringVar(&f.Server, "server", "", "address of the server (default: the one of --data; the token comes from PARLEY_TOKEN)")
	p.StringVar(&f.Data, "data", DefaultData(), "data directory of a server on this machine")
}

// maxToken limits the size of a token file in bytes.
const maxToken = 4 << 10

// ConnectWith returns a client of the server that uses only the token in a file.
func (f *Flags) ConnectWith(tokenFile string) (*client.Client, error) {
	address, err := f.address()
	if err != nil {
		return nil, err
	}
	data, err := regularfile.Read(tokenFile, maxToken)
	if err != nil {
		return nil, fmt.Errorf("the file with the token: %w", err)
	}
	address, _, _ = strings.Cut(address, "#")
	return client.New(client.Options{URL: address, Token: strings.TrimSpace(string(textfile.Trim(data)))})
}

// address returns the address of the server, and its token if it runs on this machine.
func (f *Flags) address() (string, error) {
	if f.Server != "" {
		return f.Server, nil
	}
	address, err := readAddress(f.Data)
	if err != nil {
		return "", fmt.Errorf("no server runs with the data in %s; name one with --server", f.Data)
	}
	return address, nil
}

// Connect returns a client of the server.
func (f *Flags) Connect() (*client.Client, error) {
	address, err := f.address()
	if err != nil {
		return nil, err
	}
	opts := client.Options{URL: address}
	if !strings.Contains(address, "#token=") {
		opts.Token = os.Getenv("PARLEY_TOKEN")
		if own := f.local(); opts.Token == "" && own != "" {
			opts.URL = own
		} else if opts.Token == "" {
			return nil, fmt.Errorf("no token for %s: set PARLEY_TOKEN to the one that the server has printed, or to a new one of parley token create", address)
		}
	}
	return client.New(opts)
}

// local returns the address with its token if --server names the server of this machine, or "".
func (f *Flags) local() string {
	data := cmp.Or(f.Data, DefaultData())
	if Address(data) != strings.TrimRight(f.Server, "/") {
		return ""
	}
	address, _ := readAddress(data)
	return address
}

// The time limits of a command for a server.
const (
	reachLimit = 10 * time.Second       // for a response
	reachAgain = 3 * time.Second        // for a starting server to open its port
	reachPause = 250 * time.Millisecond // between two attempts
)

// Reach returns an error if no server answers. A client retries calls until their context ends, so
// that a session survives a restart of its server; with a wrong address a user would wait that
// long.
func Reach(ctx context.Context, c *client.Client) error { return reach(ctx, c.URL(), reachAgain) }

func reach(ctx context.Context, address string, again time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/livez", nil)
	if err != nil {
		return err
	}
	for start := time.Now(); ; {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			return resp.Body.Close() // any response counts, even from a proxy
		}
		if time.Since(start) < again {
			select {
			case <-time.After(reachPause):
				continue
			case <-ctx.Done():
			}
		}
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the text already contains the address
		}
		return fmt.Errorf("no server answers at %s: %w", address, err)
	}
}

// callLimit is the timeout of a method call.
const callLimit = 2 * time.Minute

// Call calls a method.
func Call(ctx context.Context, c *client.Client, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	return c.Call(ctx, method, params, result)
}

// The files of a data directory.
const (
	LogDir      = "log"
	ServerDir   = "server"
	addressName = "address" // the address of the server, with its token
	maxAddress  = 64 << 10  // maximum size of that file
)

// DefaultData returns the default data directory of a server.
func DefaultData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "parley")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ".parley"
	}
	return filepath.Join(home, ".local", "share", "parley")
}

// DefaultArchive returns the default archive of transcripts.
func DefaultArchive() (string, error) {
	if dir := os.Getenv("PARLEY_ARCHIVE"); dir != "" {
		return dir, nil
	}
	data, err := dataDir()
	return filepath.Join(data, "parley", "archive"), err
}

// dataDir returns the user's directory for persistent data.
func dataDir() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return os.UserConfigDir()
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "share"), nil
}

// readAddress returns the address of the server of a data directory, with its token.
func readAddress(data string) (string, error) {
	text, err := regularfile.Read(filepath.Join(data, addressName), maxAddress)
	return strings.TrimSpace(string(text)), err
}

// Address returns the address of the server of a data directory without its token, or "".
func Address(data string) string {
	text, _ := readAddress(data)
	url, _, _ := strings.Cut(text, "/#")
	return url
}

// Remember writes the address of a server with its token to a file for other commands of the same
// user, and returns the function that removes it.
func Remember(data, address string) (forget func(), err error) {
	name := filepath.Join(data, addressName)
	_ = os.Remove(name) // do not follow a symbolic link
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(address + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return func() { _ = os.Remove(name) }, nil
}

// Package remote finds a server, of this machine by its data directory or of another by its
// address, and calls it.
package remote

import (
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
)

// Flags name a server.
type Flags struct{ Server, Data string }

// Register adds the flags.
func (f *Flags) Register(p *pflag.FlagSet) {
	p.StringVar(&f.Server, "server", "", "address of the server (default: the one of --data; the token comes from PARLEY_TOKEN)")
	p.StringVar(&f.Data, "data", DefaultData(), "data directory of a server on this machine")
}

// Connect returns a client of the server.
func (f *Flags) Connect() (*client.Client, error) {
	address := f.Server
	if address == "" {
		var err error
		if address, err = readAddress(f.Data); err != nil {
			return nil, fmt.Errorf("no server runs with the data in %s; name one with --server", f.Data)
		}
	}
	opts := client.Options{URL: address}
	if !strings.Contains(address, "#token=") {
		if opts.Token = os.Getenv("PARLEY_TOKEN"); opts.Token == "" {
			return nil, errors.New("there is no token; set PARLEY_TOKEN")
		}
	}
	return client.New(opts)
}

// How long a command waits for a server.
const (
	reachLimit = 10 * time.Second       // for an answer
	reachAgain = 3 * time.Second        // in which a server that is starting may open its port
	reachPause = 250 * time.Millisecond // between two attempts
)

// Reach returns an error if no server answers. The calls of a client are repeated until their
// context ends, so that a session survives a restart of its server; a user who gave a wrong
// address would wait as long.
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
			return resp.Body.Close() // a proxy that answers otherwise is an answer too
		}
		if time.Since(start) < again {
			select {
			case <-time.After(reachPause):
				continue
			case <-ctx.Done():
			}
		}
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the address, which the text has already
		}
		return fmt.Errorf("no server answers at %s: %w", address, err)
	}
}

// callLimit bounds a call of a command.
const callLimit = 2 * time.Minute

// Call calls a method.
func Call(ctx context.Context, c *client.Client, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	return c.Call(ctx, method, params, result)
}

// What a data directory holds.
const (
	LogDir      = "log"
	ServerDir   = "server"
	addressName = "address" // where the server is, with its token
	maxAddress  = 64 << 10  // the size of that file
)

// DefaultData is the data directory of a server where none is named.
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

// DefaultArchive is the archive of transcripts where none is named.
func DefaultArchive() (string, error) {
	if dir := os.Getenv("PARLEY_ARCHIVE"); dir != "" {
		return dir, nil
	}
	data, err := dataDir()
	return filepath.Join(data, "parley", "archive"), err
}

// dataDir is where programs keep what is to stay.
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

// Address returns the address of the server of a data directory without its token, "" if there is
// none.
func Address(data string) string {
	text, _ := readAddress(data)
	url, _, _ := strings.Cut(text, "/#")
	return url
}

// Remember writes the address of a server with its token where other commands of the same user find
// it, and returns the function that removes it.
func Remember(data, address string) (forget func(), err error) {
	name := filepath.Join(data, addressName)
	_ = os.Remove(name) // a link of someone else is not followed
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

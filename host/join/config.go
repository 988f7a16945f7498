package join

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/host"
)

// Config configures a machine that joins a server. Server, Token, Registration.Name, DataDir and
// Policy are required.
type Config struct {
	// Server is the address of the server: https://, or http:// for a server on this machine.
	Server string
	Token  string
	// Registration describes the machine and its offer. Run sets Version and System.
	Registration host.Registration
	// DataDir is the data directory of the machine. The host uses a folder in it; see [HostDir].
	DataDir string
	// Executable is the program that becomes the host; see [host.Start]. HostOptions configures the
	// host.
	Executable  string
	HostOptions host.Options
	Policy      host.Policy
	// OnState, unless it is nil, is called after every change of the link, sequentially.
	OnState func(State)
	Logger  *slog.Logger

	times times // zero fields have the values of the constants
}

// State is the state of the link between the machine and its server.
type State struct {
	// Joined is true while the machine has joined. Otherwise Err is the reason why the last attempt
	// or the link has ended, and Next is the pause before the next attempt.
	Joined bool
	Err    error
	Next   time.Duration
}

// The times of a link. The pause between attempts starts at MinPause, doubles after every failed
// attempt up to MaxPause, and is reset by a link that has lasted for MaxPause. Up to half of a
// pause is random.
const (
	MinPause     = 200 * time.Millisecond
	MaxPause     = 15 * time.Second
	RefusedPause = 30 * time.Second // after a registration that the server has refused
	PingEvery    = 10 * time.Second // between a pong and the next ping
	PongWithin   = 15 * time.Second // timeout of a ping
	DialWithin   = 15 * time.Second // timeout of the connection, the handshakes and the registration
)

// times holds the times of a link, so that tests can change them.
type times struct{ min, max, refused, ping, pong, dial time.Duration }

func (t times) withDefaults() times {
	return times{cmp.Or(t.min, MinPause), cmp.Or(t.max, MaxPause), cmp.Or(t.refused, RefusedPause),
		cmp.Or(t.ping, PingEvery), cmp.Or(t.pong, PongWithin), cmp.Or(t.dial, DialWithin)}
}

// check validates a configuration and sets its defaults.
func (c *Config) check() error {
	address, err := normalize(c.Server)
	if err != nil {
		return err
	}
	switch {
	case c.Token == "" || strings.ContainsAny(c.Token, "\r\n \t"):
		return fmt.Errorf("%w: the token is empty or has spaces", ErrConfig)
	case c.Registration.Name == "":
		return fmt.Errorf("%w: the machine has no name", ErrConfig)
	case c.DataDir == "" || c.Policy == nil:
		return fmt.Errorf("%w: no data directory or no policy", ErrConfig)
	}
	c.Server, c.times = address, c.times.withDefaults()
	c.Registration.Version, c.Registration.System = host.Version, runtime.GOOS+"/"+runtime.GOARCH
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.OnState == nil {
		c.OnState = func(State) {}
	}
	return nil
}

// normalize returns the canonical form of a server's address. It refuses an address that would send
// the token without encryption.
func normalize(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("%w: the address of the server: %w", ErrConfig, err)
	}
	switch {
	case u.Host == "" || u.Hostname() == "":
		return "", fmt.Errorf("%w: %q is not the address of a server, such as https://parley.example.com", ErrConfig, server)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%w: the address of the server has a user, a query or a fragment", ErrConfig)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return "", fmt.Errorf("%w: %s would get the token without encryption; the address must begin with https://", ErrConfig, u.Host)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("%w: the address of the server begins with %s://, not https://", ErrConfig, u.Scheme)
	}
	name := strings.TrimSuffix(strings.ToLower(u.Host), map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
	return u.Scheme + "://" + name + strings.TrimRight(u.EscapedPath(), "/"), nil
}

// loopback reports whether a host name refers to this machine.
func loopback(name string) bool {
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.IsLoopback()
}

// HostDir returns the data directory of the host for a server, below the data directory of the
// machine.
func HostDir(dataDir, server string) (string, error) {
	address, err := normalize(server)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(dataDir, "joined", hex.EncodeToString(sum[:8])), nil
}

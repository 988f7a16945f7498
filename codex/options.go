package codex

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/spawn"
)

// Options configures a [Client]. The zero value runs the first codex in PATH, with the user's
// configuration, and declines all requests of the server.
type Options struct {
	// Path is the codex program. Empty means the first codex in PATH.
	Path string
	// Args precede "app-server", for global options of codex.
	Args []string
	// Config overrides values of config.toml for this server, by dotted key. Values may be of the
	// types string, bool, int, int64, float64, []string and []int. They go on the command line,
	// which other users of the machine can read, so they must not be secrets.
	Config map[string]any
	// Dir is the server's working directory; empty means that of this process.
	Dir string
	// Env is the server's complete environment, "KEY=value"; nil means that of this process.
	Env []string
	// Home is CODEX_HOME, which must exist; empty uses the environment.
	Home string
	// Spawner starts the process; nil starts a child of this one.
	Spawner Spawner
	// Supervisor is the path of a parley command. On Linux the server then runs below a small process of
	// that command, which kills everything that the server has started when the server ends, even if this
	// process is killed. Without it, leftover processes are found by their process group, by their parent
	// and by a mark in their environment: a process in another session with an empty environment (env -i
	// setsid) survives the server. KeepChildren spares processes outside of the server's process group; no
	// supervisor is used then. Neither has an effect with a Spawner.
	Supervisor   string
	KeepChildren bool

	// ClientName, ClientTitle and ClientVersion identify the client. An empty name is "parley".
	ClientName, ClientTitle, ClientVersion string
	// Experimental opts into the experimental API, which dynamic tools and some methods
	// need, and which changes without notice.
	Experimental bool
	// OptOut names notifications that the server should not send.
	OptOut []string

	// Approve decides whether a command, a patch, more permissions or a tool of an MCP server are
	// allowed. It runs on a separate goroutine; its context ends when the turn is interrupted,
	// another client answers, or the connection ends. Nil, an error, a panic and the end of
	// CallbackTimeout decline.
	Approve func(ctx context.Context, a *Approval) (Decision, error)
	// Ask answers questions of the agent, by the ids of the questions. Nil, an error and a panic
	// answer with an error, and the agent continues without an answer.
	Ask func(ctx context.Context, q *item.UserInputRequest) (map[string][]string, error)
	// Elicit answers questions of MCP servers. Nil, an error and a panic decline.
	Elicit func(ctx context.Context, e *item.ElicitationRequest) (Elicitation, error)
	// Handle answers requests without a specific callback, including unknown ones. Nil answers them
	// with an error, except for the request for the current time.
	Handle func(ctx context.Context, r item.Request) (result any, err error)

	// Observe is called with every line of both directions: with lines of the server in order and
	// before any other processing, with lines of the client before they are written. Calls do not
	// overlap. The client does not read while Observe runs, so it must not wait for the client. It
	// is for recorders and user interfaces.
	Observe func(l item.Line, client bool)
	// OnLine is called like Observe, with every line of a server that runs under a host: Spawner started a
	// [spawn.LineProcess], or [Adopt] returned the client. Lines of the client are passed in the host's order.
	OnLine func(l Line)
	// OnStderr is called with each line of the server's stderr, in order.
	OnStderr func(line string)
	// Logger receives warnings; nil means slog.Default.
	Logger *slog.Logger

	// HandshakeTimeout bounds the start up to the answer of initialize; 0 means 1 minute.
	HandshakeTimeout time.Duration
	// CallTimeout bounds a request if its context has no deadline; 0 means 2 minutes.
	CallTimeout time.Duration
	// CallbackTimeout bounds a callback; 0 means no timeout, so that only the server ends it.
	CallbackTimeout time.Duration
	// CloseGrace is the time that Close waits after closing the server's input before it kills the
	// process, and the time that it waits for callbacks; 0 means 5 seconds.
	CloseGrace time.Duration
	// MaxBuffered is the limit in bytes of unread notifications per reader. While a reader exceeds
	// it, the client stops reading from the server and drops no notification. A turn without a
	// reader yet loses its notifications instead: see [ErrOverflow]. 0 means 256 MiB.
	MaxBuffered int
}

// Spawner runs the server's process, here or elsewhere: in a container, over ssh, or as another
// user.
type Spawner = spawn.Spawner

func (o *Options) withDefaults() *Options {
	out := Options{}
	if o != nil {
		out = *o
	}
	setDefault(&out.HandshakeTimeout, time.Minute)
	setDefault(&out.CallTimeout, 2*time.Minute)
	setDefault(&out.CloseGrace, 5*time.Second)
	setDefault(&out.MaxBuffered, 256<<20)
	setDefault(&out.ClientName, "parley")
	setDefault(&out.ClientVersion, "0")
	if out.Logger == nil {
		out.Logger = slog.Default()
	}
	return &out
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// environment returns the server's environment.
func (o *Options) environment() []string {
	env := o.Env
	if env == nil {
		env = os.Environ()
	}
	if o.Home != "" {
		env = append(slices.Clone(env), "CODEX_HOME="+o.Home)
	}
	return env
}

// args returns the arguments of the process.
func (o *Options) args() ([]string, error) {
	args := slices.Clone(o.Args)
	for _, key := range slices.Sorted(maps.Keys(o.Config)) {
		value, err := tomlValue(o.Config[key])
		if err != nil {
			return nil, fmt.Errorf("codex: the option %s: %w", key, err)
		}
		args = append(args, "-c", key+"="+value)
	}
	return append(args, "app-server"), nil
}

// tomlValue writes a value as TOML. JSON is valid TOML for the allowed types.
func tomlValue(v any) (string, error) {
	switch v := v.(type) {
	case string, bool, int, int64, float64, []string, []int:
		b, err := json.Marshal(v)
		return string(b), err
	}
	return "", fmt.Errorf("a %T cannot be given on the command line", v)
}

// Program returns the path of the codex program that [Connect] would run with these options, or
// a *[NotFoundError].
func (o *Options) Program() (string, error) { return o.withDefaults().find() }

// find returns the program's path.
func (o *Options) find() (string, error) {
	name := cmp.Or(o.Path, variable(o.environment(), "PARLEY_CODEX"), "codex")
	if strings.ContainsAny(name, `/\`) {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return "", &NotFoundError{Tried: []string{name}}
		}
		return name, nil
	}
	if runtime.GOOS == "windows" && filepath.Ext(name) == "" {
		name += ".exe"
	}
	var tried []string
	for _, dir := range filepath.SplitList(variable(o.environment(), "PATH")) {
		if !filepath.IsAbs(dir) {
			continue // it would depend on the working directory
		}
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err == nil && !info.IsDir() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return file, nil
		}
		tried = append(tried, file)
	}
	return "", &NotFoundError{Tried: tried}
}

// variable returns the last value of a variable.
func variable(env []string, key string) (value string) {
	for _, e := range env {
		k, v, _ := strings.Cut(e, "=")
		if k == key || runtime.GOOS == "windows" && strings.EqualFold(k, key) {
			value = v
		}
	}
	return value
}

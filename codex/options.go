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
// configuration, and declines everything that the server asks for.
type Options struct {
	// Path is the codex program. Empty means the first codex in PATH.
	Path string
	// Args are put before "app-server", for options of codex itself.
	Args []string
	// Config overrides values of config.toml for this server, by dotted key. Values may be of the
	// types string, bool, int, int64, float64, []string and []int. They go on the command line,
	// which other users of the machine can read, so they must not be secrets.
	Config map[string]any
	// Dir is the server's working directory; empty means that of this process.
	Dir string
	// Env is the server's complete environment, "KEY=value"; nil means that of this process.
	Env []string
	// Home is CODEX_HOME, which must exist; empty leaves it to the environment.
	Home string
	// Spawner starts the process; nil starts a child of this one.
	Spawner Spawner
	// Supervisor is the path of a parley command. On Linux the server then runs below a small process of
	// it, which ends everything that the server has started when the server ends, also when this process
	// is killed. Without one, what the server has left is found by its process group, by its parent and by a
	// mark in its environment: a process in another session with an empty environment (env -i setsid)
	// outlives the server. KeepChildren leaves alone what is not in the server's process group; there is
	// no supervisor then. Neither has an effect with a Spawner.
	Supervisor   string
	KeepChildren bool

	// ClientName, ClientTitle and ClientVersion introduce the client. An empty name is
	// "parley".
	ClientName, ClientTitle, ClientVersion string
	// Experimental opts into the experimental API, which dynamic tools and some methods
	// need, and which changes without notice.
	Experimental bool
	// OptOut names notifications that the server shall not send.
	OptOut []string

	// Approve decides whether a command, a patch, more permissions or a tool of an MCP
	// server are allowed. It runs in a goroutine of its own; its context ends when the turn
	// is interrupted, another client answers, or the connection ends. Nil, an error, a panic
	// and the end of CallbackTimeout decline.
	Approve func(ctx context.Context, a *Approval) (Decision, error)
	// Ask answers questions of the agent, by the ids of the questions. Nil, an error and a
	// panic answer with an error, and the agent goes on without.
	Ask func(ctx context.Context, q *item.UserInputRequest) (map[string][]string, error)
	// Elicit answers questions of MCP servers. Nil, an error and a panic decline.
	Elicit func(ctx context.Context, e *item.ElicitationRequest) (Elicitation, error)
	// Handle answers requests that no other callback is for, including unknown ones. Nil answers
	// them with an error, except for the request for the current time.
	Handle func(ctx context.Context, r item.Request) (result any, err error)

	// Observe is called with every line of both directions: with those of the server in
	// their order and before anything else sees them, with those of the client before they
	// are written. Calls do not overlap. While it runs nothing is read, so it must not wait
	// for the client. It is for recorders and user interfaces.
	Observe func(l item.Line, client bool)
	// OnStderr is called with each line of the server's stderr, in order.
	OnStderr func(line string)
	// Logger is where warnings go; nil means slog.Default.
	Logger *slog.Logger

	// HandshakeTimeout bounds the start up to the answer of initialize; 0 means 1 minute.
	HandshakeTimeout time.Duration
	// CallTimeout bounds a request whose context has no deadline; 0 means 2 minutes.
	CallTimeout time.Duration
	// CallbackTimeout bounds a callback; 0 means that only the server ends it.
	CallbackTimeout time.Duration
	// CloseGrace is how long Close waits after it has closed the server's input before it
	// ends the process, and how long it waits for callbacks; 0 means 5 seconds.
	CloseGrace time.Duration
	// MaxBuffered is how many bytes of notifications are kept for one reader. While a reader has
	// more left to read, nothing is read from the server, and nothing is dropped. A turn that is
	// not being read yet loses its notifications instead: see [ErrOverflow]. 0 means 256 MiB.
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

// environment is the server's.
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

// args are the arguments of the process.
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

// tomlValue writes a value as TOML. JSON is TOML for all that is allowed here.
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

package sshlink

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ErrOptions is returned for invalid options.
var ErrOptions = errors.New("sshlink: invalid options")

// Options configures the connection to a machine. Destination, Executable and Server are required.
type Options struct {
	// Program is the ssh program; "" means ssh in PATH.
	Program string
	// Destination is an argument for ssh: user@machine, a name of its configuration, or
	// ssh://user@machine:port.
	Destination string
	// Name identifies the machine to the server; "" means the host name of the destination.
	Name string
	// Executable is the parley program to copy. If the machine has another system, the parley in
	// the machine's PATH is used instead.
	Executable string
	// Server identifies the server; see join.Over.
	Server string
	// Args are further arguments of parley host join. They are not secret: users of both machines can read them.
	Args []string
}

var (
	destination = regexp.MustCompile(`^(ssh://)?[A-Za-z0-9._%+@:\[\]-]{1,250}$`)
	serverID    = regexp.MustCompile(`^[0-9a-f]{16,64}$`)
)

// Parse parses a text such as dev@buildbox,dir=src,max-mode=acceptEdits: a destination, and flags
// of parley host join.
func Parse(text string) (Options, error) {
	parts := strings.Split(text, ",")
	o := Options{Destination: parts[0]}
	for _, part := range parts[1:] {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case !ok || value == "":
			return o, fmt.Errorf("%w: %q is not KEY=VALUE", ErrOptions, part)
		case key == "name":
			o.Name = value
		case slices.Contains([]string{"dir", "max-mode", "slots", "label", "cli", "data", "pass-env", "sandbox"}, key):
			o.Args = append(o.Args, "--"+key+"="+value)
		default:
			return o, fmt.Errorf("%w: unknown key %q: they are name, dir, max-mode, slots, label, cli, data, pass-env and sandbox", ErrOptions, key)
		}
	}
	if err := o.checkDestination(); err != nil {
		return o, err
	}
	if o.Name == "" {
		o.Name = hostName(o.Destination)
	}
	return o, nil
}

// checkDestination refuses a destination that ssh could parse as a flag.
func (o *Options) checkDestination() error {
	if !destination.MatchString(o.Destination) || strings.HasPrefix(o.Destination, "-") || strings.Contains(o.Destination, "@-") {
		return fmt.Errorf("%w: %q is not a destination of ssh, such as user@machine", ErrOptions, o.Destination)
	}
	return nil
}

// hostName returns the host name of a destination.
func hostName(dest string) string {
	dest, url := strings.CutPrefix(dest, "ssh://")
	dest = dest[strings.LastIndexByte(dest, '@')+1:]
	if url {
		if i := strings.LastIndexByte(dest, ':'); i >= 0 && !strings.HasSuffix(dest, "]") {
			dest = dest[:i]
		}
	}
	return strings.Trim(dest, "[]")
}

// quote quotes a word for the POSIX shell that the machine's ssh server starts.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

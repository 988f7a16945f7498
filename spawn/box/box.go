package box

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Network selects the network that the process can use in addition to its doors.
type Network string

// The values of [Network].
const (
	NetworkOff   Network = "off"   // only its own loopback interface
	NetworkAllow Network = "allow" // its own loopback interface, with a door to a proxy that reaches some hosts
	NetworkOn    Network = "on"    // the network of this machine, with its loopback and abstract sockets
)

// Closed reports whether the box has a separate network, which can be left only through doors.
func (n Network) Closed() bool { return n == NetworkOff || n == NetworkAllow }

// Check returns an error for a network that does not exist.
func (n Network) Check() error {
	if !n.Closed() && n != NetworkOn {
		return fmt.Errorf("%w: the network is %q, not off, allow or on", ErrRefused, n)
	}
	return nil
}

// Box describes a box. Its paths are absolute, without symbolic links, and the same inside and outside. Where one contains
// another, the inner one counts.
type Box struct {
	// Program is the path of bwrap. Init is the path of this program, or of another one that calls
	// Enter first.
	Program, Init string
	// Home is the path of the home directory. It and the directories of Empty are empty in each box, and their
	// content is lost with the box.
	Home  string
	Empty []string
	// Write lists files and directories that can be changed, Read those that can only be read.
	Write, Read []string
	// Hide lists files and directories that are hidden although a directory around them is visible.
	Hide []string
	// Logins lists visible files with credentials.
	Logins  []string
	Network Network
	// Doors maps ports on 127.0.0.1 inside the box to sockets outside.
	Doors map[int]string
}

// check returns an error for a Box that would not confine the process.
func (b *Box) check(dir string) error {
	for _, path := range slices.Concat([]string{b.Program, b.Init, b.Home, dir}, b.Empty, b.Write, b.Read, b.Hide, b.Logins) {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return fmt.Errorf("%w: the path %q is not absolute and clean", ErrRefused, path)
		}
	}
	for _, path := range slices.Concat([]string{dir}, b.Write, b.Read, b.Logins) {
		switch {
		case path == "/" || path == b.Home:
			return fmt.Errorf("%w: %s cannot be shown in a box: choose a directory below it", ErrRefused, path)
		case slices.Contains(b.Hide, path):
			return fmt.Errorf("%w: %s holds files of the server and cannot be shown in a box", ErrRefused, path)
		case slices.ContainsFunc(reserved, func(r string) bool { return within(r, path) }):
			return fmt.Errorf("%w: %s is replaced in a box and cannot be shown", ErrRefused, path)
		}
	}
	return b.Network.Check()
}

// reserved lists directories that every box has a separate version of.
var reserved = []string{"/proc", "/dev", "/sys", "/run"}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

package ports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"
)

// Variable is the environment variable with the mark of an agent. The value should be random, so
// that no other process has it by chance.
const Variable = "PARLEY_AGENT_MARK"

// DialTimeout is the timeout of a connection to a port. Listeners on the loopback interface accept
// at once or not at all.
const DialTimeout = 10 * time.Second

var (
	// ErrUnsupported is returned on systems that do not report the owner of a port.
	ErrUnsupported = errors.New("ports: this system does not report which process listens on a port")
	// ErrNotOwned is returned when processes of the agent do not listen on a port, or not
	// exclusively.
	ErrNotOwned = errors.New("ports: the port does not belong to the agent")
)

// Port is a TCP port on which a process of an agent listens, with the name and the number of
// that process.
type Port struct {
	Number  int
	Process string
	PID     int
}

// listener is a listening socket, as the system lists it.
type listener struct {
	addr  netip.Addr
	port  int
	inode string
}

// process holds the relevant data of a process.
type process struct {
	pid, parent int
	name        string
	marked      bool
}

// local are the loopback addresses of a listener, in the order in which they are tried.
var local = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}

// takes reports whether a listener could accept a connection to an address. A listener on all IPv6
// addresses may accept IPv4 too.
func (l listener) takes(addr netip.Addr) bool {
	return l.addr == addr || l.addr.IsUnspecified() && (l.addr.Is4() == addr.Is4() || l.addr.Is6())
}

// descendants returns the marked processes and their descendants.
func descendants(all []process) map[int]process {
	children := map[int][]process{}
	var next []process
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
		if p.marked {
			next = append(next, p)
		}
	}
	found := map[int]process{}
	for len(next) > 0 {
		p := next[len(next)-1]
		next = next[:len(next)-1]
		if _, seen := found[p.pid]; !seen {
			found[p.pid] = p
			next = append(next, children[p.pid]...)
		}
	}
	return found
}

// reachable returns the ports of owned sockets that are reachable on the loopback interface, by number.
func reachable(all []listener, owners map[string]process) []Port {
	found := map[int]Port{}
	for _, l := range all {
		owner, ok := owners[l.inode]
		if !ok || !slices.ContainsFunc(local, l.takes) {
			continue
		}
		if old, ok := found[l.port]; !ok || owner.pid < old.PID {
			found[l.port] = Port{l.port, owner.name, owner.pid}
		}
	}
	list := make([]Port, 0, len(found))
	for _, p := range found {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Port) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

// owned reports whether there is a listener that could accept at an address, and all such listeners
// are owned.
func owned(all []listener, owners map[string]process, at netip.AddrPort) bool {
	found := false
	for _, l := range all {
		if l.port != int(at.Port()) || !l.takes(at.Addr()) {
			continue
		}
		if _, ok := owners[l.inode]; !ok {
			return false
		}
		found = true
	}
	return found
}

// Find returns the ports of the agent with a mark, sorted by number.
func Find(mark string) ([]Port, error) {
	all, owners, err := look(mark)
	if err != nil {
		return nil, err
	}
	return reachable(all, owners), nil
}

// Dial connects to a port of the agent with a mark, on the loopback interface. The error wraps
// ErrNotOwned if the port is not the agent's.
func Dial(ctx context.Context, mark string, port int) (net.Conn, error) {
	if port <= 0 || port > 65535 {
		return nil, fmt.Errorf("%w: %d", ErrNotOwned, port)
	}
	all, owners, err := look(mark)
	if err != nil {
		return nil, err
	}
	for _, addr := range local {
		at := netip.AddrPortFrom(addr, uint16(port))
		if !owned(all, owners, at) {
			continue
		}
		conn, err := (&net.Dialer{Timeout: DialTimeout}).DialContext(ctx, "tcp", at.String())
		if err != nil {
			return nil, err
		}
		all, owners, err = look(mark) // the connection is established, so its acceptor exists
		if err == nil && !owned(all, owners, at) {
			err = fmt.Errorf("%w: %d", ErrNotOwned, port)
		}
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return conn, nil
	}
	return nil, fmt.Errorf("%w: %d", ErrNotOwned, port)
}

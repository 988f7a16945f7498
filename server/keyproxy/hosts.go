package keyproxy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// tunnelPort is the port of a host without one.
const tunnelPort = "443"

// pattern describes hosts that tunnels may reach.
type pattern struct {
	name  string // lower case, without brackets
	below bool   // all hosts below the name, without itself
	port  string
}

// parsePattern reads HOST or HOST:PORT. A HOST can begin with "*.".
func parsePattern(text string) (pattern, error) {
	h := pattern{name: text, port: tunnelPort}
	if name, port, err := net.SplitHostPort(text); err == nil {
		h.name, h.port = name, port
	}
	h.name, h.below = strings.CutPrefix(strings.ToLower(h.name), "*.")
	n, err := strconv.ParseUint(h.port, 10, 16)
	if err == nil && n == 0 || h.name == "" {
		err = errors.New("no host or no port")
	}
	if _, notAddr := netip.ParseAddr(h.name); err == nil && notAddr != nil && strings.ContainsFunc(h.name, notInName) {
		err = errors.New("invalid character in the host")
	}
	if err != nil {
		return pattern{}, fmt.Errorf("%q is not HOST, *.HOST or HOST:PORT: %w", text, err)
	}
	return h, nil
}

func notInName(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_')
}

// allows reports whether a tunnel may reach a host.
func (h pattern) allows(name, port string) bool {
	if h.port != port {
		return false
	}
	if h.below {
		return strings.HasSuffix(name, "."+h.name)
	}
	return name == h.name
}

// local reports whether the pattern names an address or this machine, so that its tunnels may reach private addresses.
func (h pattern) local() bool {
	_, err := netip.ParseAddr(h.name)
	return !h.below && (err == nil || h.name == "localhost")
}

// isPublic reports whether an address is one of the internet.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// special are addresses of this network, of providers' own networks, and those of IPv6 that contain one of IPv4.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2002::/16"),
}

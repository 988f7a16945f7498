package keyproxy

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// tunnelPort is the port of a host without a port.
const tunnelPort = "443"

// pattern describes hosts that tunnels may reach.
type pattern struct {
	name  string // lower case, without brackets
	below bool   // matches all hosts below the name, but not the name
	port  string
}

// parsePattern reads HOST or HOST:PORT. A HOST can begin with "*.".
func parsePattern(text string) (pattern, error) {
	name, port, err := net.SplitHostPort(text)
	if err != nil {
		name, port = text, tunnelPort
	}
	h := pattern{}
	name, h.below = strings.CutPrefix(name, "*.")
	n, err := strconv.ParseUint(port, 10, 16)
	if err == nil && n == 0 {
		err = errors.New("no port")
	}
	var nameErr error
	h.name, nameErr = hostName(name)
	if err = cmp.Or(err, nameErr); err != nil {
		return pattern{}, fmt.Errorf("%q is not HOST, *.HOST or HOST:PORT: %w", text, err)
	}
	h.port = strconv.FormatUint(n, 10)
	return h, nil
}

// hostName returns a name or an address in the form of patterns: lower case, without a final full stop. The compared name is also the
// resolved one. Characters outside of ASCII are an error, because the lower case of some of them is in ASCII.
func hostName(text string) (string, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", errors.New("invalid character in the host")
	}
	name := strings.TrimSuffix(strings.ToLower(text), ".")
	if name == "" {
		return "", errors.New("no host")
	}
	if _, err := netip.ParseAddr(name); err != nil && strings.ContainsFunc(name, notInName) {
		return "", errors.New("invalid character in the host")
	}
	return name, nil
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

// reaches reports whether tunnels to a host of the pattern may use an address. The owner of a name
// chooses its addresses, so a name may only have public addresses. localhost may have those of this
// machine, and an address only itself.
func (h pattern) reaches(a netip.Addr) bool {
	named, err := netip.ParseAddr(h.name)
	switch {
	case h.below:
		return isPublic(a)
	case err == nil:
		return a.Unmap() == named.Unmap()
	case h.name == "localhost":
		return a.Unmap().IsLoopback()
	}
	return isPublic(a)
}

// isPublic reports whether an address is a public address of the internet.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.Zone() == "" && a.IsGlobalUnicast() && !a.IsPrivate() && (a.Is4() || assigned.Contains(a)) &&
		!slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// assigned lists the IPv6 ranges of the public internet. Addresses outside of them may contain an
// IPv4 address.
var assigned = netip.MustParsePrefix("2000::/3")

// special are addresses of this network, of providers' internal networks, for protocols and for examples, and IPv6 addresses that contain an
// IPv4 address.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
}

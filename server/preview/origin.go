package preview

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// MaxPorts is the maximum number of ports in a range of origins, and thus of concurrent previews
// with a port each.
const MaxPorts = 64

// Origins are the origins of previews, which differ either by name or by port. The zero value is
// invalid; see ParseOrigins.
type Origins struct {
	scheme      string
	host        string // without the port; for names, the part after the star and its full stop
	named       bool   // each preview has a name
	first, last int    // ports; 0 is the scheme's default
}

// ParseOrigins parses scheme://*.host:port for a name each, or scheme://host:first-last for a port
// each, at most 64. A single port without a star allows one preview at a time.
func ParseOrigins(text string) (Origins, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	rest = strings.TrimSuffix(rest, "/")
	o := Origins{scheme: strings.ToLower(scheme)}
	if !ok || o.scheme != "http" && o.scheme != "https" || strings.ContainsAny(rest, "/?#@ ") {
		return o, fmt.Errorf("preview: %q is not http:// or https:// with a host", text)
	}
	host, ports, err := splitPorts(rest)
	if err != nil {
		return o, fmt.Errorf("preview: %q: %w", text, err)
	}
	o.host, o.named = strings.CutPrefix(strings.ToLower(host), "*.")
	if !validHost(o.host) {
		return o, fmt.Errorf("preview: %q has no host", text)
	}
	o.first, o.last = ports[0], ports[1]
	if o.named && o.first != o.last {
		return o, fmt.Errorf("preview: %q has names and ports for each; one of them is enough", text)
	}
	return o, nil
}

// validHost reports whether a text is an address, or a name of letters, digits, hyphens and full
// stops.
func validHost(host string) bool {
	if strings.Contains(host, ":") {
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Zone() == ""
	}
	return host != "" && len(host) < 200 && !strings.HasPrefix(host, ".") && !strings.ContainsFunc(host, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
	})
}

// splitPorts splits host, host:port or host:first-last.
func splitPorts(text string) (host string, ports [2]int, err error) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 || strings.HasSuffix(text, "]") {
		return unbracket(text), ports, nil
	}
	host = unbracket(text[:i])
	first, last, ranged := strings.Cut(text[i+1:], "-")
	if !ranged {
		last = first
	}
	for j, s := range []string{first, last} {
		if ports[j], err = strconv.Atoi(s); err != nil || ports[j] < 1 || ports[j] > 65535 {
			return host, ports, fmt.Errorf("the port %q is not a number from 1 to 65535", s)
		}
	}
	if n := ports[1] - ports[0]; n < 0 || n >= MaxPorts {
		return host, ports, fmt.Errorf("a range has 1 to %d ports", MaxPorts)
	}
	return host, ports, nil
}

// unbracket returns an IPv6 address without its brackets. Without brackets it is not a host.
func unbracket(host string) string {
	inner, ok := strings.CutPrefix(host, "[")
	if ok {
		return strings.TrimSuffix(inner, "]")
	}
	return strings.ReplaceAll(host, ":", "?")
}

// size returns the maximum number of concurrent previews with a port each; 0 with names.
func (o Origins) size() int {
	if o.named {
		return 0
	}
	return o.last - o.first + 1
}

// hostPort returns the Host of the preview with a name or the number of a port.
func (o Origins) hostPort(name string, i int) string {
	host, port := o.host, o.first+i
	if o.named {
		host, port = name+"."+o.host, o.first
	}
	if port == 0 || o.scheme == "http" && port == 80 || o.scheme == "https" && port == 443 {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// String returns the origins in the form of ParseOrigins.
func (o Origins) String() string {
	switch {
	case o.named:
		return o.scheme + "://" + o.hostPort("*", 0)
	case o.first != o.last:
		return o.scheme + "://" + net.JoinHostPort(o.host, strconv.Itoa(o.first)+"-"+strconv.Itoa(o.last))
	}
	return o.scheme + "://" + o.hostPort("", 0)
}

package ports

import (
	"net/netip"
	"slices"
	"testing"
)

// TestOwned checks that a connection that any other socket could have accepted is not the agent's.
func TestOwned(t *testing.T) {
	v4, v6 := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")
	any4, any6 := netip.MustParseAddr("0.0.0.0"), netip.MustParseAddr("::")
	lan := netip.MustParseAddr("192.168.1.5")
	owners := map[string]process{"1": {pid: 10, name: "vite"}, "2": {pid: 11, name: "node"}}
	for name, test := range map[string]struct {
		all  []listener
		at   netip.Addr
		want bool
	}{
		"nothing listens":          {nil, v4, false},
		"ours":                     {[]listener{{v4, 3000, "1"}}, v4, true},
		"ours on all addresses":    {[]listener{{any4, 3000, "1"}}, v4, true},
		"ours on all of IPv6":      {[]listener{{any6, 3000, "1"}}, v4, true},
		"ours on IPv6 alone":       {[]listener{{v6, 3000, "1"}}, v4, false},
		"IPv6":                     {[]listener{{v6, 3000, "1"}}, v6, true},
		"IPv4 at IPv6":             {[]listener{{any4, 3000, "1"}}, v6, false},
		"another's":                {[]listener{{v4, 3000, "9"}}, v4, false},
		"shared with another":      {[]listener{{v4, 3000, "1"}, {v4, 3000, "9"}}, v4, false},
		"another's on all":         {[]listener{{v4, 3000, "1"}, {any4, 3000, "9"}}, v4, false},
		"another's on all of IPv6": {[]listener{{any4, 3000, "1"}, {any6, 3000, "9"}}, v4, false},
		"another's elsewhere":      {[]listener{{v4, 3000, "1"}, {lan, 3000, "9"}, {v4, 3001, "9"}}, v4, true},
		"on the network alone":     {[]listener{{lan, 3000, "1"}}, v4, false},
		"two of ours":              {[]listener{{v4, 3000, "1"}, {v4, 3000, "2"}}, v4, true},
	} {
		if got := owned(test.all, owners, netip.AddrPortFrom(test.at, 3000)); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	got := reachable([]listener{{any6, 5173, "2"}, {v4, 3000, "2"}, {any4, 3000, "1"}, {lan, 80, "1"}, {v4, 22, "9"}}, owners)
	if want := []Port{{3000, "vite", 10}, {5173, "node", 11}}; !slices.Equal(got, want) {
		t.Errorf("the ports are %v, want %v", got, want)
	}
}

// TestDescendants checks that exactly the descendants of marked processes are found, for any table.
func TestDescendants(t *testing.T) {
	all := []process{{pid: 1}, {pid: 2, parent: 1, marked: true}, {pid: 3, parent: 2}, {pid: 4, parent: 3}, {pid: 5, parent: 1}, {pid: 6, parent: 1, marked: true},
		{pid: 7, parent: 8}, {pid: 8, parent: 7}, {pid: 9, parent: 9, marked: true}}
	found := descendants(all)
	for pid, want := range map[int]bool{1: false, 2: true, 3: true, 4: true, 5: false, 6: true, 7: false, 8: false, 9: true} {
		if _, ok := found[pid]; ok != want {
			t.Errorf("process %d: %t", pid, ok)
		}
	}
}

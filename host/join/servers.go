package join

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// ServersHeader is the response header in which a server of a cluster sends the addresses of all servers to a machine,
// one address per value.
const ServersHeader = "Parley-Server"

const (
	serversName    = "servers.json"
	maxServers     = 32
	maxServersFile = 64 << 10
)

// addresses are the addresses that a machine dials: the configured one, and those sent by a server of its cluster. They survive the
// process.
type addresses struct {
	path string
	all  []string // the configured one is first
	at   int      // the index of the current one
}

// newAddresses reads the addresses that an earlier process received. It ignores an unreadable file,
// because the server sends them again.
func newAddresses(dir, configured string) *addresses {
	a := &addresses{path: filepath.Join(dir, serversName), all: []string{configured}}
	var told []string
	if data, err := regularfile.Read(a.path, maxServersFile); err == nil && json.Unmarshal(data, &told) == nil {
		a.all = a.with(told)
	}
	return a
}

// with returns the configured address and the others. A loopback address is used only if the configured one is too.
func (a *addresses) with(told []string) []string {
	all := a.all[:1:1]
	for _, address := range told {
		address, err := normalize(address)
		if err == nil && local(address) == local(a.all[0]) && !slices.Contains(all, address) && len(all) < maxServers {
			all = append(all, address)
		}
	}
	return all
}

func local(address string) bool {
	u, err := url.Parse(address)
	return err == nil && loopback(u.Hostname())
}

// current returns the address to connect to.
func (a *addresses) current() string { return a.all[a.at] }

// configured reports whether the current address is the configured one.
func (a *addresses) configured() bool { return a.at == 0 }

// failed selects the next address, after an attempt has failed or a link has ended.
func (a *addresses) failed() { a.at = (a.at + 1) % len(a.all) }

// learn stores the addresses of a response. The selected address does not change.
func (a *addresses) learn(h http.Header) error {
	told := h.Values(ServersHeader)
	if len(told) == 0 {
		return nil
	}
	all, current := a.with(told), a.current()
	if slices.Equal(all, a.all) {
		return nil
	}
	a.all = all
	a.at = max(0, slices.Index(all, current))
	data, err := json.Marshal(all[1:])
	if err != nil {
		return err
	}
	return os.WriteFile(a.path, data, 0o600)
}

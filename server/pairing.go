package server

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// Limits of pairing: the lifetimes of a code for a device and of one for a machine, the number of open codes, and the
// lifetime of a device's token.
const (
	pairingAge        = 2 * time.Minute
	machinePairingAge = 10 * time.Minute
	maxPairings       = 16
	deviceAge         = 180 * 24 * time.Hour
)

// pairing describes the device that may use a code.
type pairing struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role role   `json:"role"`
	By   string `json:"by"` // the id of the token or cookie of the person who made the code
}

// pairingCreate returns a code for one device. An earlier code of the same caller ends.
func pairingCreate(s *Server, _ context.Context, c *caller, p api.PairingCreateParams) (api.PairingCreateResult, error) {
	r, err := parseRole(p.Role)
	if err != nil {
		return api.PairingCreateResult{}, session.Invalid("%v", err)
	}
	name, ok := session.ValidTitle(p.Name)
	if !ok {
		return api.PairingCreateResult{}, session.Invalid("the name is not one line of visible characters")
	}
	s.pairings.drop(func(old pairing) bool { return old.By == c.id })
	made := pairing{ID: random.Hex(6), Name: name, Role: r, By: c.id}
	age := pairingAge
	if r == roleHost {
		age = machinePairingAge
	}
	code, expires, err := s.pairings.begin(made, age)
	if err != nil {
		return api.PairingCreateResult{}, err
	}
	return api.PairingCreateResult{ID: made.ID, Code: code, ExpiresAt: session.Timestamp(expires), Loopback: s.loopbackOnly(), Addresses: s.addresses()}, nil
}

// pairingCancel ends a code of the caller. A code that was used or has expired is not an error.
func pairingCancel(s *Server, _ context.Context, c *caller, p api.PairingRef) (api.Empty, error) {
	s.pairings.drop(func(old pairing) bool { return old.ID == p.ID && old.By == c.id })
	return api.Empty{}, nil
}

// pair exchanges a code, which reached the page in the fragment of its address, for a cookie of a new
// token. The token has no other secret, so that revoking it ends the access of the device.
func (s *Server) pair(w http.ResponseWriter, r *http.Request) error {
	data, err := s.body(w, r, smallBody)
	if err != nil {
		return err
	}
	var p struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(data, &p) != nil {
		return session.Invalid("the body is not {\"code\":…}")
	}
	made, ok := s.pairings.take(p.Code)
	if !ok || s.tokens.holds(made.By) != roleAdmin { // its creator must still be an admin
		return s.refused(r, errToken)
	}
	value, err := s.tokens.pair(made)
	row := api.AuditRow{By: made.Name, Role: made.Role.String(), Method: "pair", Outcome: "ok", Remote: s.filter.remote(r)}
	if err != nil {
		row.Outcome = string(session.FailureOf(err).Reason)
	}
	if auditErr := s.audit.add(context.WithoutCancel(r.Context()), row); auditErr != nil {
		s.logger.Error("no audit row", "method", "pair", "err", auditErr)
	}
	if err != nil {
		return err
	}
	if made.Role == roleHost {
		writeJSON(w, http.StatusOK, map[string]string{"token": value})
		return nil
	}
	s.setCookie(w, r, value, int(deviceAge/time.Second))
	writeJSON(w, http.StatusOK, api.Empty{})
	return nil
}

// pair creates the token and the cookie of a device. The token of a machine does not expire, because a machine may have
// no user who can pair it again.
func (t *tokens) pair(p pairing) (value string, err error) {
	if p.Role == roleHost {
		_, value, err = t.create(token{ID: p.ID, Name: p.Name, Role: p.Role.String()}, 0)
		return value, err
	}
	tk, _, err := t.create(token{ID: p.ID, Name: p.Name, Role: p.Role.String(), Paired: true}, deviceAge)
	if err != nil {
		return "", err
	}
	_, value, err = t.create(token{Name: p.Name, Role: tk.Role, Parent: tk.ID, Account: tk.ID}, deviceAge)
	return value, err
}

// listening records an address at which the server is reached.
func (s *Server) listening(addr net.Addr) {
	s.listenMu.Lock()
	defer s.listenMu.Unlock()
	s.listens = append(s.listens, addr)
}

// loopbackOnly reports whether no other machine can reach the server directly.
func (s *Server) loopbackOnly() bool {
	s.listenMu.Lock()
	defer s.listenMu.Unlock()
	for _, addr := range s.listens {
		if a, err := netip.ParseAddrPort(addr.String()); err == nil && !a.Addr().Unmap().IsLoopback() {
			return false
		}
	}
	return len(s.listens) > 0
}

// addresses returns the addresses of the page for other machines: the allowed hosts, with the port of the
// listener.
func (s *Server) addresses() []string {
	all := []string{}
	if s.loopbackOnly() {
		return all
	}
	s.listenMu.Lock()
	defer s.listenMu.Unlock()
	scheme := "http://"
	if s.opts.SecureCookies {
		scheme = "https://"
	}
	for _, host := range s.opts.AllowedHosts {
		if _, _, err := net.SplitHostPort(host); err == nil {
			all = append(all, scheme+host+"/")
			continue
		}
		for _, l := range s.listens {
			if _, port, err := net.SplitHostPort(l.String()); err == nil {
				all = append(all, scheme+net.JoinHostPort(strings.Trim(host, "[]"), port)+"/")
			}
		}
	}
	return all
}

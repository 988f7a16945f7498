package server

import (
	"fmt"
	"slices"
)

// role is the access level of a token. Each role from roleViewer on includes those before it.
type role int

const (
	roleNone     role = iota
	roleHost          // may join as a machine; no other role includes it
	roleViewer        // may watch
	roleOperator      // may run sessions and answer requests
	roleAdmin         // may also manage tokens and the server
)

var roleNames = []string{"none", "host", "viewer", "operator", "admin"}

func (r role) String() string { return roleNames[r] }

func parseRole(s string) (role, error) {
	i := slices.Index(roleNames, s)
	if i <= 0 {
		return roleNone, fmt.Errorf("unknown role %q; the roles are viewer, operator, admin and host", s)
	}
	return role(i), nil
}

// principal is the sender of a request.
type principal struct {
	id      string // of the token
	name    string // for people; empty is the id
	account string // the account that pays: the id of the token from which a cookie was created, or owner
	tenant  string
	role    role
	session string // if set, only this session is visible
	agentOf string // set: the holder is the agent of this session
	answers bool   // set for an agent that may answer requests
	remote  string // the address
	cookie  bool   // set for a browser's cookie
}

// by returns the name of the principal for others.
func (p *principal) by() string {
	if p.name != "" {
		return p.name
	}
	return p.id
}

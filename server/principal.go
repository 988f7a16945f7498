package server

import (
	"fmt"
	"slices"
)

// role is what a token allows. Each role includes those before it.
type role int

const (
	roleNone     role = iota
	roleViewer        // may look
	roleOperator      // may run sessions and answer requests
	roleAdmin         // may also manage tokens and the server
)

var roleNames = []string{"none", "viewer", "operator", "admin"}

func (r role) String() string { return roleNames[r] }

func parseRole(s string) (role, error) {
	i := slices.Index(roleNames, s)
	if i <= 0 {
		return roleNone, fmt.Errorf("role %q is not viewer, operator or admin", s)
	}
	return role(i), nil
}

// principal is who a request is from.
type principal struct {
	id      string // of the token
	name    string // for people; empty is the id
	account string // who pays: the id of the token that a cookie was made from, or owner
	tenant  string
	role    role
	session string // set: only this session may be looked at
	remote  string // the address
	cookie  bool   // a browser's
}

// by is how others see the principal.
func (p *principal) by() string {
	if p.name != "" {
		return p.name
	}
	return p.id
}

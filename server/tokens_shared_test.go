package server

import (
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/cluster"
)

// sharedEntry is the message about a token that another server of the cluster has created.
func sharedEntry(t *testing.T, tk token) cluster.Entry {
	t.Helper()
	data, err := json.Marshal(tk)
	if err != nil {
		t.Fatal(err)
	}
	return cluster.Entry{Key: tk.ID, Value: data}
}

// TestTokens_learned sends messages about tokens in any order: an ended token stays ended, an
// unreadable message creates no token, and connections end with their token.
func TestTokens_learned(t *testing.T) {
	all := newTokens("")
	all.shared = &sharedTokens{node: "n", logger: slog.New(slog.DiscardHandler), gone: map[string]bool{}}
	ended := 0
	all.ended = func() { ended++ }
	of := func(id string) (token, string) {
		_, value, hash := newSecret(id)
		return token{ID: id, Name: "name of " + id, Role: "operator", Account: "account of " + id, Tenant: "tenant of " + id, Hash: hash, Created: time.Now()}, value
	}
	a, secret := of("a")
	all.learn(sharedEntry(t, a))
	all.learn(sharedEntry(t, a))
	p, err := all.check(secret, "")
	if err != nil || p.id != "a" || p.name != "name of a" || p.tenant != "tenant of a" || p.account != "account of a" || p.role != roleOperator || len(all.all) != 1 {
		t.Fatalf("the holder is %+v, %v; %d tokens", p, err, len(all.all))
	}
	if now, err := all.holderNow("a"); err != nil || now.tenant != p.tenant || now.role != p.role {
		t.Errorf("the present holder is %+v, %v", now, err)
	}
	held, release := all.hold(t.Context(), p)
	defer release()
	for name, e := range map[string]cluster.Entry{
		"no JSON":        {Key: "x", Value: []byte("{")},
		"another id":     {Key: "x", Value: sharedEntry(t, a).Value},
		"without a hash": {Key: "x", Value: []byte(`{"id":"x","role":"admin"}`)},
	} {
		all.learn(e)
		if len(all.all) != 1 || ended != 0 {
			t.Errorf("%s: %d tokens, %d ends", name, len(all.all), ended)
		}
	}
	b, _ := of("b")
	all.learn(cluster.Entry{Key: "b"})
	all.learn(sharedEntry(t, b)) // an older message
	if len(all.all) != 1 || ended != 0 {
		t.Errorf("a token that ended before it was known: %d tokens, %d ends", len(all.all), ended)
	}
	all.learn(cluster.Entry{Key: "a"})
	all.learn(sharedEntry(t, a))
	if _, err := all.check(secret, ""); !errors.Is(err, errToken) || len(all.all) != 0 || ended != 1 || held.Err() == nil {
		t.Errorf("a token that has ended: %v, %d tokens, %d ends, its connection %v", err, len(all.all), ended, held.Err())
	}
	for id, role := range map[string]string{"c": "wild", "d": ""} {
		tk, secret := of(id)
		tk.Role = role
		all.learn(sharedEntry(t, tk))
		if _, err := all.check(secret, ""); !errors.Is(err, errToken) {
			t.Errorf("role %q: %v", role, err)
		}
		if _, err := all.holderNow(id); !errors.Is(err, errToken) {
			t.Errorf("the present holder with role %q: %v", role, err)
		}
	}
	if _, err := all.holderNow("none"); !errors.Is(err, errToken) {
		t.Errorf("an unknown token: %v", err)
	}
	var single *sharedTokens
	if got := single.self(); got != "" {
		t.Errorf("a server by itself is %q", got)
	}
	if got := all.shared.self(); got != "n" {
		t.Errorf("the server is %q", got)
	}
}

package server

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/internal/test/natstest"
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

// TestTokens_ofServers checks the tokens that each server of a cluster makes for its owner: they are not listed, and a server ends only its
// own, at its start, at its end, and when it has printed too many.
func TestTokens_ofServers(t *testing.T) {
	url := natstest.URL(natstest.Server(t, &natsserver.Options{SyncAlways: true}))
	all := newTokens("")
	all.shared = &sharedTokens{bucket: sharedBucket(t, openCluster(t, url)), node: "here", logger: slog.New(slog.DiscardHandler), gone: map[string]bool{}}
	for _, tk := range []token{{ID: "start-here", Node: "here"}, {ID: "start-there", Node: "there"}, {ID: "printed-there", Node: "there", Port: "80"}} {
		tk.Role, tk.Hash, tk.Created = roleAdmin.String(), "h", time.Now()
		all.learn(sharedEntry(t, tk))
	}
	has := func(when string, printed int, want ...string) {
		t.Helper()
		var got []string
		n := 0
		for _, tk := range all.all {
			if tk.Port != "" && tk.Node == "here" {
				n++
			} else {
				got = append(got, tk.ID)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) || n != printed {
			t.Errorf("%s the server knows %v and %d tokens that it has printed, want %v and %d", when, got, n, want, printed)
		}
		if list := all.list(); len(list) != 0 {
			t.Errorf("%s the list has %+v, want no token of a server", when, list)
		}
	}
	for range maxPrinted + 2 {
		if _, err := all.print("80"); err != nil {
			t.Fatal(err)
		}
	}
	has("after prints", maxPrinted, "printed-there", "start-here", "start-there")
	if err := all.endStart(); err != nil {
		t.Fatal(err)
	}
	has("after a start", maxPrinted, "printed-there", "start-there")
	if err := all.endPrinted(); err != nil {
		t.Fatal(err)
	}
	has("after the end", 0, "printed-there", "start-there")
}

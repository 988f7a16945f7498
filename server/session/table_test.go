package session

import (
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// TestTable_unload checks that an actor stays in memory while a call uses it.
func TestTable_unload(t *testing.T) {
	s, _ := memSessions(t)
	a := s.newActor(Prefix+"used", "e")
	if err := s.add(a.id, a, func(*entry, *actor) {}); err != nil {
		t.Fatal(err)
	}
	e, got, _, err := s.acquire(t.Context(), a.id)
	if err != nil || got != a {
		t.Fatalf("acquire returns %v, %v", got, err)
	}
	s.unload(a)
	if e.actor != a || a.ctx.Err() != nil {
		t.Error("an actor that a call uses was unloaded")
	}
	s.release(e)
	s.unload(a)
	if e.actor != nil || a.ctx.Err() == nil {
		t.Error("an actor that no call uses stays")
	}
}

// TestTable_deletedWhileRead deletes the entry of another server's session while this server reads
// its log. An entry that another server has sent since is kept.
func TestTable_deletedWhileRead(t *testing.T) {
	s, _ := memSessions(t)
	id := Prefix + "elsewhere"
	s.find(id)
	s.Learn(id, nil)
	s.updated(id, "", api.SessionSummary{SessionID: id})
	s.setTenant(id, "t")
	if s.Exists(id) {
		t.Error("a deleted session is back in the table")
	}
	s.Learn(id, []byte(`{"summary":{"session_id":"`+id+`","title":"sent"}}`))
	s.find(id)
	if i, err := s.Lookup(t.Context(), id); err != nil || i.Title != "sent" {
		t.Errorf("the entry is %+v, %v, want the one that was sent", i, err)
	}
}

package session

import "testing"

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

package claudetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
)

func (s *storeSuite) uuidOnce() {
	title := json.RawMessage(`{"type":"custom-title","customTitle":"x"}`)
	s.append(storeMain, storeEntry(1), storeEntry(2))
	s.append(storeMain, storeEntry(2), storeEntry(3), storeEntry(3), title) // a retry with a further entry
	s.append(storeMain, storeEntry(1), title)
	s.want(storeMain, storeEntry(1), storeEntry(2), storeEntry(3), title, title)
	s.append(storeSub, storeEntry(1)) // a uuid is unique only within its transcript
	s.want(storeSub, storeEntry(1))
	s.append(storeTwo, storeEntry(1))
	s.want(storeTwo, storeEntry(1))
}

// concurrentAppend: no entry is lost or split, and the entries of each writer keep their
// order.
func (s *storeSuite) concurrentAppend() {
	const writers, batches, size = 6, 5, 4
	var wg sync.WaitGroup
	errs := make(chan error, writers)
	for w := range writers {
		wg.Go(func() {
			for b := range batches {
				var batch []json.RawMessage
				for i := range size {
					batch = append(batch, json.RawMessage(fmt.Sprintf(`{"uuid":"%d-%d-%d","w":%d,"n":%d}`, w, b, i, w, b*size+i)))
				}
				if err := s.store.Append(s.ctx, storeMain, batch); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		s.Errorf("Append: %v", err)
	}
	next := make([]int, writers)
	run := 0
	for _, raw := range s.load(storeMain) {
		var e struct{ W, N int }
		if err := json.Unmarshal(raw, &e); err != nil || e.N != next[e.W] {
			s.Fatalf("entry %s, want number %d: %v", raw, next[e.W], err)
		}
		if run%size != e.N%size {
			s.Errorf("a batch is torn apart at %s", raw)
		}
		run++
		next[e.W]++
	}
	for w, n := range next {
		if n != batches*size {
			s.Errorf("writer %d has %d entries of %d", w, n, batches*size)
		}
	}
}

func (s *storeSuite) claim(c claude.SessionClaimer, key claude.SessionKey) claude.SessionStore {
	s.Helper()
	w, err := c.Claim(s.ctx, key)
	if err != nil {
		s.Fatalf("Claim: %v", err)
	}
	return w
}

func (s *storeSuite) fenced(w claude.SessionStore, key claude.SessionKey, want bool, n int) {
	s.Helper()
	err := w.Append(s.ctx, key, []json.RawMessage{storeEntry(n)})
	if errors.Is(err, claude.ErrFenced) != want || err != nil && !want {
		s.Errorf("Append to %v: %v, want fenced %v", key, err, want)
	}
}

func (s *storeSuite) fencing() {
	c := storeAs[claude.SessionClaimer](s)
	first := s.claim(c, storeMain)
	s.fenced(first, storeMain, false, 1)
	s.fenced(first, storeSub, false, 1)
	second := s.claim(c, storeMain)
	s.fenced(first, storeMain, true, 2)
	s.fenced(first, storeSub, true, 2)
	s.fenced(second, storeMain, false, 3)
	s.fenced(second, storeSub, false, 3)
	s.fenced(first, storeMain, true, 4)
	s.fenced(first, storeTwo, false, 5) // another session
	s.fenced(s.store, storeMain, false, 6)
	s.want(storeMain, storeEntry(1), storeEntry(3), storeEntry(6))
	s.want(storeSub, storeEntry(1), storeEntry(3))
	if l, ok := s.store.(claude.SessionLister); ok {
		s.claim(c, storeAway)
		s.equal("a session that was only claimed", s.sessions(l, storeAway.ProjectKey), nil)
		s.want(storeAway)
	}
}

func (s *storeSuite) findSession() {
	f := storeAs[claude.SessionFinder](s)
	find := func(id string) []string {
		s.Helper()
		projects, err := f.FindSession(s.ctx, id)
		if err != nil {
			s.Fatal(err)
		}
		slices.Sort(projects)
		return projects
	}
	s.equal("an unknown session", find(storeMain.SessionID), nil)
	s.append(storeSub, storeEntry(1))
	s.equal("a session of subagents alone", find(storeMain.SessionID), nil)
	s.append(storeMain, storeEntry(1))
	s.append(storeMain, storeEntry(2))
	s.equal("one project", find(storeMain.SessionID), []string{storeMain.ProjectKey})
	other := claude.SessionKey{ProjectKey: storeMain.ProjectKey + "-2", SessionID: storeMain.SessionID}
	s.append(other, storeEntry(1))
	s.equal("two projects", find(storeMain.SessionID), []string{storeMain.ProjectKey, other.ProjectKey})
}

package claudetest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
)

// TestSessionStore checks that a store satisfies the contracts of [claude.SessionStore]
// and its optional interfaces. Contracts 1 to 14 are those of the official SDKs; 15 to 17
// are idempotence by uuid, concurrent append and fencing. It skips the contracts of
// optional interfaces that the store does not implement. open returns an empty store for
// each contract and registers its cleanup with t.
func TestSessionStore(t *testing.T, open func(t *testing.T) claude.SessionStore) {
	t.Helper()
	for _, c := range storeContracts {
		t.Run(c.name, func(t *testing.T) { c.check(&storeSuite{T: t, ctx: t.Context(), store: open(t)}) })
	}
}

var storeContracts = []struct {
	name  string
	check func(*storeSuite)
}{
	{"01_append_load", (*storeSuite).appendLoad},
	{"02_unknown", (*storeSuite).unknown},
	{"03_call_order", (*storeSuite).callOrder},
	{"04_append_nothing", (*storeSuite).appendNothing},
	{"05_subpath_apart", (*storeSuite).subpathApart},
	{"06_projects_apart", (*storeSuite).projectsApart},
	{"07_list_sessions", (*storeSuite).listSessions},
	{"08_list_without_subpaths", (*storeSuite).listWithoutSubpaths},
	{"09_delete", (*storeSuite).deleteOne},
	{"10_delete_cascades", (*storeSuite).deleteCascades},
	{"11_delete_subpath", (*storeSuite).deleteSubpath},
	{"12_list_subkeys", (*storeSuite).listSubkeys},
	{"13_subkeys_without_main", (*storeSuite).subkeysWithoutMain},
	{"14_summaries", (*storeSuite).summaries},
	{"15_uuid_once", (*storeSuite).uuidOnce},
	{"16_concurrent_append", (*storeSuite).concurrentAppend},
	{"17_fencing", (*storeSuite).fencing},
	{"18_find_session", (*storeSuite).findSession},
}

// storeSuite checks one contract with a new store.
type storeSuite struct {
	*testing.T
	ctx   context.Context
	store claude.SessionStore
}

var (
	storeMain = claude.SessionKey{ProjectKey: "-home-user-project", SessionID: "11111111-1111-4111-8111-111111111111"}
	storeTwo  = claude.SessionKey{ProjectKey: storeMain.ProjectKey, SessionID: "22222222-2222-4222-8222-222222222222"}
	storeSub  = claude.SessionKey{ProjectKey: storeMain.ProjectKey, SessionID: storeMain.SessionID, Subpath: "subagents/agent-1"}
	storeAway = claude.SessionKey{ProjectKey: "-home-user-project-2", SessionID: storeMain.SessionID}
)

func storeEntry(n int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"user","uuid":"%08d-0000-4000-8000-000000000000","n":%d}`, n, n))
}

func (s *storeSuite) append(key claude.SessionKey, entries ...json.RawMessage) {
	s.Helper()
	if err := s.store.Append(s.ctx, key, entries); err != nil {
		s.Fatalf("Append: %v", err)
	}
}

func (s *storeSuite) load(key claude.SessionKey) []json.RawMessage {
	s.Helper()
	entries, err := s.store.Load(s.ctx, key)
	if err != nil {
		s.Fatalf("Load: %v", err)
	}
	return entries
}

// want compares a transcript as JSON, ignoring the order of members.
func (s *storeSuite) want(key claude.SessionKey, entries ...json.RawMessage) {
	s.Helper()
	got := s.load(key)
	if !reflect.DeepEqual(storeValues(s.T, got), storeValues(s.T, entries)) {
		s.Errorf("%v has\n%s\nwant\n%s", key, got, entries)
	}
}

func storeValues(t *testing.T, entries []json.RawMessage) (values []any) {
	t.Helper()
	for _, e := range entries {
		var v any
		if err := json.Unmarshal(e, &v); err != nil {
			t.Fatalf("an entry is not JSON: %v: %s", err, e)
		}
		values = append(values, v)
	}
	return values
}

// storeAs returns the store with an optional interface; it skips the contract if the
// store does not implement it.
func storeAs[I any](s *storeSuite) I {
	s.Helper()
	i, ok := s.store.(I)
	if !ok {
		s.Skipf("the store is no %v", reflect.TypeFor[I]())
	}
	return i
}

func (s *storeSuite) sessions(l claude.SessionLister, project string) (ids []string) {
	s.Helper()
	list, err := l.ListSessions(s.ctx, project)
	if err != nil {
		s.Fatalf("ListSessions: %v", err)
	}
	for _, e := range list {
		if e.ModTime.UnixMilli() <= 1e12 {
			s.Errorf("the time of %s is %v", e.SessionID, e.ModTime)
		}
		ids = append(ids, e.SessionID)
	}
	slices.Sort(ids)
	return ids
}

func (s *storeSuite) subkeys(l claude.SubkeyLister, key claude.SessionKey) []string {
	s.Helper()
	list, err := l.ListSubkeys(s.ctx, key)
	if err != nil {
		s.Fatalf("ListSubkeys: %v", err)
	}
	slices.Sort(list)
	return list
}

func (s *storeSuite) del(d claude.SessionDeleter, key claude.SessionKey) {
	s.Helper()
	if err := d.Delete(s.ctx, key); err != nil {
		s.Fatalf("Delete: %v", err)
	}
}

func (s *storeSuite) equal(what string, got, want []string) {
	s.Helper()
	if len(got)+len(want) > 0 && !slices.Equal(got, want) {
		s.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func (s *storeSuite) appendLoad() {
	odd := []json.RawMessage{
		json.RawMessage(`{"type":"assistant","uuid":"a","message":{"content":[{"type":"text","text":"line\nbreak \u2028 \ud83d\ude00 é \u003c&>"}],"n":1.5,"big":12345678901,"nil":null,"no":false,"empty":{},"list":[]}}`),
		json.RawMessage(`{"type":"custom-title","customTitle":"no uuid"}`),
		json.RawMessage(`{"type":"custom-title","customTitle":"no uuid"}`),
		json.RawMessage(`{"type":"some-new-type","uuid":"","deep":{"a":{"b":{"c":["x",{"d":1}]}}}}`),
	}
	s.append(storeMain, odd...)
	s.want(storeMain, odd...)
}

func (s *storeSuite) unknown() {
	if got := s.load(storeMain); got != nil {
		s.Errorf("a session never written has %q", got)
	}
	s.append(storeMain, storeEntry(1))
	if got := s.load(storeSub); got != nil {
		s.Errorf("a subpath never written has %q", got)
	}
	if got := s.load(storeTwo); got != nil {
		s.Errorf("another session has %q", got)
	}
}

func (s *storeSuite) callOrder() {
	var want []json.RawMessage
	for _, n := range []int{5, 3, 9, 1, 7, 2, 8, 4, 6, 10, 12, 11} {
		s.append(storeMain, storeEntry(n), storeEntry(100+n))
		want = append(want, storeEntry(n), storeEntry(100+n))
	}
	s.want(storeMain, want...)
}

func (s *storeSuite) appendNothing() {
	s.append(storeMain)
	if got := s.load(storeMain); len(got) != 0 {
		s.Errorf("nothing appended is %q", got)
	}
	s.append(storeMain, storeEntry(1))
	s.append(storeMain)
	s.want(storeMain, storeEntry(1))
}

func (s *storeSuite) subpathApart() {
	s.append(storeMain, storeEntry(1))
	s.append(storeSub, storeEntry(2))
	s.append(storeMain, storeEntry(3))
	s.want(storeMain, storeEntry(1), storeEntry(3))
	s.want(storeSub, storeEntry(2))
}

func (s *storeSuite) projectsApart() {
	s.append(storeMain, storeEntry(1))
	s.append(storeAway, storeEntry(2))
	s.want(storeMain, storeEntry(1))
	s.want(storeAway, storeEntry(2))
}

func (s *storeSuite) listSessions() {
	l := storeAs[claude.SessionLister](s)
	s.append(storeMain, storeEntry(1))
	s.append(storeTwo, storeEntry(2))
	s.append(storeAway, storeEntry(3))
	s.equal("sessions", s.sessions(l, storeMain.ProjectKey), []string{storeMain.SessionID, storeTwo.SessionID})
	s.equal("of the other project", s.sessions(l, storeAway.ProjectKey), []string{storeAway.SessionID})
	s.equal("of an unknown project", s.sessions(l, "-none"), nil)
}

func (s *storeSuite) listWithoutSubpaths() {
	l := storeAs[claude.SessionLister](s)
	s.append(storeMain, storeEntry(1))
	s.append(storeSub, storeEntry(2))
	other := storeTwo
	other.Subpath = "subagents/agent-2"
	s.append(other, storeEntry(3))
	s.equal("sessions", s.sessions(l, storeMain.ProjectKey), []string{storeMain.SessionID})
}

func (s *storeSuite) deleteOne() {
	d := storeAs[claude.SessionDeleter](s)
	s.del(d, storeMain)
	s.append(storeMain, storeEntry(1))
	s.del(d, storeMain)
	if got := s.load(storeMain); got != nil {
		s.Errorf("a deleted session has %q", got)
	}
	s.append(storeMain, storeEntry(1)) // a deleted entry is not a duplicate
	s.want(storeMain, storeEntry(1))
}

func (s *storeSuite) deleteCascades() {
	d := storeAs[claude.SessionDeleter](s)
	for i, key := range []claude.SessionKey{storeMain, storeSub, storeTwo, storeAway} {
		s.append(key, storeEntry(i))
	}
	s.del(d, storeMain)
	s.want(storeMain)
	s.want(storeSub)
	s.want(storeTwo, storeEntry(2))
	s.want(storeAway, storeEntry(3))
	if l, ok := s.store.(claude.SubkeyLister); ok {
		s.equal("subkeys", s.subkeys(l, storeMain), nil)
	}
}

func (s *storeSuite) deleteSubpath() {
	d := storeAs[claude.SessionDeleter](s)
	other := storeMain
	other.Subpath = "subagents/agent-10" // agent-1 is a prefix of its name
	s.append(storeMain, storeEntry(1))
	s.append(storeSub, storeEntry(2))
	s.append(other, storeEntry(3))
	s.del(d, storeSub)
	s.want(storeSub)
	s.want(storeMain, storeEntry(1))
	s.want(other, storeEntry(3))
}

func (s *storeSuite) listSubkeys() {
	l := storeAs[claude.SubkeyLister](s)
	deep := storeMain
	deep.Subpath = "subagents/workflows/run_1/agent-2"
	other := storeTwo
	other.Subpath = "subagents/agent-9"
	for i, key := range []claude.SessionKey{storeMain, storeSub, deep, storeTwo, other} {
		s.append(key, storeEntry(i))
	}
	s.equal("subkeys", s.subkeys(l, storeMain), []string{storeSub.Subpath, deep.Subpath})
}

func (s *storeSuite) subkeysWithoutMain() {
	l := storeAs[claude.SubkeyLister](s)
	s.equal("of an unknown session", s.subkeys(l, storeTwo), nil)
	s.append(storeMain, storeEntry(1))
	s.equal("of one without subagents", s.subkeys(l, storeMain), nil)
	s.append(storeSub, storeEntry(2))
	s.equal("of one with a subagent", s.subkeys(l, storeMain), []string{storeSub.Subpath})
}

func (s *storeSuite) summary(l claude.SummaryLister, key claude.SessionKey) *claude.StoredSummary {
	s.Helper()
	list, err := l.ListSummaries(s.ctx, key.ProjectKey)
	if err != nil {
		s.Fatalf("ListSummaries: %v", err)
	}
	i := slices.IndexFunc(list, func(e claude.StoredSummary) bool { return e.SessionID == key.SessionID })
	if i < 0 {
		return nil
	}
	return &list[i]
}

func (s *storeSuite) summaries() {
	l := storeAs[claude.SummaryLister](s)
	if s.summary(l, storeMain) != nil {
		s.Error("a session never written has a summary")
	}
	first := json.RawMessage(`{"type":"user","uuid":"u1","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/w","message":{"content":"Hello"}}`)
	title := json.RawMessage(`{"type":"custom-title","customTitle":"A title"}`)
	s.append(storeMain, first)
	s.append(storeMain, title)
	s.append(storeTwo, storeEntry(2))
	got := s.summary(l, storeMain)
	if got == nil || s.summary(l, storeTwo) == nil {
		s.Fatal("a session has no summary")
	}
	want, err := claudestore.FoldSummary(nil, storeMain, []json.RawMessage{first, title}, time.Time{})
	if err != nil {
		s.Fatal(err)
	}
	s.sameData(got.Data, want.Data)
	s.summaryTime(got)
	sub := json.RawMessage(`{"type":"custom-title","customTitle":"Not this one"}`)
	s.append(storeSub, sub)
	s.sameData(s.summary(l, storeMain).Data, want.Data)
	if d, ok := s.store.(claude.SessionDeleter); ok {
		s.del(d, storeMain)
		if s.summary(l, storeMain) != nil {
			s.Error("a deleted session has a summary")
		}
	}
}

func (s *storeSuite) sameData(got, want json.RawMessage) {
	s.Helper()
	if !reflect.DeepEqual(storeValues(s.T, []json.RawMessage{got}), storeValues(s.T, []json.RawMessage{want})) {
		s.Errorf("the summary is %s, want %s", got, want)
	}
}

// summaryTime: a summary older than its session would count as outdated.
func (s *storeSuite) summaryTime(sum *claude.StoredSummary) {
	s.Helper()
	l, ok := s.store.(claude.SessionLister)
	if !ok {
		return
	}
	list, err := l.ListSessions(s.ctx, storeMain.ProjectKey)
	if err != nil {
		s.Fatal(err)
	}
	for _, e := range list {
		if e.SessionID == sum.SessionID && sum.ModTime.UnixMilli() < e.ModTime.UnixMilli() {
			s.Errorf("the summary is of %v, the session of %v", sum.ModTime, e.ModTime)
		}
	}
}

package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/contextref"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/webhook"
	"github.com/seed7221b0f9/parley/workspace"
)

// memLog is an in-memory log with faults for tests.
type memLog struct {
	mu     sync.Mutex
	events [][]byte
	deltas []eventlog.Event
	snap   *eventlog.Snapshot
	fail   error // of Append

	trimmed uint64 // the last argument of TrimDeltas
}

func (l *memLog) Append(_ context.Context, expected uint64, events ...[]byte) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return 0, l.fail
	}
	if expected != uint64(len(l.events)) {
		return 0, &eventlog.ConflictError{Expected: expected, Last: uint64(len(l.events))}
	}
	l.events = append(l.events, events...)
	l.deltas = nil
	return uint64(len(l.events)), nil
}

func (l *memLog) AppendDelta(_ context.Context, _, seq, sub uint64, deltas ...[]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, d := range deltas {
		l.deltas = append(l.deltas, eventlog.Event{Seq: seq, Sub: sub + uint64(i), Data: d})
	}
	return nil
}

func (l *memLog) TrimDeltas(_ context.Context, seq uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trimmed = seq
	return nil
}

func (l *memLog) Last(context.Context) (eventlog.Cursor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.events) == 0 {
		return eventlog.Cursor{}, eventlog.ErrNotFound
	}
	return eventlog.Cursor{Epoch: "e", Seq: uint64(len(l.events))}, nil
}

func (l *memLog) Read(_ context.Context, after eventlog.Cursor) iter.Seq2[eventlog.Event, error] {
	l.mu.Lock()
	events, deltas := slices.Clone(l.events), slices.Clone(l.deltas)
	l.mu.Unlock()
	return func(yield func(eventlog.Event, error) bool) {
		for i := after.Seq; i < uint64(len(events)); i++ {
			if !yield(eventlog.Event{Seq: i + 1, Data: events[i]}, nil) {
				return
			}
		}
		for _, d := range deltas {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (l *memLog) Snapshot(context.Context) (eventlog.Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.snap == nil {
		return eventlog.Snapshot{}, eventlog.ErrNotFound
	}
	return *l.snap, nil
}

func (l *memLog) PutSnapshot(_ context.Context, seq, sub uint64, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.snap = &eventlog.Snapshot{Cursor: eventlog.Cursor{Seq: seq, Sub: sub}, Data: data}
	return nil
}

func (l *memLog) Trim(context.Context, uint64) error { return nil }

func (l *memLog) Delete(context.Context) error { return nil }

// memStore is a store in memory.
type memStore struct {
	mu     sync.Mutex
	logs   map[string]*memLog
	damage []eventlog.Damage
}

func (s *memStore) Log(session string) Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs == nil {
		s.logs = map[string]*memLog{}
	}
	if s.logs[session] == nil {
		s.logs[session] = &memLog{}
	}
	return s.logs[session]
}

func (s *memStore) Ends(context.Context) (string, map[string]uint64, error) { return "", nil, nil }

func (s *memStore) Health(context.Context) error { return nil }

func (s *memStore) Damage() []eventlog.Damage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.damage)
}

// endedStore is a store in memory with the ends of its logs.
type endedStore struct{ *memStore }

func (s *endedStore) Ends(ctx context.Context) (string, map[string]uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ends := map[string]uint64{}
	for id, log := range s.logs {
		if at, err := log.Last(ctx); err == nil {
			ends[id] = at.Seq
		}
	}
	return "g", ends, nil
}

// memSessions returns sessions without a server.
func memSessions(t *testing.T, change ...func(*Options)) (*Sessions, *memStore) {
	t.Helper()
	st, provider := &memStore{}, &agenttest.Provider{ProviderName: "claude", Dir: t.TempDir()}
	workspaces, err := workspace.Open(t.Context(), workspace.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{
		Store: st, Dir: t.TempDir(), SecretDir: t.TempDir(), List: filepath.Join(t.TempDir(), "list"), Logger: slog.New(slog.DiscardHandler), Tracer: NewTracer(nil, ""), Now: time.Now, MaxAgents: 8, MaxSessions: 100,
		UnloadAfter: time.Minute, StartTimeout: patience, CallTimeout: patience, DeltaInterval: 250 * time.Millisecond, JoinInterval: 25 * time.Millisecond,
		Provider: func(context.Context, string, string) (agent.Provider, []string, error) { return provider, nil, nil },
		Visible:  func(context.Context, string) bool { return true },
		Prepare:  func(string, agent.Provider, *agent.Options) (func(), error) { return func() {}, nil },
		Accounts: free{}, Metrics: quiet{}, Notices: quiet{}, Local: &place.Local{Roots: []string{"/"}, Manager: workspaces},
	}
	for _, f := range change {
		f(&opts)
	}
	s, err := Open(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := workspaces.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, st
}

// patience is the timeout of tests for expected events.
const patience = 10 * time.Second

// free has no limits.
type free struct{}

func (free) Add(context.Context, ...budget.Row) error             { return nil }
func (free) Check(budget.Account) []budget.Standing               { return nil }
func (free) Release(string) []string                              { return nil }
func (free) Reserve(budget.Account, budget.Amount) budget.Verdict { return budget.Begin }
func (free) Spent(string) budget.Amount                           { return budget.Amount{} }
func (free) Used(acc budget.Account, u agent.Used) budget.Row     { return budget.Row{Account: acc} }
func (free) Reported(context.Context, budget.Account, budget.Amount, bool) (budget.Row, error) {
	return budget.Row{}, nil
}

// quiet implements metrics and webhooks without effect.
type quiet struct{}

func (quiet) Turn(string, bool, time.Duration)           {}
func (quiet) Appended(error, time.Duration)              {}
func (quiet) Used(string, agent.Used, float64)           {}
func (quiet) Reconciled(string, float64)                 {}
func (quiet) Wants(string) bool                          { return false }
func (quiet) Add(context.Context, []webhook.Event) error { return nil }

// providerOf returns the agent of the sessions.
func providerOf(s *Sessions) agent.Provider {
	p, _, _ := s.opts.Provider(context.Background(), "", "")
	return p
}

// created creates a session and starts its agent.
func created(ctx context.Context, s *Sessions) (api.ConnectResult, error) {
	id := Prefix + random.Hex(6)
	if err := s.Create(ctx, id, Opened{}); err != nil {
		return api.ConnectResult{}, err
	}
	return s.Connected(ctx, id)
}

// until waits until ok is true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("it never came: %s", what)
		}
	}
}

// recordings returns the dialogues of the corpus as events.
func recordings(t *testing.T) map[string][]event.Event {
	t.Helper()
	dir := os.Getenv("PARLEY_WIRE_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "testdata", "wire")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "stdout.jsonl"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	all := map[string][]event.Event{}
	for i := 0; i < len(files); i += short.Every(3) {
		file := files[i]
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c claudeevent.Converter
		var events []event.Event
		for line := range bytes.Lines(data) {
			if m, err := message.Decode(bytes.TrimSpace(line)); err == nil {
				events = append(events, c.Add(m)...)
			}
		}
		all[filepath.ToSlash(filepath.Dir(file))] = append(events, c.End(nil)...)
	}
	return all
}

func encodedConversation(t *testing.T, c *event.Conversation) string {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// decodeRecords decodes the messages of records.
func decodeRecords(t *testing.T, records [][]byte) [][]byte {
	t.Helper()
	messages := make([][]byte, len(records))
	for i, data := range records {
		rec, err := decodeRecord(data)
		if err != nil {
			t.Fatal(err)
		}
		messages[i] = rec.Msg
	}
	return messages
}

// foldMessages folds messages into a conversation, with a new decoder.
func foldMessages(t *testing.T, conv *event.Conversation, messages [][]byte) {
	t.Helper()
	var d event.Decoder
	for _, m := range messages {
		events, err := d.Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			conv.Apply(ev)
		}
	}
}

// TestSnapshotAndTail checks for every recording that a snapshot after any record and the tail
// after it equal the whole, and that deltas have no effect on it.
func TestSnapshotAndTail(t *testing.T) {
	short.SkipQuick(t, "folds many prefixes")
	s, st := memSessions(t)
	for name, events := range recordings(t) {
		id := Prefix + random.Hex(4)
		a := s.newActor(id, "e")
		a.provider = providerOf(s)
		a.core.Provider = "claude"
		a.draft(a.core.stateDraft(Idle))
		for _, ev := range events {
			a.publish(a.take(nil, ev))
		}
		for _, ev := range a.stream.cut() {
			a.draft(draft{event: ev})
		}
		if err := a.write(); err != nil {
			t.Fatal(err)
		}
		records := st.logs[id].events
		messages := decodeRecords(t, records)
		var whole event.Conversation
		foldMessages(t, &whole, messages)
		want := encodedConversation(t, &whole)
		if live := encodedConversation(t, &a.conv); live != want {
			t.Errorf("%s: the fold with deltas is not that of the log\nlive %s\nlog  %s", name, live, want)
			continue
		}
		step := max(1, len(records)/short.Count(1, 5, max(1, len(records))))
		for n := 0; n <= len(records); n += step {
			var head, restored event.Conversation
			foldMessages(t, &head, messages[:n])
			if err := json.Unmarshal([]byte(encodedConversation(t, &head)), &restored); err != nil {
				t.Fatal(err)
			}
			foldMessages(t, &restored, messages[n:])
			if got := encodedConversation(t, &restored); got != want {
				t.Errorf("%s: snapshot(%d) and its tail are not the whole\ngot  %s\nwant %s", name, n, got, want)
				break
			}
		}
		a.cancel()
	}
}

// TestSnapshot_trims checks that deltas are removed from the log once a snapshot includes their
// messages.
func TestSnapshot_trims(t *testing.T) {
	s, st := memSessions(t)
	id := Prefix + random.Hex(4)
	a := s.newActor(id, "e")
	defer a.cancel()
	a.provider, a.core.Provider = providerOf(s), "claude"
	a.draft(a.core.stateDraft(Idle))
	if err := a.write(); err != nil {
		t.Fatal(err)
	}
	a.snapshot()
	log := st.logs[id]
	until(t, "the deltas are trimmed", func() bool {
		log.mu.Lock()
		defer log.mu.Unlock()
		return log.trimmed == a.seq
	})
}

// TestDiskFull checks that an input that cannot be stored is rejected, that the agent's work waits,
// and that everything continues when there is room again.
func TestDiskFull(t *testing.T) {
	s, st := memSessions(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	result, err := created(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	id := result.SessionID
	log := st.logs[id]
	last := ""
	defer func() {
		if t.Failed() {
			t.Log(last)
		}
	}()
	setFail := func(err error) {
		log.mu.Lock()
		defer log.mu.Unlock()
		log.fail = err
	}
	if _, err := s.Query(ctx, id, "", event.Quote("wait"), "", ""); err != nil {
		t.Fatal(err)
	}
	history := func() string {
		r, err := Of[Details](s).GetHistory(context.Background(), api.SessionRef{SessionID: id})
		last = string(r.Conversation) + fmt.Sprint(err)
		return last
	}
	until(t, "the turn runs", func() bool { return strings.Contains(history(), "end_turn") })
	setFail(eventlog.ErrFull)
	if _, err := s.Query(ctx, id, "k", event.Quote("say no"), "", ""); FailureOf(err).Reason != api.LimitReached {
		t.Errorf("an input with a full disk: %v", err)
	}
	if _, err := Of[Agents](s).Interrupt(ctx, api.SessionRef{SessionID: id}); err != nil {
		t.Fatal(err)
	}
	setFail(nil)
	until(t, "the turn ends when there is room", func() bool {
		return strings.Contains(history(), `"state":"idle"`)
	})
	if _, err := s.Query(ctx, id, "k", event.Quote("say yes"), "", ""); err != nil {
		t.Errorf("an input after there is room: %v", err)
	}
}

// TestLostHost checks that a server stops writing after another one has written its log.
func TestLostHost(t *testing.T) {
	s, st := memSessions(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	result, err := created(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	log := st.logs[result.SessionID]
	log.mu.Lock()
	log.events = append(log.events, []byte(`{"t":"","m":{"type":"session_state","state":"idle","provider":"claude"}}`))
	n := len(log.events)
	log.mu.Unlock()
	if _, err := s.Query(ctx, result.SessionID, "", event.Quote("say x"), "", ""); FailureOf(err).Reason != api.NotOwner {
		t.Errorf("an input to a lost session: %v", err)
	}
	if _, err := s.Query(ctx, result.SessionID, "", event.Quote("say x"), "", ""); FailureOf(err).Reason != api.NotOwner {
		t.Errorf("a second input: %v", err)
	}
	if log.mu.Lock(); len(log.events) != n {
		t.Errorf("it was written: %d records, want %d", len(log.events), n)
	}
	log.mu.Unlock()
}

func TestTransitions(t *testing.T) {
	all := []occurrence{onStart, onStarted, onFailed, onSend, onAsk, onAnswered, onResult, onDied, onEvict, onEnd, onDrain, onLost, onRecovered}
	for from, row := range transitions {
		for o, to := range row {
			if !slices.Contains(all, o) || transitions[to] == nil {
				t.Errorf("%s: %s leads to %s", from, o, to)
			}
		}
		for _, o := range all {
			to, err := from.next(o)
			if _, ok := row[o]; ok != (err == nil) || err != nil && to != from {
				t.Errorf("%s in %s gives %s, %v", o, from, to, err)
			}
		}
		if to := row[onLost]; to != LostHost {
			t.Errorf("%s: a lost session is %q", from, to)
		}
	}
	for _, o := range []occurrence{onDrain, onEnd, onLost} { // an eviction may be running
		between, _ := Idle.next(o)
		if to, err := between.next(onEvict); err != nil || to != between {
			t.Errorf("after %s the end of an evicted agent leads from %s to %s, %v; want no change", o, between, to, err)
		}
	}
	if from := Idle; transitions[from][onSend] != Running || transitions[Running][onDied] != Interrupted {
		t.Error("the table has changed")
	}
}

// TestDied checks the state of inputs and requests after an agent's death.
func TestDied(t *testing.T) {
	for _, tt := range []struct {
		fate agent.Delivery
		want inputStatus
	}{{agent.Delivered, ""}, {agent.NotDelivered, inputHeld}, {agent.DeliveryUnknown, inputUnknown}} {
		c := core{ID: "s", State: Running, Inputs: []input{{ID: "a", Content: `"x"`, Status: inputSent}, {ID: "b", Content: `"y"`, Status: inputDelivered}},
			Requests: []pendingPrompt{{Prompt: event.Prompt{Permission: &event.PermissionRequest{RequestID: "r"}}}}}
		for _, d := range c.died(func(input) agent.Delivery { return tt.fate }) {
			if p, ok := d.event.(*event.PermissionResolved); ok && p.Behavior != event.ResolvedExpired {
				t.Errorf("the request is %s", p.Behavior)
			}
			c.apply(1, "", d.facts)
		}
		a, ok := c.input("a")
		if _, b := c.input("b"); b || ok != (tt.want != "") || a.Status != tt.want {
			t.Errorf("fate %v: the input is %q (%v), want %q", tt.fate, a.Status, ok, tt.want)
		}
		if c.State != Interrupted || len(c.Requests) != 0 {
			t.Errorf("fate %v: state %s, %d requests", tt.fate, c.State, len(c.Requests))
		}
	}
}

func TestStall_next(t *testing.T) {
	s := Stall{Notify: 10, Interrupt: 20, Kill: 30}
	for _, tt := range []struct {
		silent int
		taken  stallStep
		want   stallStep
	}{{9, stallNone, stallNone}, {10, stallNone, stallNotified}, {15, stallNotified, stallNotified}, {20, stallNotified, stallInterrupted}, {35, stallInterrupted, stallKilled}, {40, stallKilled, stallKilled}} {
		if got := s.next(time.Duration(tt.silent), tt.taken); got != tt.want {
			t.Errorf("after %d with %d: %d, want %d", tt.silent, tt.taken, got, tt.want)
		}
	}
}

// A title has the words of the prompt, not the list of files before them.
func TestPromptTitle(t *testing.T) {
	with, err := contextref.Build("Give up after six tries in @upload/retry.go", []contextref.Reference{&contextref.File{Path: "upload/retry.go"}}, contextref.English)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := contextref.Build("", []contextref.Reference{&contextref.File{Path: "a.go"}}, contextref.English)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ prompt, want string }{
		{with, "Give up after six tries in @upload/retry.go"}, {"plain\n words", "plain words"}, {"> quoted\n\nwords", "> quoted words"},
	} {
		if got := promptTitle(tt.prompt); got != tt.want {
			t.Errorf("the title of %q is %q, want %q", tt.prompt, got, tt.want)
		}
	}
	if got := promptTitle(alone); got == "" {
		t.Errorf("a prompt of references alone, %q, has no title", alone)
	}
}

func TestValidTitle(t *testing.T) {
	for title, want := range map[string]bool{"A title": true, " x ": true, "": false, "a\nb": false, "\x1b[31m": false, "a\u202eb": false, "…": false, "\xff": false, string(bytes.Repeat([]byte("a"), 81)): false} {
		if _, ok := ValidTitle(title); ok != want {
			t.Errorf("%q: %v, want %v", title, ok, want)
		}
	}
}

// TestEnvelope compares the manually written envelope with the type.
func TestEnvelope(t *testing.T) {
	for _, sub := range []uint64{0, 7} {
		want := api.Envelope{Seq: 5, Sub: sub, Epoch: "e\"", SessionID: "s-1", TS: "now", Msg: json.RawMessage(`{"type":"x","text":"<&\u2028"}`)}
		data := appendEnvelope(nil, want.SessionID, want.Epoch, want.Seq, want.Sub, want.TS, want.Msg)
		var got api.Envelope
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if string(got.Msg) != string(want.Msg) || got.Seq != want.Seq || got.Sub != want.Sub || got.Epoch != want.Epoch || got.SessionID != want.SessionID || got.TS != want.TS {
			t.Errorf("%s is read as %+v", data, got)
		}
	}
	rec := record{Time: "t\"", Msg: json.RawMessage(`{"a":1}`)}
	data, err := rec.encode()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := decodeRecord(data); err != nil || back.Time != rec.Time || string(back.Msg) != string(rec.Msg) || back.Facts != nil {
		t.Errorf("%s is read as %+v, %v", data, back, err)
	}
}

// TestPartialText_acrossRecords checks that a block is complete from its first word after a crash,
// even if a record was written in the middle of it.
func TestPartialText_acrossRecords(t *testing.T) {
	s, st := memSessions(t)
	id := Prefix + "partial"
	a := s.newActor(id, "e")
	defer a.cancel()
	a.provider = providerOf(s)
	a.core.Provider = "claude"
	h := event.Header{MessageID: "m"}
	for _, ev := range []event.Event{&event.MessageStart{Header: h}, &event.TextStart{Header: h}, &event.TextDelta{Header: h, Text: "first "},
		&event.Notice{Severity: event.NoticeInfo, Text: "n"}, &event.TextDelta{Header: h, Text: "second"}} {
		a.publish(a.take(nil, ev))
	}
	a.flush()
	if len(st.logs[id].deltas) == 0 {
		t.Fatal("no delta was saved")
	}
	b, err := s.load(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer b.cancel()
	if got := b.conv.Threads[0].Items[0].Message.Blocks[0].Text.String(); got != "first second" {
		t.Errorf("after a crash the text is %q", got)
	}
}

package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// faulty is an agent that fails on demand. Its events end when it is closed.
type faulty struct {
	agent.Session
	id     string
	of     *faultyProvider
	closed chan struct{}
	once   sync.Once
}

func (a *faulty) ID() string { return a.id }

func (a *faulty) Events(context.Context) iter.Seq2[event.Event, error] {
	return func(func(event.Event, error) bool) { <-a.closed }
}

func (a *faulty) Send(_ context.Context, in agent.Input) error {
	a.of.note("send to " + a.id + " " + in.Priority)
	if len(a.of.sends) == 0 {
		return nil
	}
	err := a.of.sends[0]
	a.of.sends = a.of.sends[1:]
	return err
}

func (a *faulty) Interrupt(context.Context) (agent.Interrupted, error) {
	a.of.note("interrupt " + a.id)
	return agent.Interrupted{}, nil
}

func (a *faulty) Modes() []string { return []string{"default", "plan"} }

func (a *faulty) SetMode(_ context.Context, mode string) error {
	a.of.note("mode " + mode)
	return nil
}

func (a *faulty) Close() error {
	a.once.Do(func() {
		a.of.note("close " + a.id)
		close(a.closed)
	})
	return a.of.close
}

// faultyProvider starts agents that fail on demand.
type faultyProvider struct {
	agent.Provider
	sends               []error // errors for the prompts, in order
	resume, open, close error
	delivered           agent.Delivery
	unknown             error // returned by Delivered

	mu    sync.Mutex
	notes []string
}

func (p *faultyProvider) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, strings.TrimSpace(what))
}

func (p *faultyProvider) agent(id string) *faulty {
	return &faulty{id: id, of: p, closed: make(chan struct{})}
}

func (p *faultyProvider) Open(_ context.Context, o agent.Options) (agent.Session, error) {
	p.note("open " + o.ID)
	return p.agent("opened"), p.open
}

func (p *faultyProvider) Resume(_ context.Context, id string, _ agent.Options) (agent.Session, error) {
	p.note("resume " + id)
	if p.resume != nil {
		return nil, p.resume
	}
	return p.agent("resumed"), nil
}

func (p *faultyProvider) Delivered(context.Context, string, string) (agent.Delivery, error) {
	return p.delivered, p.unknown
}

// onlyOpens is a provider that cannot continue sessions.
type onlyOpens struct{ p *faultyProvider }

func (o onlyOpens) Name() string { return "x" }
func (o onlyOpens) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	return o.p.Open(ctx, opts)
}

// TestSend sends a prompt to an agent that refuses it, has died, or cannot be restarted. The prompt
// is sent at most twice and never after a cancellation, and the client gets the error.
func TestSend(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		sends      []error // errors of the agent
		resume     error   // error of the provider
		open       error
		live       bool // an agent is running
		mode       string
		cancelled  bool
		noResume   bool
		closed     bool
		want       error
		sent, over bool
		notes      string
	}{
		"taken":                       {live: true, sent: true, notes: "send to first"},
		"refused":                     {sends: []error{broken}, live: true, want: broken, notes: "send to first"},
		"dead":                        {sends: []error{agent.ErrClosed}, live: true, mode: "plan", sent: true, notes: "send to first|close first|resume first|mode plan|send to resumed"},
		"dead, default mode":          {sends: []error{agent.ErrClosed}, live: true, mode: "default", sent: true, notes: "send to first|close first|resume first|send to resumed"},
		"dead twice":                  {sends: []error{agent.ErrClosed, agent.ErrClosed}, live: true, want: agent.ErrClosed, notes: "send to first|close first|resume first|send to resumed"},
		"dead and lost":               {sends: []error{agent.ErrClosed}, resume: agent.ErrNotFound, live: true, sent: true, notes: "send to first|close first|resume first|open first|send to opened"},
		"dead, cannot start":          {sends: []error{agent.ErrClosed}, resume: broken, live: true, want: broken, notes: "send to first|close first|resume first"},
		"dead and lost, cannot start": {sends: []error{agent.ErrClosed}, resume: agent.ErrNotFound, open: broken, live: true, want: broken, notes: "send to first|close first|resume first|open first"},
		"dead, cannot continue":       {sends: []error{agent.ErrClosed}, live: true, noResume: true, want: agent.ErrUnsupported, notes: "send to first|close first"},
		"cancelled":                   {live: true, cancelled: true, over: true},
		"no agent":                    {sent: true, notes: "resume s|send to resumed"},
		"session closed":              {live: true, closed: true, want: notFound("s")},
	} {
		t.Run(name, func(t *testing.T) {
			peer := newPeer(t)
			provider := &faultyProvider{sends: c.sends, resume: c.resume, open: c.open}
			peer.srv.opts.Provider = provider
			if c.noResume {
				peer.srv.opts.Provider = onlyOpens{provider}
			}
			s := newSession(peer.srv, "s", agent.Options{})
			s.loop = make(chan struct{})
			if c.live {
				s.attach(provider.agent("first"))
			} else {
				close(s.loop)
			}
			s.config.mode, s.closed = c.mode, c.closed
			p := s.enqueue()
			p.cancelled = c.cancelled
			err := p.send(t.Context(), nil)
			if e, ok := c.want.(*jsonrpc.Error); ok {
				got, is := errors.AsType[*jsonrpc.Error](err)
				if !is || got.Code != e.Code {
					t.Errorf("send = %v, want %v", err, c.want)
				}
			} else if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("send = %v, want %v", err, c.want)
			}
			if p.sent != c.sent || p.accepted != c.sent {
				t.Errorf("the prompt is sent: %v, taken: %v; want %v", p.sent, p.accepted, c.sent)
			}
			select {
			case <-p.over:
				if !c.over || p.result.reason != acp.StopReasonCancelled {
					t.Errorf("the prompt is over with %+v, want that: %v", p.result, c.over)
				}
			default:
				if c.over {
					t.Error("the prompt is not over, want cancelled")
				}
			}
			provider.mu.Lock()
			if got := strings.Join(provider.notes, "|"); got != c.notes {
				t.Errorf("the agents were told %s, want %s", got, c.notes)
			}
			provider.mu.Unlock()
			s.close()
		})
	}
}

// TestOrphaned checks a prompt whose agent has died, in each state. The prompt is sent again only
// if it had no visible effect, is missing in the session's files, and was sent only once.
func TestOrphaned(t *testing.T) {
	for name, c := range map[string]struct {
		delivered                                agent.Delivery
		unknown                                  error
		held, shown, repeated, cancelled, closed bool
		again                                    bool
		want                                     string // the stop reason, or the kind of the error
	}{
		"lost":                    {again: true},
		"written down":            {delivered: agent.Delivered, want: "agent_exited"},
		"not known":               {unknown: errors.New("x"), want: "agent_exited"},
		"lost, shown":             {shown: true, want: "prompt_lost"},
		"lost twice":              {repeated: true, want: "prompt_lost"},
		"lost, cancelled":         {cancelled: true, want: "cancelled"},
		"lost, closed":            {closed: true, want: "prompt_lost"},
		"over":                    {held: true, want: "end_turn"},
		"over and cancelled":      {held: true, cancelled: true, want: "end_turn"},
		"written down, cancelled": {delivered: agent.Delivered, cancelled: true, want: "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			peer := newPeer(t)
			peer.srv.opts.Provider = &faultyProvider{delivered: c.delivered, unknown: c.unknown}
			s := newSession(peer.srv, "s", agent.Options{})
			s.closed = c.closed
			p := s.enqueue()
			p.sent, p.accepted, p.shown, p.repeated, p.cancelled = true, true, c.shown, c.repeated, c.cancelled
			if c.held {
				p.held = &outcome{reason: acp.StopReasonEndTurn}
			}
			p.orphaned(errors.New("why"))
			got := ""
			select {
			case <-p.over:
				got = string(p.result.reason)
				if e, ok := errors.AsType[*jsonrpc.Error](p.result.err); ok {
					var data struct{ ErrorKind string }
					if err := json.Unmarshal(e.Data, &data); err != nil || !strings.Contains(e.Message, "why") {
						t.Errorf("the error is %v with %s, want the cause and its kind", e, e.Data)
					}
					got = data.ErrorKind
				}
			default:
			}
			if again := len(p.again) == 1; got != c.want || again != c.again {
				t.Errorf("the prompt ended with %q and is sent again: %v; want %q, %v", got, again, c.want, c.again)
			}
			if c.again && (p.sent || p.accepted || !p.repeated) {
				t.Errorf("the prompt that is sent again is sent %v, taken %v, repeated %v", p.sent, p.accepted, p.repeated)
			}
		})
	}
}

// TestTaken checks a prompt that the agent accepts at the same time as another event.
func TestTaken(t *testing.T) {
	for name, c := range map[string]struct {
		gone, closed, cancelled bool
		want                    string
	}{
		"runs": {want: ""}, "gone and closed": {gone: true, closed: true, want: "cancelled"}, "gone": {gone: true, want: "again"}, "cancelled": {cancelled: true, want: "interrupt first"},
	} {
		peer := newPeer(t)
		provider := &faultyProvider{}
		peer.srv.opts.Provider = provider
		peer.srv.opts.CancelWait = time.Hour
		s := newSession(peer.srv, "s", agent.Options{})
		live := provider.agent("first")
		if !c.gone {
			s.live = live
		}
		p := s.enqueue()
		p.sent, p.cancelled, s.closed = true, c.cancelled, c.closed
		p.setAccepted(live)
		if c.cancelled {
			p.finish(outcome{}) // as an interrupt does
		}
		peer.srv.work.Wait()
		got := strings.Join(provider.notes, "|")
		if len(p.again) > 0 {
			got += "again"
		}
		got += string(p.result.reason)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestInterrupt_deaf checks that an agent that does not end its turn in time is ended, together
// with the prompt.
func TestInterrupt_deaf(t *testing.T) {
	peer := newPeer(t)
	provider := &faultyProvider{}
	peer.srv.opts.Provider = provider
	peer.srv.opts.CancelWait = time.Millisecond
	s := newSession(peer.srv, "s", agent.Options{})
	live := provider.agent("first")
	s.attach(live)
	p := s.enqueue()
	p.sent, p.accepted = true, true
	s.cancel()
	select {
	case <-p.over:
	case <-time.After(10 * time.Second):
		t.Fatal("the prompt is not over after 10 s")
	}
	select {
	case <-live.closed:
	case <-time.After(10 * time.Second):
		t.Fatal("the agent that ignores the interrupt still runs after 10 s")
	}
	peer.srv.work.Wait()
	if s.live != nil || p.result.reason != acp.StopReasonCancelled {
		t.Errorf("the session has the agent %v and the prompt ended with %+v, want none and cancelled", s.live, p.result)
	}
}

// TestQueue checks that prompts begin in order, one at a time, and that removing a prompt from the
// middle of the queue starts no other one.
func TestQueue(t *testing.T) {
	s := newSession(newPeer(t).srv, "s", agent.Options{})
	a, b, c := s.enqueue(), s.enqueue(), s.enqueue()
	began := func() (list string) {
		for name, p := range map[string]*prompt{"a": a, "b": b, "c": c} {
			select {
			case <-p.turn:
				list += name
			default:
			}
		}
		return list
	}
	for _, step := range []struct {
		leave *prompt
		want  []string
	}{{nil, []string{"a"}}, {b, []string{"a"}}, {b, []string{"a"}}, {a, []string{"ac", "ca"}}, {c, []string{"ac", "ca"}}} {
		if step.leave != nil {
			step.leave.leave()
		}
		if got := began(); !strings.Contains(strings.Join(step.want, " "), got) || len(got) != len(step.want[0]) {
			t.Errorf("the prompts %q have begun, want %q", got, step.want[0])
		}
	}
	if len(s.queue) > 0 {
		t.Errorf("%d prompts are left, want none", len(s.queue))
	}
}

// TestSettle checks that the prompt of an ended turn is answered immediately, unless it waits for
// background work.
func TestSettle(t *testing.T) {
	task := []event.Event{
		&event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "1", Name: "Bash"}, &event.ToolInputComplete{ToolUseID: "1", Input: `{"command":"ls"}`},
		&event.TaskStarted{TaskID: "b", ToolUseID: "1"}, &event.ToolComplete{ToolUseID: "1", Content: `"launched"`, ToolUseResult: `{"backgroundTaskId":"b"}`},
	}
	for name, c := range map[string]struct {
		o                             outcome
		task, cancelled, next, closed bool
		wait                          time.Duration
		afterTurn                     bool
		held                          bool
	}{
		"nothing left":             {o: outcome{reason: acp.StopReasonEndTurn}, afterTurn: true},
		"a report follows":         {o: outcome{reason: acp.StopReasonEndTurn}, held: true},
		"a report, no wait":        {o: outcome{reason: acp.StopReasonEndTurn}, wait: -1},
		"a task":                   {o: outcome{reason: acp.StopReasonEndTurn}, task: true, afterTurn: true, held: true},
		"a task, no wait":          {o: outcome{reason: acp.StopReasonEndTurn}, task: true, afterTurn: true, wait: -1},
		"a task, refused":          {o: outcome{reason: acp.StopReasonRefusal}, task: true, afterTurn: true},
		"a task, failed":           {o: outcome{reason: acp.StopReasonEndTurn, err: errors.New("x")}, task: true, afterTurn: true},
		"a task, cancelled":        {o: outcome{reason: acp.StopReasonEndTurn}, task: true, afterTurn: true, cancelled: true},
		"a task, another prompt":   {o: outcome{reason: acp.StopReasonEndTurn}, task: true, afterTurn: true, next: true},
		"a task, a closed session": {o: outcome{reason: acp.StopReasonEndTurn}, task: true, afterTurn: true, closed: true},
	} {
		peer := newPeer(t)
		peer.srv.opts.BackgroundWait = c.wait
		s := newSession(peer.srv, "s", agent.Options{})
		if c.task {
			for _, ev := range task {
				s.mapper.Event(ev)
			}
		}
		p := s.enqueue()
		if c.next {
			s.enqueue()
		}
		p.held, p.cancelled, s.closed = &c.o, c.cancelled, c.closed
		s.settle(c.afterTurn)
		held := true
		select {
		case <-p.over:
			held = false
		default:
		}
		if held != c.held || c.held != (p.timer != nil) {
			t.Errorf("%s: the prompt waits: %v with a timer: %v, want %v", name, held, p.timer != nil, c.held)
		}
		p.leave()
	}
}

// TestSteer checks that a message reaches only the running turn.
func TestSteer(t *testing.T) {
	broken := errors.New("broken")
	block := []acp.ContentBlock{acp.TextBlock("left")}
	for name, c := range map[string]struct {
		live, running bool
		fail          error
		blocks        []acp.ContentBlock
		want, notes   string
	}{
		"running": {true, true, nil, block, `{"outcome":"injected"}`, "send to first next"}, "idle": {true, false, nil, block, `{"outcome":"noActiveTurn"}`, ""},
		"no agent": {false, true, nil, block, `{"outcome":"noActiveTurn"}`, ""}, "fails": {true, true, broken, block, "broken", "send to first next"},
		"unknown": {true, true, nil, []acp.ContentBlock{{Type: "smell"}}, "not supported", ""},
	} {
		peer := newPeer(t)
		provider := &faultyProvider{}
		if c.fail != nil {
			provider.sends = []error{c.fail}
		}
		s := newSession(peer.srv, "s", agent.Options{})
		peer.srv.sessions["s"] = s
		if c.live {
			s.live = provider.agent("first")
		}
		s.enqueue().sent = c.running
		s.shared.on = true
		result, err := peer.srv.steer(t.Context(), &acp.PromptRequest{SessionID: "s", Prompt: c.blocks})
		text, _ := json.Marshal(result)
		if got := string(text) + fmt.Sprint(err); !strings.Contains(got, c.want) || (err == nil) != strings.HasPrefix(c.want, "{") {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := strings.Join(provider.notes, "|"); got != c.notes {
			t.Errorf("%s: the agent was told %q, want %q", name, got, c.notes)
		}
		if own := len(s.shared.mine) == 1; own != (c.notes != "") {
			t.Errorf("%s: the message counts as one of this client: %v, want %v", name, own, c.notes != "")
		}
	}
}

// TestClientFiles_before checks the text that a tool finds, for each response of the client:
// unsaved text only if the client has saved it. Text that may be newer is never overwritten.
func TestClientFiles_before(t *testing.T) {
	for name, c := range map[string]struct {
		disk, buffer string // "" means a missing file
		touched      bool
		unbound      bool
		fails        string // the failing method, or "lost": it succeeds without saving
		want         string // on the disk
		calls        string
		inStep       bool
	}{
		"the same":             {disk: "a", buffer: "a", want: "a", calls: "read", inStep: true},
		"unsaved":              {disk: "a", buffer: "b", want: "b", calls: "read write", inStep: true},
		"unsaved, disk newer":  {disk: "a", buffer: "b", touched: true, want: "a", calls: "read"},
		"unsaved, not written": {disk: "a", buffer: "b", fails: acp.MethodFsWriteTextFile, want: "a", calls: "read write"},
		"unsaved, lost":        {disk: "a", buffer: "b", fails: "lost", want: "a", calls: "read write"},
		"new buffer":           {buffer: "b", want: "b", calls: "read write", inStep: true},
		"no buffer":            {disk: "a", want: "a", calls: "read"},
		"nothing":              {calls: "read", inStep: true},
		"not text":             {disk: "\xff", buffer: "b", want: "\xff"},
		"strange answer":       {disk: "a", buffer: "b", fails: "strange", want: "a", calls: "read"},
		"no session yet":       {disk: "a", buffer: "b", unbound: true, want: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			path := filepath.Join(t.TempDir(), "a.txt")
			if c.disk != "" {
				if err := os.WriteFile(path, []byte(c.disk), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var calls []string
			p.handle = func(m *jsonrpc.Message) (any, error) {
				var r acp.WriteTextFileRequest
				_ = json.Unmarshal([]byte(m.Params), &r) // a read has no content
				name := strings.TrimSuffix(strings.TrimPrefix(m.Method, "fs/"), "_text_file")
				calls = append(calls, name)
				switch {
				case c.fails == m.Method || name == "read" && c.buffer == "":
					return nil, errors.New("no")
				case name == "read" && c.fails == "strange":
					return []int{}, nil
				case name == "read":
					return map[string]string{"content": c.buffer}, nil
				case c.fails == "lost":
					return map[string]string{}, nil
				}
				return map[string]string{}, os.WriteFile(path, []byte(r.Content), 0o600)
			}
			since := time.Now().Add(time.Hour)
			if c.touched {
				since = time.Time{}
			}
			f := &clientFiles{srv: p.srv, since: since, agreed: map[string]textHash{}, inStep: map[string]textHash{path: hashOf("earlier")}}
			if !c.unbound {
				f.bind("s")
			}
			f.Before(t.Context(), path)
			disk, err := os.ReadFile(path)
			if string(disk) != c.want || err != nil && c.want != "" {
				t.Errorf("the disk has %q, %v; want %q", disk, err, c.want)
			}
			if got := strings.Join(calls, " "); got != c.calls {
				t.Errorf("the client was asked for %q, want %q", got, c.calls)
			}
			_, inStep := f.inStep[path]
			_, agreed := f.agreed[path]
			if inStep != c.inStep || agreed != c.inStep {
				t.Errorf("the file is in step: %v, agreed: %v; want %v", inStep, agreed, c.inStep)
			}
		})
	}
}

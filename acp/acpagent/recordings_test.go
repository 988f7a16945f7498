package acpagent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/acp/acptest"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/sameids"
)

// TestRecordings plays recorded agents to this client, which acts like the recorded client. The
// events must contain everything that the agent sent, permission requests must contain everything
// that meta.json requires, and each fault must cause an error or a result. A restarted agent may use its ids again. PARLEY_ACP_AGENTS_CORPUS
// names another folder of recordings.
func TestRecordings(t *testing.T) {
	dir := os.Getenv("PARLEY_ACP_AGENTS_CORPUS")
	if dir == "" {
		dir = "../../testdata/acp-agents"
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		info, err := os.Stat(folder)
		if files, _ := os.ReadDir(folder); err != nil || !info.IsDir() || len(files) > 0 && !isFile(filepath.Join(folder, "meta.json")) {
			continue
		}
		played++
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			r, err := acptest.ReadRecording(folder, work)
			if err != nil {
				t.Fatal(err)
			}
			d := &driver{t: t, r: r, work: work}
			d.consistent()
			d.files()
			d.drive()
			d.checkTexts()
		})
	}
	if played == 0 {
		t.Error("there are no recordings in", dir)
	}
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// driver repeats the actions of a recorded client.
type driver struct {
	t    *testing.T
	r    *acptest.Recording
	work string

	session *played // nil without an open one
	shown   strings.Builder
	mu      sync.Mutex
	asked   int // of r.Meta.Asks
	late    bool
}

// played is a session of a recorded agent.
type played struct {
	agent.Session
	d       *driver
	agent   *acptest.Agent
	run     int
	waiting chan string // the agent waits for these notifications
	done    chan struct{}
	permits sync.WaitGroup

	mu       sync.Mutex
	changed  chan struct{}
	conv     event.Conversation
	lines    []json.RawMessage // the messages of all events
	results  []*event.ResultMessage
	requests []*event.PermissionRequest
	latest   map[string]*event.PermissionRequest // by request id
	err      error                               // the error that ended the events
	sent     int                                 // number of prompts
}

// limit is the timeout of a step, so that a hanging test fails.
const limit = 2 * time.Minute

func (d *driver) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(d.t.Context(), limit)
}

// provider returns a provider that connects to the recorded agent of a run.
func (d *driver) provider(run int) (*acpagent.Provider, *acptest.Agent, chan string) {
	a := d.r.Agent(run)
	waiting := make(chan string, 100)
	a.Waiting = func(method string) { waiting <- method }
	return &acpagent.Provider{As: "recorded", Local: true, Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) {
		r, w := a.Dial()
		return r, w, nil
	}}, a, waiting
}

// drive repeats the actions of the recorded client, in order.
func (d *driver) drive() {
	lines := d.r.Lines
	for i := range lines {
		l := &lines[i]
		if !l.Client {
			d.await(l)
			continue
		}
		var p struct {
			SessionID, ModeID, ConfigID, ModelID, MethodID string
			Value                                          json.RawMessage
			Prompt                                         []json.RawMessage
			MCPServers                                     json.RawMessage
		}
		if len(l.Params) > 0 {
			if err := json.Unmarshal(l.Params, &p); err != nil {
				d.t.Fatal(err)
			}
		}
		want := d.answer(i)
		switch l.Method {
		case "initialize":
			d.close()
			d.initialize(i, l.Run)
		case "session/new", "session/resume", "session/fork", "session/load":
			d.open(l, p.SessionID, want)
		case "session/prompt":
			d.prompt(p.SessionID, p.Prompt)
		case "session/cancel":
			d.cancel(l)
		case "session/set_mode":
			d.set(l.Method, p.ModeID, want, func(ctx context.Context, s agent.Session) error { return setMode(ctx, s, p.ModeID) })
		case "session/set_model":
			d.set(l.Method, p.ModelID, want, func(ctx context.Context, s agent.Session) error { return setModel(ctx, s, p.ModelID) })
		case "session/set_config_option":
			d.set(l.Method, "", want, func(ctx context.Context, s agent.Session) error {
				return s.(agent.Tuner).Tune(ctx, map[string]json.RawMessage{p.ConfigID: p.Value})
			})
		case "authenticate":
			d.login(l.Run, p.MethodID, want)
		case "session/list":
			d.list(l.Run, want)
		case "session/delete":
			d.visit("session/delete", l.Run, want, func(ctx context.Context, p2 *acpagent.Provider) error {
				return p2.Delete(ctx, p.SessionID, agent.Options{Dir: d.work})
			})
		case "session/close":
			if d.session != nil && d.session.ID() == p.SessionID {
				d.close()
			}
		}
	}
	d.close()
	if d.asked != len(d.r.Meta.Asks) {
		d.t.Errorf("%d requests were shown to a person, the recording has %d", d.asked, len(d.r.Meta.Asks))
	}
}

func setMode(ctx context.Context, s agent.Session, mode string) error {
	m, ok := s.(agent.ModeSetter)
	if !ok {
		return agent.ErrUnsupported
	}
	return m.SetMode(ctx, mode)
}

func setModel(ctx context.Context, s agent.Session, model string) error {
	m, ok := s.(agent.ModelSetter)
	if !ok {
		return agent.ErrUnsupported
	}
	_, err := m.SetModel(ctx, model)
	return err
}

// answer returns the recorded line that answers a request of the client, or nil.
func (d *driver) answer(i int) *acptest.Line {
	l := &d.r.Lines[i]
	if len(l.ID) == 0 || l.Method == "" {
		return nil
	}
	for j := i + 1; j < len(d.r.Lines); j++ {
		a := &d.r.Lines[j]
		if !a.Client && a.Run == l.Run && a.Method == "" && string(a.ID) == string(l.ID) {
			return a
		}
		if at := strings.LastIndex(a.Raw, `{"jsonrpc":`); !a.Client && a.Run == l.Run && at > 0 { // an answer after other text
			if json.Unmarshal([]byte(strings.TrimSpace(a.Raw[at:])), &a.Message) == nil && string(a.ID) == string(l.ID) {
				return a
			}
			a.Message = acptest.Message{}
		}
	}
	return nil
}

// check compares the outcome of a request with its recorded answer.
func (d *driver) check(what string, want *acptest.Line, err error) {
	d.t.Helper()
	switch {
	case want == nil && err == nil:
		d.t.Errorf("%s succeeded, the recorded one was never answered", what)
	case want != nil && len(want.Error) == 0 && err != nil:
		d.t.Errorf("%s: %v, the recorded one succeeded", what, err)
	case want != nil && len(want.Error) > 0 && err == nil:
		d.t.Errorf("%s succeeded, the recorded one failed: %s", what, want.Error)
	case want != nil && len(want.Error) > 0:
		d.explained(what, want.Error, err)
	}
}

// explained checks that an error contains the agent's message and, without a login, the ways to log in.
func (d *driver) explained(what string, answer json.RawMessage, err error) {
	d.t.Helper()
	var e struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
	if json.Unmarshal(answer, &e) != nil {
		d.t.Fatalf("%s: %s; want json.Unmarshal(answer, &e) == nil", what, answer)
	}
	if refused := errors.Is(err, agent.ErrInvalid) || errors.Is(err, agent.ErrUnsupported) || errors.Is(err, agent.ErrClosed); refused {
		return // the request did not reach the agent, or the text contains its message
	}
	var data struct{ Details string }
	_ = json.Unmarshal(e.Data, &data) // other forms have no details
	words := cmp.Or(data.Details, e.Message)
	if !strings.Contains(err.Error(), words) && !strings.HasPrefix(words, "{") {
		d.t.Errorf("%s: the error %q does not have the agent's words %q", what, err, words)
	}
	if e.Code == -32000 && what != "authenticate" {
		login, ok := errors.AsType[*acpagent.LoginError](err)
		if !ok || !errors.Is(err, agent.ErrAuth) || len(login.Methods) == 0 || !strings.Contains(err.Error(), login.Methods[0].Name) {
			d.t.Errorf("%s: the error %q does not explain how to log in", what, err)
		}
	}
}

// initialize describes an agent, for recordings with no request other than initialize.
func (d *driver) initialize(i, run int) {
	for _, l := range d.r.Lines[i+1:] {
		if l.Client && l.Run == run && l.Method != "" {
			return
		}
	}
	p, _, _ := d.provider(run)
	ctx, cancel := d.context()
	defer cancel()
	is, err := p.Describe(ctx, agent.Options{Dir: d.work})
	var hello struct{ ProtocolVersion int }
	if want := d.answer(i); want != nil && json.Unmarshal(want.Result, &hello) == nil && hello.ProtocolVersion != 1 {
		if !errors.Is(err, agent.ErrUnsupported) {
			d.t.Errorf("initialize: %v, want ErrUnsupported for version %d", err, hello.ProtocolVersion)
		}
		return
	}
	if want := d.r.Meta.Reported; err != nil || is.Name != want.Name || is.Version != want.Version {
		d.t.Errorf("initialize: %+v %v, want %+v", is, err, want)
	}
}

// open opens a session like the recorded client.
func (d *driver) open(l *acptest.Line, id string, want *acptest.Line) {
	d.t.Helper()
	d.close()
	p, a, waiting := d.provider(l.Run)
	ctx, cancel := d.context()
	defer cancel()
	opts := agent.Options{Dir: d.work, Partial: true, ModeUnchosen: true, Fork: l.Method == "session/fork", MCPServers: servers(d.t, l.Params)}
	var s agent.Session
	var err error
	switch l.Method {
	case "session/new":
		s, err = p.Open(ctx, opts)
	case "session/load":
		d.replay(l, id, want)
		s, err = p.Resume(ctx, id, opts)
	default:
		s, err = p.Resume(ctx, id, opts)
	}
	d.check(l.Method, want, err)
	if err != nil {
		return
	}
	d.session = &played{Session: s, d: d, agent: a, run: l.Run, waiting: waiting, done: make(chan struct{}), changed: make(chan struct{}), latest: map[string]*event.PermissionRequest{}}
	go d.session.follow()
	if want != nil {
		d.session.offers(want)
	}
}

// servers converts the MCP servers of a recorded request to options.
func servers(t *testing.T, params json.RawMessage) json.RawMessage {
	t.Helper()
	var p struct {
		MCPServers []struct {
			Name, Command string
			Args          []string
		}
	}
	if err := json.Unmarshal(params, &p); err != nil {
		t.Fatal(err)
	}
	byName := map[string]any{}
	for _, s := range p.MCPServers {
		byName[s.Name] = map[string]any{"command": s.Command, "args": s.Args}
	}
	text, err := json.Marshal(byName)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// prompt sends a prompt, even to an agent that has ended if the recorded client did that.
func (d *driver) prompt(id string, blocks []json.RawMessage) {
	d.t.Helper()
	if d.session == nil || d.session.ID() != id {
		return // the session could not be opened, or was closed
	}
	ctx, cancel := d.context()
	defer cancel()
	d.session.sent++
	if err := d.session.Send(ctx, agent.Input{UUID: fmt.Sprint("prompt-", d.session.run, "-", d.session.sent), Content: blocks}); err != nil {
		d.t.Errorf("Send: %v", err)
	}
}

// await waits for the end of a turn if the recorded agent has answered the prompt.
func (d *driver) await(l *acptest.Line) {
	d.t.Helper()
	if d.session == nil || l.Run != d.session.run || l.Method != "" || len(l.ID) == 0 || l.Raw != "" {
		return
	}
	number := 0
	for i := range d.r.Lines {
		c := &d.r.Lines[i]
		if c.Client && c.Run == l.Run && c.Method == "session/prompt" && strings.Contains(string(c.Params), `"`+d.session.ID()+`"`) {
			number++
			if string(c.ID) == string(l.ID) {
				d.session.ended(number, l)
				return
			}
		}
	}
}

// cancel interrupts the turn at the point at which the recorded client did.
func (d *driver) cancel(l *acptest.Line) {
	d.t.Helper()
	if d.session == nil {
		return
	}
	ctx, cancel := d.context()
	defer cancel()
	select {
	case <-d.session.waiting:
	case <-ctx.Done():
		d.t.Fatal("the agent does not come to the point at which it was cancelled")
	}
	asks := 0
	for i := range d.r.Lines {
		if ask := &d.r.Lines[i]; ask.Run == l.Run && !ask.Client && ask.Method == "session/request_permission" && after(d.r.Lines, ask, l) {
			asks++
		}
	}
	d.session.until(ctx, "the requests before the interrupt", func() bool { return len(d.session.requests) >= asks })
	if _, err := d.session.Interrupt(ctx); err != nil {
		d.t.Errorf("Interrupt: %v", err)
	}
}

// set changes a setting of the session. A mode or a model that the agent has not announced must be
// refused without a request to the agent.
func (d *driver) set(what, value string, want *acptest.Line, change func(context.Context, agent.Session) error) {
	d.t.Helper()
	if d.session == nil {
		return
	}
	ctx, cancel := d.context()
	defer cancel()
	err := change(ctx, d.session.Session)
	if refused := errors.Is(err, agent.ErrInvalid) || errors.Is(err, agent.ErrUnsupported); refused && value != "" && !d.announced(ctx, value) {
		return
	}
	d.check(what, want, err)
}

// announced reports whether a value is an announced mode or model.
func (d *driver) announced(ctx context.Context, value string) bool {
	if m, ok := d.session.Session.(agent.ModeSetter); ok && slices.Contains(m.Modes(), value) {
		return true
	}
	c, ok := d.session.Session.(agent.Catalog)
	if !ok {
		return false
	}
	models, err := c.Models(ctx)
	return err == nil && slices.ContainsFunc(models, func(e agent.Entry) bool { return e.Name == value })
}

// login logs in, with a timeout if the recorded agent did not answer.
func (d *driver) login(run int, method string, want *acptest.Line) {
	d.t.Helper()
	d.visit("authenticate", run, want, func(ctx context.Context, p *acpagent.Provider) error {
		return p.Login(ctx, method, agent.Options{Dir: d.work})
	})
}

// visit executes an action that needs no session.
func (d *driver) visit(what string, run int, want *acptest.Line, do func(context.Context, *acpagent.Provider) error) {
	d.t.Helper()
	p, a, _ := d.provider(run)
	ctx, cancel := d.context()
	defer cancel()
	d.check(what, want, do(ctx, p))
	for _, m := range a.Received() {
		if string(m.ID) == "null" {
			d.t.Errorf("%s: a line that is no message was answered: %s", what, m.Error)
		}
	}
}

// list compares the sessions that the agent lists with the recorded ones.
func (d *driver) list(run int, want *acptest.Line) {
	d.t.Helper()
	var got []agent.HistoryInfo
	d.visit("session/list", run, want, func(ctx context.Context, p *acpagent.Provider) (err error) {
		got, err = p.Sessions(ctx, agent.Options{Dir: d.work})
		return err
	})
	var r struct {
		Sessions []struct{ SessionID, Title string }
	}
	if want == nil || json.Unmarshal(want.Result, &r) != nil {
		return
	}
	for _, s := range r.Sessions {
		if !slices.ContainsFunc(got, func(i agent.HistoryInfo) bool { return i.ID == s.SessionID && i.Summary == s.Title }) {
			d.t.Errorf("session/list: %v lacks %v", got, s)
		}
	}
}

// close closes the open session and checks its result.
func (d *driver) close() {
	d.t.Helper()
	s := d.session
	if d.session = nil; s == nil {
		return
	}
	d.t.Helper()
	if d.r.Killed(s.run) { // the recorded process was killed
		select {
		case <-s.done:
		case <-time.After(limit):
			d.t.Error("the session of an agent that was killed does not end")
		}
		if s.err == nil || !errors.Is(s.err, agent.ErrClosed) {
			d.t.Errorf("the session of an agent that was killed ended with %v, want ErrClosed", s.err)
		}
	} else {
		s.settled()
	}
	if err := s.Close(); err != nil {
		d.t.Errorf("Close: %v", err)
	}
	<-s.done
	s.permits.Wait()
	s.checkAll()
	sameids.Check(d.t, s.lines)
}

// settled waits until the events include everything that was played, such as a title at the end.
func (s *played) settled() {
	ctx, cancel := s.d.context()
	defer cancel()
	const title = "the end of the recording"
	s.until(ctx, "all results", func() bool { return len(s.results) >= s.sent })
	s.agent.Send(acptest.Update(s.ID(), map[string]string{"sessionUpdate": "session_info_update", "title": title}))
	s.until(ctx, title, func() bool { return s.conv.Title == title })
}

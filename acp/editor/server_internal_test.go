package editor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
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

// peer is a client with file buffers that is connected to a server.
type peer struct {
	srv *server

	mu      sync.Mutex
	buffers map[string]string
	updates chan json.RawMessage
	handle  func(m *jsonrpc.Message) (any, error)                      // answers instead of the buffers
	asked   func(ctx context.Context, m *jsonrpc.Message) (any, error) // answers instead of both, and may wait
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	p := &peer{buffers: map[string]string{}, updates: make(chan json.RawMessage, 100)}
	fromServer, toClient := io.Pipe()
	fromClient, toServer := io.Pipe()
	client := jsonrpc.New(fromServer, toServer, jsonrpc.Options{
		CancelMethod: acp.MethodCancelRequest,
		Handle: func(ctx context.Context, m *jsonrpc.Message) (any, error) {
			if p.asked != nil {
				return p.asked(ctx, m)
			}
			var r struct{ Path, Content string }
			if err := json.Unmarshal([]byte(m.Params), &r); err != nil {
				return nil, err
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.handle != nil {
				return p.handle(m)
			}
			if m.Method == acp.MethodFsWriteTextFile {
				p.buffers[r.Path] = r.Content
				return map[string]any{}, os.WriteFile(r.Path, []byte(r.Content), 0o600)
			}
			text, ok := p.buffers[r.Path]
			if !ok {
				return nil, errors.New("no such buffer")
			}
			return map[string]string{"content": text}, nil
		},
		Notify: func(_ context.Context, m *jsonrpc.Message) { p.updates <- json.RawMessage(m.Params) },
	})
	p.srv = &server{opts: Options{Logger: slog.New(slog.DiscardHandler)}, client: &acp.ClientCapabilities{}, sessions: map[string]*session{}, conn: jsonrpc.New(fromClient, toClient, jsonrpc.Options{CancelMethod: acp.MethodCancelRequest})}
	p.srv.arrived = map[*jsonrpc.Message]*prompt{}
	p.srv.ctx, p.srv.stop = context.WithCancel(context.Background())
	t.Cleanup(func() {
		p.srv.stop()
		p.srv.work.Wait()
		for _, c := range []*jsonrpc.Conn{client, p.srv.conn} {
			_ = c.Close()
			<-c.Done()
		}
	})
	return p
}

// TestClientFiles_after checks that the editor gets the text that a tool has written, unless the
// user has changed the buffer meanwhile.
func TestClientFiles_after(t *testing.T) {
	for name, c := range map[string]struct {
		before      bool   // Before was called for the file
		typed, want string // typed meanwhile, and in the buffer at the end
	}{
		"nothing typed":       {true, "saved", "of the tool"},
		"typed":               {true, "typed", "typed"},
		"typed just the same": {true, "of the tool", "of the tool"},
		"other line ends":     {true, "saved\r\n", "saved\r\n"},
		"all deleted":         {true, "", ""},
		"not announced":       {false, "saved", "saved"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			path := filepath.Join(t.TempDir(), "a.txt")
			write := func(text string) {
				t.Helper()
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f := &clientFiles{srv: p.srv, since: time.Now().Add(time.Hour), agreed: map[string]textHash{}, inStep: map[string]textHash{}}
			f.bind("s")
			write("saved")
			p.buffers[path] = "saved"
			if c.before {
				f.Before(t.Context(), path)
			}
			write("of the tool")
			p.buffers[path] = c.typed
			f.After(t.Context(), path)
			if got := p.buffers[path]; got != c.want {
				t.Errorf("the buffer has %q, want %q", got, c.want)
			}
			if disk, err := os.ReadFile(path); err != nil || string(disk) != "of the tool" {
				t.Errorf("the disk has %q, %v", disk, err)
			}
		})
	}
}

// TestTitle checks the title of a new session: the first line of its first prompt, cut between two
// characters.
func TestTitle(t *testing.T) {
	for _, letter := range []string{"a", "é", "界", "\U0001f600"} {
		exact, long := strings.Repeat(letter, maxTitle), strings.Repeat(letter, maxTitle+1)
		for prompt, want := range map[string]string{
			exact: exact, long: strings.Repeat(letter, maxTitle-1) + "…", " " + letter + "\nmore": letter, "/compact": "", "": "",
		} {
			p := newPeer(t)
			s := newSession(p.srv, "s", agent.Options{})
			if prompt == "" {
				s.title([]acp.ContentBlock{{Value: &acp.ImageContent{}}}) // this prompt gives no title, and neither does a later one
			}
			for range 2 { // the second prompt has no effect
				s.title([]acp.ContentBlock{{Value: &acp.TextContent{Text: prompt}}})
			}
			if err := p.srv.conn.Notify(t.Context(), "end", map[string]any{}); err != nil {
				t.Fatal(err)
			}
			var got []string
			for {
				var u struct{ Update struct{ Title string } }
				if err := json.Unmarshal(<-p.updates, &u); err != nil {
					t.Fatal(err)
				}
				if u.Update.Title == "" {
					break
				}
				got = append(got, u.Update.Title)
			}
			if strings.Join(got, "|") != want {
				t.Errorf("the prompt %.10q… of %d bytes has the titles %q, want %q", prompt, len(prompt), got, want)
			}
		}
	}
}

// TestMCPServers checks that all members of a client's MCP server reach the agent.
func TestMCPServers(t *testing.T) {
	header := []acp.HTTPHeader{{Name: "Authorization", Value: "Bearer x"}, {Name: "X-Two", Value: "2"}}
	got, err := mcpServers([]acp.MCPServer{
		{Value: &acp.MCPServerStdio{Name: "one", Command: "cmd", Args: []string{"a", "b"}, Env: []acp.EnvVariable{{Name: "K", Value: "v"}}}},
		{Type: "http", Value: &acp.MCPServerHTTP{Name: "two", URL: "https://two", Headers: header}},
		{Type: "sse", Value: &acp.MCPServerSSE{Name: "three", URL: "https://three", Headers: header}},
		{Type: "http", Value: &acp.MCPServerHTTP{Name: "four", URL: "https://four"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	headers := `"headers":{"Authorization":"Bearer x","X-Two":"2"}`
	want := map[string]string{
		"one": `{"args":["a","b"],"command":"cmd","env":{"K":"v"},"type":"stdio"}`, "two": `{` + headers + `,"type":"http","url":"https://two"}`,
		"three": `{` + headers + `,"type":"sse","url":"https://three"}`, "four": `{"headers":{},"type":"http","url":"https://four"}`,
	}
	for name, text := range want {
		if string(got[name]) != text {
			t.Errorf("%s is %s, want %s", name, got[name], text)
		}
	}
	if _, err := mcpServers([]acp.MCPServer{{Type: "new"}}); err == nil || len(got) != len(want) {
		t.Errorf("%d servers, and one of an unknown type: %v", len(got), err)
	}
}

// cancelled is an agent that counts its interrupts.
type cancelled struct {
	agent.Session
	interrupts chan struct{}
	closed     bool
}

func (a *cancelled) Interrupt(context.Context) (agent.Interrupted, error) {
	a.interrupts <- struct{}{}
	return agent.Interrupted{}, nil
}

func (a *cancelled) Close() error {
	a.closed = true
	return nil
}

// TestCancelPrompt cancels a prompt in each state. A prompt that the agent has received is interrupted; any other
// prompt ends immediately.
func TestCancelPrompt(t *testing.T) {
	for name, c := range map[string]struct {
		sent, accepted, held, dead bool
		over, interrupted          bool
	}{
		"waiting":                       {over: true},
		"being sent":                    {sent: true},
		"running":                       {sent: true, accepted: true, interrupted: true},
		"waiting for background work":   {sent: true, accepted: true, held: true, over: true},
		"its agent is dead":             {sent: true, accepted: true, dead: true, over: true},
		"dead, with work besides":       {sent: true, accepted: true, held: true, dead: true, over: true},
		"waiting, with no agent at all": {dead: true, over: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			live := &cancelled{interrupts: make(chan struct{}, 10)}
			s := newSession(p.srv, "s", agent.Options{})
			if !c.dead {
				s.live = live
			}
			one := &prompt{session: s, over: make(chan struct{}), sent: c.sent, accepted: c.accepted}
			if c.held {
				one.held = &outcome{}
			}
			s.queue = []*prompt{one}
			s.cancel()
			s.cancel() // a second call has no effect
			over := false
			select {
			case <-one.over:
				over = true
			default:
			}
			if over != c.over || over && one.result.reason != acp.StopReasonCancelled || !one.cancelled {
				t.Errorf("it is over: %v with %q, want %v", over, one.result.reason, c.over)
			}
			if c.interrupted {
				select {
				case <-live.interrupts:
				case <-time.After(10 * time.Second):
					t.Error("the agent is not interrupted")
				}
			}
			one.finish(outcome{})
			p.srv.work.Wait()
			if n := len(live.interrupts); n > 0 {
				t.Errorf("%d interrupts too many", n)
			}
		})
	}
}

// halfway is a provider with a history that ends with an error.
type halfway struct {
	agent.Provider
	live   *cancelled
	breaks error
	fails  error
}

func (h *halfway) Resume(context.Context, string, agent.Options) (agent.Session, error) {
	if h.fails != nil {
		return nil, h.fails
	}
	return h.live, nil
}

func (h *halfway) History() agent.History { return brokenHistory{breaks: h.breaks} }

type brokenHistory struct {
	agent.History
	breaks error
}

func (b brokenHistory) Load(context.Context, string, agent.HistoryPage) (agent.HistoryEvents, error) {
	return agent.HistoryEvents{Events: func(yield func(event.Event, error) bool) {
		if b.breaks != nil {
			yield(nil, b.breaks)
		}
	}}, nil
}

// TestResume_fails checks that an agent that was started for a session is ended if its history
// cannot be shown.
func TestResume_fails(t *testing.T) {
	broken := errors.New("the history breaks off")
	for name, c := range map[string]struct{ breaks, fails error }{"the history": {broken, nil}, "the agent": {nil, broken}, "both": {broken, broken}} {
		p := newPeer(t)
		h := &halfway{live: &cancelled{}, breaks: c.breaks, fails: c.fails}
		p.srv.opts.Provider = h
		one, err := p.srv.resume(t.Context(), &sessionRequest{id: "s", cwd: t.TempDir()}, true)
		if !errors.Is(err, broken) || one != nil {
			t.Errorf("%s: a session %v, %v", name, one, err)
		}
		if want := c.fails == nil; h.live.closed != want {
			t.Errorf("%s: the agent is ended: %v, want %v", name, h.live.closed, want)
		}
	}
}

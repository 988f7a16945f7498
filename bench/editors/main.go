// Command editors drives the Go client of the Agent Client Protocol: editors DIRECTORY AGENT [ARGUMENT...]. It prints what
// each scene has shown as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"
)

// limit is the timeout of a scene.
const limit = 2 * time.Minute

// shown is the output of a scene.
type shown struct {
	Session string   `json:"session"`
	Outcome string   `json:"outcome"`
	Text    string   `json:"text"`
	Tools   []string `json:"tools"`
	Results []string `json:"results"`
}

// client records its updates and answers requests with options of one kind. It offers neither files nor terminals.
type client struct {
	acp.Client
	answer acp.PermissionOptionKind

	mu      sync.Mutex
	changed chan struct{}
	text    string
	order   []acp.ToolCallId
	names   map[acp.ToolCallId]string
	status  map[acp.ToolCallId]string
}

func (c *client) RequestPermission(_ context.Context, p acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	picked := p.Options[0].OptionId
	for _, o := range p.Options {
		if o.Kind == c.answer {
			picked = o.OptionId
			break
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.RequestPermissionOutcome{Selected: &acp.RequestPermissionOutcomeSelected{OptionId: picked}}}, nil
}

func (c *client) SessionUpdate(_ context.Context, p acp.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := p.Update
	switch {
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		c.text += u.AgentMessageChunk.Content.Text.Text
	case u.ToolCall != nil:
		c.order = append(c.order, u.ToolCall.ToolCallId)
		c.names[u.ToolCall.ToolCallId], c.status[u.ToolCall.ToolCallId] = u.ToolCall.Title, string(u.ToolCall.Status)
	case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
		c.status[u.ToolCallUpdate.ToolCallId] = string(*u.ToolCallUpdate.Status)
	}
	close(c.changed)
	c.changed = make(chan struct{})
	return nil
}

// until waits until the text satisfies ok.
func (c *client) until(ctx context.Context, ok func(text string) bool) error {
	for {
		c.mu.Lock()
		done, changed := ok(c.text), c.changed
		c.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *client) shown(session acp.SessionId, outcome acp.StopReason) shown {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := shown{Session: string(session), Outcome: string(outcome), Text: c.text, Tools: []string{}, Results: []string{}}
	for _, id := range c.order {
		s.Tools, s.Results = append(s.Tools, c.names[id]), append(s.Results, c.status[id])
	}
	return s
}

// link is a client with an agent.
type link struct {
	*client
	conn *acp.ClientSideConnection
	cmd  *exec.Cmd
	end  func() error
}

func connect(ctx context.Context, answer acp.PermissionOptionKind) (*link, error) {
	cmd := exec.CommandContext(ctx, os.Args[2], os.Args[3:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &client{answer: answer, changed: make(chan struct{}), names: map[acp.ToolCallId]string{}, status: map[acp.ToolCallId]string{}}
	l := &link{client: c, conn: acp.NewClientSideConnection(c, in, out), cmd: cmd}
	l.end = func() error { return errors.Join(in.Close(), cmd.Wait()) }
	_, err = l.conn.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	return l, err
}

func (l *link) prompt(ctx context.Context, id acp.SessionId, words string) (acp.StopReason, error) {
	r, err := l.conn.Prompt(ctx, acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(words)}})
	return r.StopReason, err
}

func (l *link) begin(ctx context.Context) (acp.SessionId, error) {
	r, err := l.conn.NewSession(ctx, acp.NewSessionRequest{Cwd: os.Args[1], McpServers: []acp.McpServer{}})
	return r.SessionId, err
}

// scene is one prompt of a new session; during acts on the turn while it runs.
func scene(ctx context.Context, answer acp.PermissionOptionKind, words string, during func(l *link, id acp.SessionId) error) (shown, error) {
	l, err := connect(ctx, answer)
	if err != nil {
		return shown{}, err
	}
	id, err := l.begin(ctx)
	if err != nil {
		return shown{}, err
	}
	acted := make(chan error, 1)
	go func() {
		if during == nil {
			acted <- nil
			return
		}
		acted <- during(l, id)
	}()
	reason, err := l.prompt(ctx, id, words)
	if err = errors.Join(err, <-acted); err != nil {
		return l.shown(id, reason), err
	}
	return l.shown(id, reason), l.end()
}

func some(text string) bool { return len(text) > 50 }

// reconnect kills an agent in the middle of a turn and loads its session with another one.
func reconnect(ctx context.Context) (shown, error) {
	gone, err := scene(ctx, acp.PermissionOptionKindAllowOnce, "long", func(l *link, _ acp.SessionId) error {
		return errors.Join(l.until(ctx, some), l.cmd.Process.Kill())
	})
	if err == nil {
		return gone, errors.New("the prompt of a client that was killed ended")
	}
	l, err := connect(ctx, acp.PermissionOptionKindAllowOnce)
	if err != nil {
		return gone, err
	}
	id := acp.SessionId(gone.Session)
	if _, err := l.conn.LoadSession(ctx, acp.LoadSessionRequest{SessionId: id, Cwd: os.Args[1], McpServers: []acp.McpServer{}}); err != nil {
		return gone, err
	}
	reason, err := l.prompt(ctx, id, "say hello")
	if err != nil {
		return gone, err
	}
	return l.shown(id, reason), l.end()
}

func run() (all map[string]shown, err error) {
	all = map[string]shown{}
	note := func(name string, scene func(ctx context.Context) (shown, error)) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err == nil {
			if all[name], err = scene(ctx); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	for name, words := range map[string]string{"text": "say hello", "tool": "tools", "allow": "bash"} {
		note(name, func(ctx context.Context) (shown, error) {
			return scene(ctx, acp.PermissionOptionKindAllowOnce, words, nil)
		})
	}
	note("reject", func(ctx context.Context) (shown, error) {
		return scene(ctx, acp.PermissionOptionKindRejectOnce, "bash", nil)
	})
	note("cancel", func(ctx context.Context) (shown, error) {
		return scene(ctx, acp.PermissionOptionKindAllowOnce, "wait", func(l *link, id acp.SessionId) error {
			if err := l.until(ctx, some); err != nil {
				return err
			}
			return l.conn.Cancel(ctx, acp.CancelNotification{SessionId: id})
		})
	})
	note("reconnect", reconnect)
	return all, err
}

func main() {
	all, err := run()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

package acpagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// LoginMethod is a way to log in to an agent.
type LoginMethod struct {
	ID          string
	Name        string
	Description string
	// Command is set if the user has to run it in a terminal. Other methods are used with
	// [Provider.Login].
	Command []string
}

// String describes the method to a person: its name, its description and its command.
func (m *LoginMethod) String() string {
	text := m.Name
	if m.Description != "" && m.Description != m.Name {
		text += " (" + m.Description + ")"
	}
	if len(m.Command) > 0 {
		text += ": run " + strings.Join(m.Command, " ")
	}
	return text
}

// LoginError is returned when the agent requires a login. It matches [agent.ErrAuth].
type LoginError struct {
	Agent   string // the name of the agent
	Reason  string // the agent's message
	Methods []LoginMethod
	err     error
}

func (e *LoginError) Error() string {
	text := agent.ErrAuth.Error() + ": " + e.Reason
	if len(e.Methods) == 0 {
		return text + "; log in with the agent's own program"
	}
	var ways []string
	for i := range e.Methods {
		ways = append(ways, e.Methods[i].String())
	}
	return text + "; ways to log in to " + e.Agent + ": " + strings.Join(ways, "; ")
}

// Unwrap returns [agent.ErrAuth] and the error of the agent.
func (e *LoginError) Unwrap() []error { return []error{agent.ErrAuth, e.err} }

// Login logs in with one of the methods of a [LoginError] that have no command. It starts the agent, which may open a browser, and
// returns when the agent has answered.
func (p *Provider) Login(ctx context.Context, method string, opts agent.Options) error {
	s, err := p.connect(ctx, opts)
	if err != nil {
		return err
	}
	err = s.call(ctx, acp.MethodAuthenticate, map[string]string{"methodId": method}, new(json.RawMessage))
	if lines := s.strays(); err != nil && len(lines) > 0 {
		err = fmt.Errorf("%w; the agent printed: %s", err, strings.Join(lines, " "))
	}
	return errors.Join(err, s.Close())
}

// loginMethods returns the login methods that the error lists, or else those that the agent announced. It adds the login command of
// the provider if no method has a command.
func (s *Session) loginMethods(e *jsonrpc.Error) (list []LoginMethod) {
	var data struct{ AuthMethods []acp.AuthMethod }
	methods := s.hello.AuthMethods
	if e != nil && json.Unmarshal(e.Data, &data) == nil && len(data.AuthMethods) > 0 {
		methods = data.AuthMethods
	}
	for _, m := range methods {
		text, err := json.Marshal(m)
		var one struct {
			Type, ID, Name, Description string
			Args                        []string
			Meta                        struct {
				Type     string
				Args     []string
				Terminal struct {
					Command string
					Args    []string
				} `json:"terminal-auth"`
			} `json:"_meta"`
		}
		if err != nil || json.Unmarshal(text, &one) != nil {
			continue
		}
		way := LoginMethod{ID: one.ID, Name: one.Name, Description: one.Description}
		switch {
		case one.Meta.Terminal.Command != "":
			way.Command = append([]string{one.Meta.Terminal.Command}, one.Meta.Terminal.Args...)
		case one.Type == acp.AuthMethodIsTerminal || one.Meta.Type == acp.AuthMethodIsTerminal:
			way.Command = append(append([]string{}, s.provider.Command...), append(one.Args, one.Meta.Args...)...)
		}
		list = append(list, way)
	}
	if command := s.provider.LoginCommand; len(command) > 0 && !slices.ContainsFunc(list, func(m LoginMethod) bool { return len(m.Command) > 0 }) {
		list = append(list, LoginMethod{Name: "In a terminal", Command: command})
	}
	return list
}

// maxPrinted limits the number of kept output lines that are not messages.
const maxPrinted = 20

// stray logs a line that is not a message, without terminal control codes. It sends no answer: an agent that asks on its terminal
// would read it as the user's.
func (s *Session) stray(line string, m *jsonrpc.Message, err error) {
	if m != nil {
		return // an answer without a waiting caller
	}
	s.provider.log().Debug("acpagent: invalid line", "line", line[:min(len(line), 200)], "err", err)
	if line = plain(line); line == "" {
		return
	}
	s.kit.Do(func() {
		s.printed = append(s.printed, line[:min(len(line), 500)])
		s.printed = s.printed[max(0, len(s.printed)-maxPrinted):]
	})
}

func (s *Session) strays() (lines []string) {
	s.kit.Do(func() { lines = append(lines, s.printed...) })
	return lines
}

// plain returns a text without escape sequences and control characters.
func plain(text string) string {
	var out strings.Builder
	escape := 0 // 1 after ESC, 2 inside a sequence
	for _, r := range text {
		switch {
		case r == 0x1b:
			escape = 1
		case escape == 1 && r == '[':
			escape = 2
		case escape == 2 && (r < 0x40 || r > 0x7e):
		case escape > 0:
			escape = 0
		case r >= ' ' && r != 0x7f:
			out.WriteRune(r)
		}
	}
	return strings.TrimSpace(out.String())
}

// translate converts an error of the protocol to an error of package agent.
func (s *Session) translate(err error) error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case err == nil:
		return nil
	case !ok && (s.conn.Err() != nil || errors.Is(err, jsonrpc.ErrClosed) || errors.Is(err, syscall.EPIPE)): // the last call before the agent's output ends
		return fmt.Errorf("%w: %w", agent.ErrClosed, err)
	case !ok:
		return err
	}
	reason := &agentError{text: reasonOf(e), err: e}
	switch e.Code {
	case acp.CodeAuthRequired:
		info := s.hello.AgentInfo.Or(acp.Implementation{})
		return &LoginError{Agent: info.Title.Or(info.Name), Reason: reason.text, Methods: s.loginMethods(e), err: e}
	case acp.CodeResourceNotFound:
		return fmt.Errorf("%w: %w", agent.ErrNotFound, reason)
	case jsonrpc.CodeInvalidParams:
		return fmt.Errorf("%w: %w", agent.ErrInvalid, reason)
	case jsonrpc.CodeMethodNotFound:
		return fmt.Errorf("%w: %w", agent.ErrUnsupported, reason)
	}
	return reason
}

// agentError is an error of the agent with a readable text.
type agentError struct {
	text string
	err  error
}

func (e *agentError) Error() string { return e.text }
func (e *agentError) Unwrap() error { return e.err }

// reasonOf returns the text of an error: its message, the message inside of it if it is JSON, and the details.
func reasonOf(e *jsonrpc.Error) string {
	text := e.Message
	for range 3 { // an API error can be nested in the agent's error
		var inner struct {
			Message string
			Error   struct{ Message string }
		}
		if json.Unmarshal([]byte(text), &inner) != nil || cmp.Or(inner.Error.Message, inner.Message) == "" {
			break
		}
		text = cmp.Or(inner.Error.Message, inner.Message)
	}
	var data struct{ Details, Message, Reason string }
	var plainData string
	if json.Unmarshal(e.Data, &data) != nil {
		_ = json.Unmarshal(e.Data, &plainData) // other data has no text
	}
	for _, more := range []string{data.Details, data.Message, data.Reason, plainData} {
		if more != "" && !strings.Contains(text, more) {
			text += ": " + more
		}
	}
	return text
}

package fakecli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// ControlRequest is a control request that the fake CLI received, with its id, its subtype and
// its whole content.
type ControlRequest struct {
	ID      string
	Subtype string
	// Request is the whole request, the subtype included.
	Request message.JSON
}

// ControlHandler answers a control request. The answer, anything that encoding/json encodes,
// becomes the response; nil gives a response without a body. An error gives an error response,
// with an error_code if it is a *[claude.ControlError]; [ErrNoAnswer] sends no response.
type ControlHandler func(req ControlRequest) (answer any, err error)

// A [ControlHandler] returns ErrNoAnswer if the program answers with [CLI.Respond] itself,
// later, twice or never.
var ErrNoAnswer = errors.New("claudetest: no answer")

// OnControl sets the handler of the control requests of a subtype, each of which runs in a new
// goroutine; nil restores the default. By default the CLI answers interrupt, with a receipt,
// set_model, set_permission_mode, set_max_thinking_tokens, apply_flag_settings, mcp_status and
// stop_task, and refuses all others as unsupported. [CLI.Handshake] answers the first
// initialize.
func (c *CLI) OnControl(subtype string, handle ControlHandler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if handle == nil {
		delete(c.handlers, subtype)
		return
	}
	c.handlers[subtype] = handle
}

// control answers a control request.
func (c *CLI) control(m *message.ControlRequest) {
	req := ControlRequest{ID: m.RequestID, Request: m.Request}
	var head struct {
		Subtype string `json:"subtype"`
	}
	_ = m.Request.Decode(&head)
	req.Subtype = head.Subtype
	if req.Subtype == "initialize" {
		select {
		case c.initialize <- req:
			return
		default:
		}
	}
	c.mu.Lock()
	handle := c.handlers[req.Subtype]
	c.mu.Unlock()
	if handle == nil {
		// Immediately and in order, like the real CLI with most of them.
		answer, err := c.defaultAnswer(req)
		c.Respond(req.ID, answer, err)
		return
	}
	c.pumped.Go(func() {
		if answer, err := handle(req); !errors.Is(err, ErrNoAnswer) {
			c.Respond(req.ID, answer, err)
		}
	})
}

func (c *CLI) defaultAnswer(req ControlRequest) (any, error) {
	var fields struct {
		Model string                 `json:"model"`
		Mode  message.PermissionMode `json:"mode"`
	}
	_ = req.Request.Decode(&fields)
	switch req.Subtype {
	case "interrupt":
		select {
		case c.interrupts <- struct{}{}:
		default:
		}
		queued := []string{}
		for _, m := range c.Queued() {
			if m.UUID != "" {
				queued = append(queued, m.UUID)
			}
		}
		return map[string]any{"still_queued": queued}, nil
	case "set_model":
		return map[string]any{"model": c.setModel(fields.Model)}, nil
	case "set_permission_mode":
		c.mu.Lock()
		defer c.mu.Unlock()
		c.mode = fields.Mode
		return map[string]any{"mode": fields.Mode}, nil
	case "set_max_thinking_tokens", "apply_flag_settings":
		return nil, nil
	case "mcp_status":
		return map[string]any{"mcpServers": []any{}}, nil
	case "stop_task":
		return map[string]any{}, nil
	}
	return nil, Unsupported(req.Subtype)
}

func (c *CLI) setModel(model string) string {
	model = cmp.Or(model, fakeModel)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.model = model
	return model
}

// Unsupported returns the error with which the CLI refuses a control request that it does not
// know.
func Unsupported(subtype string) error {
	return &claude.ControlError{
		Subtype: subtype, Code: "unsupported_request",
		Message: "Unsupported control request subtype: " + subtype,
	}
}

// Interrupts returns a channel that receives a token when the turn should be aborted; see also
// [CLI.EndInterrupted].
func (c *CLI) Interrupts() <-chan struct{} {
	c.pump()
	return c.interrupts
}

// Respond answers the control request with the given id, as a [ControlHandler] does by
// returning. It does not check whether there is such a request, or whether it was already
// answered.
func (c *CLI) Respond(id string, answer any, err error) {
	response := map[string]any{"subtype": "success", "request_id": id}
	if err != nil {
		response["subtype"] = "error"
		response["error"] = err.Error()
		if ce, ok := errors.AsType[*claude.ControlError](err); ok {
			response["error"] = ce.Message
			if ce.Code != "" {
				response["error_code"] = ce.Code
			}
		}
	} else if answer != nil {
		response["response"] = answer
	}
	c.Emit(map[string]any{"type": "control_response", "response": response})
}

// Pending is a control request of the fake CLI that waits for its response.
type Pending struct {
	ID string

	c        *CLI
	done     chan struct{}
	response json.RawMessage
	err      error
}

// Request sends a control request to the other side, can_use_tool, hook_callback or
// mcp_message, and waits for the response. It returns a *[claude.ControlError] for a refusal
// and io.ErrUnexpectedEOF if the input has ended.
func (c *CLI) Request(subtype string, fields any) (json.RawMessage, error) {
	return c.StartRequest(subtype, fields).Wait()
}

// StartRequest sends a control request and does not wait for the response. fields must encode
// to an object: the request without its subtype.
func (c *CLI) StartRequest(subtype string, fields any) *Pending {
	c.pump()
	request := map[string]any{}
	if fields != nil {
		if err := json.Unmarshal(mustEncode(fields), &request); err != nil {
			panic(fmt.Sprintf("claudetest: the fields of a control request: %v", err))
		}
	}
	request["subtype"] = subtype
	p := c.newPending()
	c.Emit(map[string]any{"type": "control_request", "request_id": p.ID, "request": request})
	return p
}

func (c *CLI) newPending() *Pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	p := &Pending{ID: "fake-" + strconv.Itoa(c.requests), c: c, done: make(chan struct{})}
	if c.endErr != nil {
		p.end(nil, c.endErr)
	} else {
		c.pending[p.ID] = p
	}
	return p
}

// Wait waits for the response and returns it, or the error with which the other side answered.
func (p *Pending) Wait() (json.RawMessage, error) {
	<-p.done
	return p.response, p.err
}

// Done returns a channel that is closed when the response to the request has arrived.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Cancel withdraws the request with a control_cancel_request. A response may still arrive
// afterwards.
func (p *Pending) Cancel() {
	p.c.Emit(map[string]any{"type": "control_cancel_request", "request_id": p.ID})
}

func (p *Pending) end(response json.RawMessage, err error) {
	p.response, p.err = response, err
	close(p.done)
}

// answered passes a response to the waiting caller. It ignores unknown responses, like the
// real CLI.
func (c *CLI) answered(m *message.ControlResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[m.Response.RequestID]
	if p == nil {
		return
	}
	delete(c.pending, p.ID)
	if m.Response.Subtype == "error" {
		p.end(nil, &claude.ControlError{Code: m.Response.ErrorCode, Message: m.Response.Error})
		return
	}
	p.end(m.Response.Response.Bytes(), nil)
}

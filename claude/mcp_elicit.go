package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/random"
)

// The CLI answers "Method not found" to an elicitation of a server in this process,
// although it supports elicitation for other servers. So such a request goes directly to
// the callback, unless the CLI announces support.

// claimElicitation adds support for elicitation to the params of initialize. asks is true
// if the CLI has announced it itself.
func claimElicitation(params json.RawMessage) (claimed json.RawMessage, asks bool) {
	var all, caps map[string]json.RawMessage
	if json.Unmarshal(params, &all) != nil || json.Unmarshal(all["capabilities"], &caps) != nil || caps == nil {
		return params, false
	}
	if caps["elicitation"] != nil {
		return params, true
	}
	caps["elicitation"] = json.RawMessage(`{"form":{},"url":{}}`)
	var err error
	if all["capabilities"], err = jsonwire.Marshal(caps); err != nil {
		return params, false
	}
	if claimed, err = jsonwire.Marshal(all); err != nil {
		return params, false
	}
	return claimed, false
}

// elicit calls the callback for a server and passes the answer to the server. It ends
// with ctx, the context of the request, and with the connection.
func (l *mcpLink) elicit(ctx context.Context, conn *mcpConn, req *jsonrpc.Request) {
	l.host.update(func(st *mcpHostState) {
		if st.over {
			return
		}
		l.host.asking.Go(func() {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			l.host.asking.Go(func() {
				select {
				case <-conn.closed:
					cancel(errServerSession)
				case <-ctx.Done():
				}
			})
			answer, err := l.askUser(ctx, req)
			resp := &jsonrpc.Response{ID: req.ID, Result: answer}
			if err != nil {
				resp = &jsonrpc.Response{ID: req.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}}
			}
			conn.put(resp)
		})
	})
}

func (l *mcpLink) askUser(ctx context.Context, req *jsonrpc.Request) (answer []byte, err error) {
	var params struct {
		Message         string          `json:"message"`
		Mode            string          `json:"mode"`
		URL             string          `json:"url"`
		ElicitationID   string          `json:"elicitationId"`
		RequestedSchema json.RawMessage `json:"requestedSchema"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil {
		return nil, err
	}
	body, err := jsonwire.Marshal(struct {
		Subtype         string          `json:"subtype"`
		MCPServerName   string          `json:"mcp_server_name"`
		Message         string          `json:"message"`
		Mode            string          `json:"mode,omitempty"`
		URL             string          `json:"url,omitempty"`
		ElicitationID   string          `json:"elicitation_id,omitempty"`
		RequestedSchema json.RawMessage `json:"requested_schema,omitempty"`
	}{"elicitation", l.name, params.Message, params.Mode, params.URL, params.ElicitationID, params.RequestedSchema})
	if err != nil {
		return nil, err
	}
	asked := control.Request{ID: random.UUID(), Subtype: "elicitation", Body: string(body)}
	defer func() {
		if v := recover(); v != nil {
			l.host.launch.panicked(asked, v, debug.Stack())
			answer, err = nil, fmt.Errorf("the elicitation callback panicked: %v", v)
		}
	}()
	answer, err = l.host.elicitation(ctx, asked)
	if errors.Is(err, control.ErrNoAnswer) {
		return nil, errors.New("only the callback can answer a question of a server in this process")
	}
	return answer, err
}

package codex

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/seed7221b0f9/parley/codex/item"
)

// Model is an entry of the server's catalogue of models, with the reasoning efforts that it
// supports.
type Model struct {
	ID                        string         `json:"id"`
	Model                     string         `json:"model"`
	DisplayName               string         `json:"displayName"`
	Description               string         `json:"description"`
	Hidden                    bool           `json:"hidden"`
	IsDefault                 bool           `json:"isDefault"`
	DefaultReasoningEffort    string         `json:"defaultReasoningEffort"`
	SupportedReasoningEfforts []EffortOption `json:"supportedReasoningEfforts"`
	InputModalities           []string       `json:"inputModalities"`
}

// EffortOption is a reasoning effort that a model supports, with a description for people.
type EffortOption struct {
	ReasoningEffort string `json:"reasoningEffort"`
	Description     string `json:"description"`
}

// MCPServer describes an MCP server of the configuration: the state of its login and its tools by
// name, each in the form of MCP.
type MCPServer struct {
	Name       string               `json:"name"`
	AuthStatus string               `json:"authStatus"`
	Tools      map[string]item.JSON `json:"tools"`
	ToolsError string               `json:"toolsError"`
	ServerInfo item.JSON            `json:"serverInfo"`
	Resources  []item.JSON          `json:"resources"`
}

// page is the response of a method that lists.
type page[T any] struct {
	Data       []T    `json:"data"`
	NextCursor string `json:"nextCursor"`
}

// pages yields the elements of all pages of a method that lists.
func pages[T any](ctx context.Context, c *Client, method string, params map[string]any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		cursor := ""
		for {
			p := with(map[string]any{}, nil, params)
			p = with(p, map[string]any{"cursor": cursor}, nil)
			var out page[T]
			if err := c.Call(ctx, method, p, &out); err != nil {
				yield(zero, err)
				return
			}
			for _, v := range out.Data {
				if !yield(v, nil) {
					return
				}
			}
			// Stop at a cursor that does not advance; it would loop forever.
			if out.NextCursor == "" || out.NextCursor == cursor {
				return
			}
			cursor = out.NextCursor
		}
	}
}

func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var list []T
	for v, err := range seq {
		if err != nil {
			return list, err
		}
		list = append(list, v)
	}
	return list, nil
}

// Models returns the models that the server offers, including those that are hidden from users if
// hidden is set.
func (c *Client) Models(ctx context.Context, hidden bool) ([]Model, error) {
	return collect(pages[Model](ctx, c, "model/list", with(map[string]any{}, map[string]any{"includeHidden": hidden}, nil)))
}

// MCPServers returns the MCP servers of the configuration with their tools and the state of
// their login.
func (c *Client) MCPServers(ctx context.Context) ([]MCPServer, error) {
	return collect(pages[MCPServer](ctx, c, "mcpServerStatus/list", nil))
}

// ReloadMCPServers makes the server read the configuration of its MCP servers from disk again
// and apply it.
func (c *Client) ReloadMCPServers(ctx context.Context) error {
	return c.Call(ctx, "config/mcpServer/reload", nil, nil)
}

// ListOptions selects the threads that [Client.Threads] yields. Extra has further members of the
// request, under the names that the server has for them.
type ListOptions struct {
	Archived   bool
	CWD        string
	SearchTerm string
	PageSize   int // 0 uses the server's default
	Extra      map[string]any
}

// Threads yields the stored threads, without their turns, the newest first unless opts.Extra asks
// for another order. It makes a request for each page. An error is the last element.
func (c *Client) Threads(ctx context.Context, opts ListOptions) iter.Seq2[item.Thread, error] {
	p := with(map[string]any{}, map[string]any{"archived": opts.Archived, "cwd": opts.CWD, "searchTerm": opts.SearchTerm, "limit": opts.PageSize}, opts.Extra)
	return pages[item.Thread](ctx, c, "thread/list", p)
}

// ReadThread reads a stored thread, with its turns if turns is set, without loading it into the
// server.
func (c *Client) ReadThread(ctx context.Context, id string, turns bool) (*item.Thread, error) {
	var out struct {
		Thread item.Thread `json:"thread"`
	}
	err := c.Call(ctx, "thread/read", map[string]any{"threadId": id, "includeTurns": turns}, &out)
	return &out.Thread, err
}

// ArchiveThread moves a thread to the archive, so that lists omit it. [Client.UnarchiveThread]
// moves it back.
func (c *Client) ArchiveThread(ctx context.Context, id string) error {
	return c.Call(ctx, "thread/archive", map[string]string{"threadId": id}, nil)
}

// UnarchiveThread moves a thread out of the archive; see [Client.ArchiveThread].
func (c *Client) UnarchiveThread(ctx context.Context, id string) error {
	return c.Call(ctx, "thread/unarchive", map[string]string{"threadId": id}, nil)
}

// DeleteThread deletes a stored thread permanently. It cannot be restored, unlike an archived one.
func (c *Client) DeleteThread(ctx context.Context, id string) error {
	return c.Call(ctx, "thread/delete", map[string]string{"threadId": id}, nil)
}

// Config returns the configuration that applies to a directory, as the server's JSON. An empty cwd
// means the server's directory.
func (c *Client) Config(ctx context.Context, cwd string) (json.RawMessage, error) {
	var out struct {
		Config item.JSON `json:"config"`
	}
	err := c.Call(ctx, "config/read", with(map[string]any{}, map[string]any{"cwd": cwd}, nil), &out)
	return out.Config.Bytes(), err
}

// WriteConfig sets one key of the user's config.toml, which can be a dotted path, and replaces its
// value.
func (c *Client) WriteConfig(ctx context.Context, key string, value any) error {
	return c.Call(ctx, "config/value/write", map[string]any{"keyPath": key, "value": value, "mergeStrategy": "replace"}, nil)
}

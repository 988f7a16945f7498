package codex_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/test/golden"
)

var update = flag.Bool("update", false, "write the golden files")

// everyOption returns a value with a distinct value in every field.
func everyOption[T any]() *T {
	v := new(T)
	golden.Fill(reflect.ValueOf(v).Elem(), "x", func(v reflect.Value, name string) bool {
		switch v.Type() {
		case reflect.TypeFor[item.JSON]():
			v.SetString(`{"` + name + `":1}`)
			return true
		case reflect.TypeFor[map[string]any]():
			v.Set(reflect.ValueOf(map[string]any{"more" + name: true}))
			return true
		}
		return name == "Tools"
	})
	return v
}

// asking calls a method that sends a request to the server.
type asking = func(ctx context.Context, c *codex.Client, th *codex.Thread) (any, error)

// opened returns the data of an opened thread.
func opened(th *codex.Thread, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return []any{th.ID(), th.Info()}, nil
}

// ofClient lists the methods of a client that send a request.
var ofClient = map[string]asking{
	"ArchiveThread": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		return nil, c.ArchiveThread(ctx, "id1")
	},
	"UnarchiveThread": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		return nil, c.UnarchiveThread(ctx, "id2")
	},
	"DeleteThread": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		return nil, c.DeleteThread(ctx, "id3")
	},
	"ReloadMCPServers": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		return nil, c.ReloadMCPServers(ctx)
	},
	"WriteConfig": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		return nil, c.WriteConfig(ctx, "a.b", 1.5)
	},
	"Config":         func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) { return c.Config(ctx, "/dir") },
	"Config of none": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) { return c.Config(ctx, "") },
	"MCPServers":     func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) { return c.MCPServers(ctx) },
	"Models":         func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) { return c.Models(ctx, false) },
	"Models, hidden": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) { return c.Models(ctx, true) },
	"ReadThread": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		return c.ReadThread(ctx, "id4", false)
	},
	"ReadThread, turns": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		return c.ReadThread(ctx, "id5", true)
	},
	"StartThread": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		return opened(c.StartThread(ctx, everyOption[codex.ThreadOptions]()))
	},
	"ResumeThread": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		return opened(c.ResumeThread(ctx, "id6", everyOption[codex.ThreadOptions]()))
	},
	"ForkThread": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		return opened(c.ForkThread(ctx, "id7", "last", everyOption[codex.ThreadOptions]()))
	},
	"ForkThread, all": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		return opened(c.ForkThread(ctx, "id8", "", nil))
	},
	"Threads": func(ctx context.Context, c *codex.Client, _ *codex.Thread) (any, error) {
		var ids []string
		for th, err := range c.Threads(ctx, *everyOption[codex.ListOptions]()) {
			if err != nil {
				return nil, err
			}
			ids = append(ids, th.ID)
		}
		return ids, nil
	},
}

// ofThread lists the methods of a thread that send a request.
var ofThread = map[string]asking{
	"SetName": func(ctx context.Context, _ *codex.Client, th *codex.Thread) (any, error) {
		return nil, th.SetName(ctx, "name")
	},
	"Unsubscribe": func(ctx context.Context, _ *codex.Client, th *codex.Thread) (any, error) {
		return nil, th.Unsubscribe(ctx)
	},
	"Revert": func(ctx context.Context, _ *codex.Client, th *codex.Thread) (any, error) {
		return th.Revert(ctx, "turn")
	},
	"Fork": func(ctx context.Context, _ *codex.Client, th *codex.Thread) (any, error) {
		return opened(th.Fork(ctx, "last", nil))
	},
	"Send": func(ctx context.Context, _ *codex.Client, th *codex.Thread) (any, error) {
		prompt := everyOption[codex.Prompt]()
		prompt.Input, prompt.Review, prompt.Compact = codex.Text("a text").Input, nil, false
		turn, err := th.Send(ctx, prompt)
		if err != nil {
			return nil, err
		}
		_, err = turn.Wait(ctx)
		return nil, err
	},
	"Send review": func(ctx context.Context, _ *codex.Client, th *codex.Thread) (any, error) {
		_, err := th.Send(ctx, &codex.Prompt{ClientID: "ClientID", Review: everyOption[codex.ReviewTarget]()})
		return nil, err
	},
	"Send compact": func(ctx context.Context, _ *codex.Client, th *codex.Thread) (any, error) {
		_, err := th.Send(ctx, &codex.Prompt{ClientID: "ClientID", Compact: true})
		return nil, err
	},
	"Review": func(ctx context.Context, _ *codex.Client, th *codex.Thread) (any, error) {
		_, err := th.Review(ctx, *everyOption[codex.ReviewTarget]())
		return nil, err
	},
	"Compact": func(ctx context.Context, _ *codex.Client, th *codex.Thread) (any, error) {
		_, err := th.Compact(ctx)
		return nil, err
	},
}

// answers holds results of the server, with a distinct value in every member that the SDK returns.
// Lists have two pages.
var answers = map[string]string{
	"config/read":          `{"config":{"a":1},"origins":{}}`,
	"mcpServerStatus/list": `{"data":[{"name":"m","authStatus":"a","tools":{"t":{"n":1}},"toolsError":"e","serverInfo":{"v":2},"resources":[{"r":1}]}],"nextCursor":"more"}`,
	"model/list":           `{"data":[{"id":"i","model":"m","displayName":"d","description":"e","hidden":true,"isDefault":true,"defaultReasoningEffort":"r","supportedReasoningEfforts":[{"reasoningEffort":"low","description":"x"}],"inputModalities":["text"]}],"nextCursor":"more"}`,
	"thread/list":          `{"data":[{"id":"one"}],"nextCursor":"more"}`,
	"thread/read":          `{"thread":{"id":"read","preview":"p","turns":[{"id":"u","status":"completed"}]}}`,
	"review/start":         `{"turn":{"id":"r","status":"inProgress"}}`,
	"thread/revert":        `{"thread":{"id":"back","preview":"q"}}`,
	"thread/archive":       `{}`, "thread/unarchive": `{}`, "thread/delete": `{}`, "config/mcpServer/reload": `{}`, "config/value/write": `{}`, "thread/name/set": `{}`, "thread/unsubscribe": `{}`,
}

// TestRequests checks that every method sends the right request with all its arguments and returns
// the complete result, or the error of the server.
func TestRequests(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	refuse := false
	s := &codextest.Server{Handle: func(_ *codextest.Session, c *item.Call) (any, error, bool) {
		mu.Lock()
		defer mu.Unlock()
		switch text, ok := answers[c.Method]; {
		case refuse:
			return nil, &jsonrpc.Error{Code: -32600, Message: "not today"}, true
		case !ok:
			return nil, nil, false
		case strings.Contains(string(c.Params), `"more"`):
			return json.RawMessage(strings.NewReplacer(`,"nextCursor":"more"`, "", `"one"`, `"two"`).Replace(text)), nil, true
		default:
			return json.RawMessage(text), nil, true
		}
	}}
	c := scripted(t, s, func(o *codex.Options) { o.Experimental = true })
	parts := golden.Parts{}
	asked := maps.Clone(ofClient)
	maps.Copy(asked, ofThread)
	for name, call := range asked {
		th := start(t, c)
		before := len(s.Sessions()[0].Calls())
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		result, err := call(ctx, c, th)
		var out strings.Builder
		for _, m := range s.Sessions()[0].Calls()[before:] {
			params := strings.ReplaceAll(string(m.Params), th.ID(), "THREAD")
			fmt.Fprintf(&out, "%s %s\n", m.Method, params)
		}
		if err != nil {
			fmt.Fprintln(&out, "error", err)
		} else if text := golden.Line(t, "result", result); !strings.Contains(text, "thread-") { // numbers depend on the order
			out.WriteString(text)
		}
		parts[name] = out.String()
		again := start(t, c)
		mu.Lock()
		refuse = true
		mu.Unlock()
		if result, err := call(ctx, c, again); err == nil || !strings.Contains(err.Error(), "not today") {
			t.Errorf("%s: the server refuses, and the answer is %v, %v", name, result, err)
		}
		cancel()
		mu.Lock()
		refuse = false
		mu.Unlock()
	}
	parts.Check(t, "testdata/requests.txt", *update)
}

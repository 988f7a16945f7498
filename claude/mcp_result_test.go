package claude

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/mcptool"
)

// mcpResponses returns the results in the answers of a recording.
func mcpResponses(t *testing.T, scenario string) (results []json.RawMessage) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "wire", scenario, "stdin.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var m struct {
			Response struct {
				Response struct {
					MCP struct {
						Result json.RawMessage `json:"result"`
					} `json:"mcp_response"`
				} `json:"response"`
			} `json:"response"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if r := m.Response.Response.MCP.Result; r != nil {
			results = append(results, r)
		}
	}
	if len(results) == 0 {
		t.Fatalf("%s has no result", scenario)
	}
	return results
}

// acceptable reports whether the CLI accepts the shape of a result.
func acceptable(result json.RawMessage) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(result, &m) != nil || m == nil {
		return false
	}
	var content []json.RawMessage
	if json.Unmarshal(m["content"], &content) != nil || content == nil {
		return false
	}
	for _, c := range content {
		if string(c) == "null" {
			return false
		}
	}
	for _, v := range m {
		if string(v) == "null" {
			return false
		}
	}
	return true
}

// Shapes that the CLI rejects are never sent.
func TestRejectedShapesAreCleaned(t *testing.T) {
	for _, scenario := range []string{"raw-mcp-null-content", "raw-mcp-no-content"} {
		for _, r := range mcpResponses(t, scenario) {
			if acceptable(r) {
				t.Errorf("%s is said to be good", r)
			}
			if got := cleanCallResult(r); !acceptable(got) {
				t.Errorf("%s became %s", r, got)
			}
		}
	}
	for _, r := range []string{`null`, `{"content":null,"structuredContent":null,"isError":null}`, `{"isError":null}`, `{"content":[null]}`, `[]`, `{"content":[],"_meta":null}`} {
		if got := cleanCallResult(json.RawMessage(r)); !acceptable(got) {
			t.Errorf("%s became %s", r, got)
		}
	}
	for _, scenario := range []string{"mcp-text", "mcp-meta", "mcp-structured", "mcp-resource-blocks", "mcp-iserror"} {
		for _, r := range mcpResponses(t, scenario) {
			if got := cleanCallResult(r); string(got) != string(r) {
				t.Errorf("%s became %s", r, got)
			}
		}
	}
}

// anything returns a random return value of a tool, with nil wherever possible.
func anything(r *rand.Rand, depth int) any {
	switch n := r.IntN(16); {
	case n == 0:
		return nil
	case n == 1:
		return "null"
	case n == 2:
		return (*struct{})(nil)
	case n == 3:
		return []mcp.Content(nil)
	case n == 4:
		return (*mcp.CallToolResult)(nil)
	case n == 5:
		return json.RawMessage("null")
	case n == 6:
		return map[string]any(nil)
	case n == 7:
		return []int(nil)
	case n == 8 && depth < 3:
		return map[string]any{"x": anything(r, depth+1)}
	case n == 9:
		return contents(r)
	default:
		result := &mcp.CallToolResult{Content: contents(r), IsError: r.IntN(2) == 0}
		if depth < 3 {
			result.StructuredContent = anything(r, depth+3)
		}
		if r.IntN(2) == 0 {
			result.Meta = mcp.Meta{"k": nil}
		}
		return result
	}
}

func contents(r *rand.Rand) []mcp.Content {
	var list []mcp.Content
	for range r.IntN(4) {
		list = append(list, []mcp.Content{
			nil, &mcp.TextContent{}, &mcp.ImageContent{}, &mcp.AudioContent{MIMEType: "a/b"}, &mcp.ResourceLink{},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x"}},
		}[r.IntN(6)])
	}
	return list
}

// Any return value of a tool gives a result that the CLI accepts.
func TestResultsAreAcceptable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cleaned := 0
	for range short.Count(2_000, 5_000, 20_000) {
		value := anything(r, 0)
		result := mcptool.Result(value)
		text, err := json.Marshal(result)
		if err != nil {
			t.Fatalf("%#v: %v", value, err)
		}
		if !acceptable(text) {
			cleaned++
		}
		if got := cleanCallResult(text); !acceptable(got) {
			t.Fatalf("%#v became %s", value, got)
		}
	}
	if cleaned == 0 {
		t.Error("nothing was in need of cleaning")
	}
}

// A session without servers in this process has no overhead for them.
func TestNoServersNoOverhead(t *testing.T) {
	o := unchecked(&Options{MCPServers: map[string]MCPServer{"ext": {Command: "x"}}})
	s := &session{launch: o}
	if n := testing.AllocsPerRun(100, func() {
		if o.hasToolServers() || len(o.externalServers()) != 1 || s.awaitMCP(t.Context()) != nil {
			t.Error("there is a server of this process")
		}
		s.mcp.open()
		s.mcp.close()
		s.mcp.wait()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

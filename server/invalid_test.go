package server

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// invalidCalls are calls with one wrong parameter each; S is the id of a session, D a directory.
var invalidCalls = []string{
	`budget.set {"budget":{"scope":"wild","period":"day","limit_usd":1,"action":"refuse"}}`,
	`budget.set {"budget":{"scope":"server","period":"wild","limit_usd":1,"action":"refuse"}}`,
	`budget.set {"budget":{"scope":"server","period":"day","limit_usd":-1,"action":"refuse"}}`,
	`budget.set {"budget":{"id":"none","scope":"server","period":"day","limit_usd":1}}`,
	`audit.list {"cursor":"x"}`,
	`files.read {"session_id":"S","path":"none"}`,
	`files.read {"session_id":"S","path":"."}`,
	`files.read {"session_id":"S","path":"f","range":{"start":0,"end":1}}`,
	`files.read {"session_id":"S","path":"../f"}`,
	`image.upload {"session_id":"S","media_type":"text/plain","data":"AA=="}`,
	`image.upload {"session_id":"S","media_type":"image/png","data":"%"}`,
	`history.list {"cursor":"x"}`,
	`history.list {"cursor":"-1:x"}`,
	`history.list {"cursor":"9:x"}`,
	`history.rename {"session":"x","title":"a\nb"}`,
	`history.export {"session":"x","format":"pdf"}`,
	`history.search {"query":" "}`,
	`usage.summary {"group_by":"wild"}`,
	`usage.summary {"since":"yesterday"}`,
	`usage.summary {"until":"tomorrow"}`,
	`server.drain {"timeout_ms":-1}`,
	`tokens.create {"role":"wild"}`,
	`tokens.create {"role":"viewer","name":"a\nb"}`,
	`tokens.create {"role":"viewer","tenant":"a\nb"}`,
	`tokens.create {"role":"admin","tenant":"acme"}`,
	`tokens.create {"role":"viewer","expires_in_s":-1}`,
	`tokens.create {"role":"viewer","expires_in_s":315360001}`,
	`tokens.create {"role":"viewer","answers":true}`,
	`tokens.create {"role":"admin","agent_of":"S"}`,
	`tokens.create {"role":"viewer","agent_of":"S","tenant":"acme"}`,
	`tokens.create {"role":"viewer","agent_of":"none"}`,
	`share.create {"session_id":"S","name":"a\nb"}`,
	`share.create {"session_id":"none"}`,
	`share.create {"session_id":"S","expires_in_s":-1}`,
	`pairing.create {"role":"wild","name":"a"}`,
	`pairing.create {"role":"viewer","name":"a\nb"}`,
	`rules.add {"rule":"a\nb","behavior":"allow","scope":"user"}`,
	`rules.add {"rule":" a","behavior":"allow","scope":"user"}`,
	`rules.add {"rule":"a","behavior":"wild","scope":"user"}`,
	`rules.remove {"rule":"a","behavior":"allow","scope":"wild"}`,
	`rules.list {"provider":"none"}`,
	`mcp.configure {"server":{"name":"a b","type":"stdio","command":"c"}}`,
	`mcp.configure {"server":{"name":"a/b","type":"stdio","command":"c"}}`,
	`mcp.configure {"server":{"name":"a","type":"wild","command":"c"}}`,
	`mcp.configure {"server":{"name":"a","type":"stdio"}}`,
	`mcp.configure {"server":{"name":"a","type":"stdio","command":"c","url":"https://x"}}`,
	`mcp.configure {"server":{"name":"a","type":"stdio","command":"c","headers":{"h":"v"}}}`,
	`mcp.configure {"server":{"name":"a","type":"http","url":"ftp://x"}}`,
	`mcp.configure {"server":{"name":"a","type":"http","url":"https://x","command":"c"}}`,
	`mcp.configure {"server":{"name":"a","type":"sse","url":"https://x","args":["c"]}}`,
	`mcp.configure {"server":{"name":"a","type":"sse","url":"https://x","env":{"h":"v"}}}`,
	`webhooks.set {"webhook":{"url":"ftp://x","enabled":true}}`,
	`webhooks.set {"webhook":{"url":"https://example.com","events":["wild"],"enabled":true}}`,
	`webhooks.set {"webhook":{"url":"https://example.com","enabled":true},"secret":"short"}`,
	`webhooks.set {"webhook":{"id":"none","url":"https://example.com","enabled":true}}`,
	`session.connect {"cwd":"relative"}`,
	`session.connect {"cwd":"/"}`,
	`session.connect {"cwd":"D","provider":"none"}`,
	`session.connect {"cwd":"D","sandbox":"wild"}`,
	`session.connect {"cwd":"D","permission_mode":"bypassPermissions"}`,
	`session.connect {"cwd":"D","workspace_id":"none"}`,
	`session.query {"session_id":"S","text":""}`,
	`session.query {"session_id":"S","text":"x","language":"fr"}`,
	`session.query {"session_id":"S","text":"x","contexts":[1]}`,
	`session.query {"session_id":"S","text":"x","priority":"wild"}`,
	`session.queryWithContent {"session_id":"S","content":[]}`,
	`session.queryWithContent {"session_id":"S","content":[{"type":"image","source":{"type":"upload","id":"../f.png"}}]}`,
	`session.queryWithContent {"session_id":"S","content":[{"type":"image","source":{"type":"upload","id":"none.png"}}]}`,
	`session.queryWithContent {"session_id":"S","content":[{"no":"type"}]}`,
	`session.setMaxThinkingTokens {"session_id":"S","max_thinking_tokens":-1}`,
	`session.rename {"session_id":"S","title":"a\nb"}`,
	`session.list []`,
	`session.connect {"cwd":"D","metadata":{"k":"LONG"}}`,
	`session.setPermissionMode {"session_id":"S","mode":"bypassPermissions"}`,
	`session.setPermissionMode {"session_id":"S","mode":"wild"}`,
	`session.fork {"session_id":"none"}`,
	`session.getHistory {"session_id":"none"}`,
	`queue.edit {"session_id":"S","id":"none","content":"x"}`,
	`queue.remove {"session_id":"S","id":"none"}`,
	`queue.sendNow {"session_id":"S","id":"none"}`,
	`queue.reorder {"session_id":"S","ids":["none"]}`,
	`permission.respond {"session_id":"S","request_id":"none","behavior":"allow"}`,
	`permission.respond {"session_id":"S","request_id":"none","behavior":"wild"}`,
	`question.respond {"session_id":"S","request_id":"none"}`,
	`review.comment {"session_id":"S","path":"","text":"x"}`,
	`review.update {"session_id":"S","id":"none","text":"x"}`,
	`review.remove {"session_id":"S","id":"none"}`,
	`review.send {"session_id":"S"}`,
	`workspace.remove {"id":"none"}`,
	`tokens.revoke {"id":"none"}`,
	`share.revoke {"id":"none"}`,
	`webhooks.test {"id":"none"}`,
	`webhooks.remove {"id":"none"}`,
	`budget.remove {"id":"none"}`,
	`preview.open {"session_id":"S","port":0}`,
	`mcp.unconfigure {"name":"none"}`,
	`files.search {"session_id":"none","query":"x"}`,
}

// A call with a wrong parameter is refused with a reason and a text that explains it, and changes
// nothing.
func TestInvalid(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.Shutdown = func() { t.Error("the server was stopped") } })
	id := h.connect()
	dir := filepath.Join(h.dir, "work")
	for name, text := range map[string]string{"work/f": "a\n", "f": "b\n"} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	state := func() string {
		var text strings.Builder
		for _, method := range []string{"tokens.list", "webhooks.list", "budget.list", "session.list"} {
			var result json.RawMessage
			h.call(method, api.Empty{}, &result)
			var list map[string]any
			if err := json.Unmarshal(result, &list); err != nil {
				t.Fatal(err)
			}
			for name, v := range list {
				if all, ok := v.([]any); ok {
					fmt.Fprintf(&text, "%s %s %d\n", method, name, len(all))
				}
			}
		}
		return text.String()
	}
	before := state()
	var got strings.Builder
	for _, call := range invalidCalls {
		method, params, _ := strings.Cut(strings.NewReplacer(`"S"`, `"`+id+`"`, `"D"`, `"`+dir+`"`, "LONG", strings.Repeat("x", maxMetadata)).Replace(call), " ")
		err := h.client(h.token).Call(h.ctx(), method, json.RawMessage(params), nil)
		if err == nil {
			fmt.Fprintf(&got, "%s\n  accepted\n", call)
			continue
		}
		text := strings.NewReplacer(id, "S", dir, "D", h.dir, "H").Replace(err.Error())
		fmt.Fprintf(&got, "%s\n  %s: %s\n", call, client.Reason(err), strings.TrimPrefix(text, "client: "))
	}
	if after := state(); after != before {
		t.Errorf("calls that were refused changed the lists from\n%s\nto\n%s", before, after)
	}
	if *update {
		if err := os.WriteFile("testdata/invalid.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/invalid.txt")
	if err != nil || string(want) != got.String() {
		t.Errorf("testdata/invalid.txt has other refusals (%v); go test ./server -run TestInvalid -update writes\n%s", err, got.String())
	}
}

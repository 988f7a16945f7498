package acpagent_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/golden"
	"github.com/seed7221b0f9/parley/internal/test/kept"
)

var updateGolden = flag.Bool("update", false, "write the golden files")

// begunLines are the lines of a session before its first prompt.
var begunLines = []string{
	`> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`,
	`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`,
	`> {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`,
	`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]},"models":{"currentModelId":"m1","availableModels":[{"modelId":"m1","name":"M1"},{"modelId":"m2","name":"M2"}]},"configOptions":[{"id":"effort","name":"Effort","category":"thought_level","type":"select","currentValue":"low","options":[{"value":"low","name":"Low"},{"value":"high","name":"High"}]}]}}`,
}

const (
	promptLine   = `> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"_meta":{"parley/prompt":"p1"},"sessionId":"s1","prompt":[{"type":"text","text":"go"}]}}`
	mayLine      = `{"jsonrpc":"2.0","id":"r1","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c1","title":"Edit","kind":"edit"},"options":[{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"once","name":"Once","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`
	elicitLine   = `{"jsonrpc":"2.0","id":"r1","method":"elicitation/create","params":{"sessionId":"s1","mode":"form","message":"Name?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}}`
	turnOverLine = `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`
)

// chosen is the answer of an earlier process in which a person has selected an option.
func chosen(option string) string {
	return `> {"jsonrpc":"2.0","id":"r1","result":{"outcome":{"outcome":"selected","optionId":"` + option + `"}}}`
}

// adoptedScripts are lines of an earlier process that follow the start of a session.
var adoptedScripts = map[string][]string{
	"a prompt with an image and a sound":   {`> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"look"},{"type":"image","mimeType":"image/png","data":"aQ=="},{"type":"audio","mimeType":"audio/wav","data":"YQ=="}]}}`, turnOverLine},
	"allowed always":                       {promptLine, mayLine, chosen("always"), turnOverLine},
	"allowed once":                         {promptLine, mayLine, chosen("once"), turnOverLine},
	"denied":                               {promptLine, mayLine, chosen("no"), turnOverLine},
	"an unknown option":                    {promptLine, mayLine, chosen("none"), turnOverLine},
	"a permission that is cancelled":       {promptLine, mayLine, `> {"jsonrpc":"2.0","id":"r1","result":{"outcome":{"outcome":"cancelled"}}}`, turnOverLine},
	"a permission that is refused":         {promptLine, mayLine, `> {"jsonrpc":"2.0","id":"r1","error":{"code":-32000,"message":"no"}}`, turnOverLine},
	"a permission that ends with the turn": {promptLine, mayLine, turnOverLine, chosen("once")},
	"a permission that ends with a cancel": {promptLine, mayLine, `> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`, chosen("once"), turnOverLine},
	"a permission that is open":            {promptLine, mayLine},
	"a permission that cannot be read":     {promptLine, `{"jsonrpc":"2.0","id":"r1","method":"session/request_permission","params":7}`, chosen("once"), turnOverLine},
	"accepted":                             {promptLine, elicitLine, `> {"jsonrpc":"2.0","id":"r1","result":{"action":"accept","content":{"n":"x"}}}`, turnOverLine},
	"declined":                             {promptLine, elicitLine, `> {"jsonrpc":"2.0","id":"r1","result":{"action":"decline"}}`, turnOverLine},
	"a question that is refused":           {promptLine, elicitLine, `> {"jsonrpc":"2.0","id":"r1","error":{"code":-32000,"message":"no"}}`, turnOverLine},
	"a question that ends with the turn":   {promptLine, elicitLine, turnOverLine},
	"a question that is open":              {promptLine, elicitLine},
	"a question that cannot be read":       {promptLine, `{"jsonrpc":"2.0","id":"r1","method":"elicitation/create","params":7}`, turnOverLine},
	"another request":                      {promptLine, `{"jsonrpc":"2.0","id":"r1","method":"fs/read_text_file","params":{"sessionId":"s1","path":"/f"}}`, `> {"jsonrpc":"2.0","id":"r1","error":{"code":-32601,"message":"no"}}`, turnOverLine},
	"a turn that fails":                    {promptLine, `{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"broken"}}`},
	"settings": {`> {"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{"sessionId":"s1","modeId":"code"}}`, `{"jsonrpc":"2.0","id":3,"result":{}}`,
		`> {"jsonrpc":"2.0","id":4,"method":"session/set_model","params":{"sessionId":"s1","modelId":"m2"}}`, `{"jsonrpc":"2.0","id":4,"result":{}}`,
		`> {"jsonrpc":"2.0","id":5,"method":"session/set_mode","params":{"sessionId":"s1","modeId":"wild"}}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"no"}}`},
	"a line that is no message": {`> not JSON`, `neither`, promptLine, turnOverLine},
}

// An adopted session reports the expected events for each line of an earlier process, and writes the expected lines.
func TestAdopt_lines(t *testing.T) {
	provider := &acpagent.Provider{Command: []string{"test"}, Spawner: elsewhere}
	parts := golden.Parts{}
	for _, name := range slices.Sorted(maps.Keys(adoptedScripts)) {
		synctest.Test(t, func(t *testing.T) {
			var lines []kept.Line
			size := 0
			for _, l := range append(slices.Clone(begunLines), adoptedScripts[name]...) {
				text, input := strings.CutPrefix(l, "> ")
				lines = append(lines, kept.Line{Input: input, Text: text})
				size += len(text)
			}
			p := kept.New(t, lines)
			s, err := provider.Adopt(t.Context(), "s1", agent.Options{Dir: "/", Partial: true}, agent.Adoption{Process: p, Last: p.Last()})
			if err != nil {
				t.Fatal(err)
			}
			h := s.(agent.Hosted)
			var out strings.Builder
			done := make(chan struct{})
			go func() {
				defer close(done)
				for b, err := range h.Batches(t.Context()) {
					if err != nil {
						fmt.Fprintf(&out, "error: %v\n", err)
					}
					for _, ev := range b.Events {
						messages, err := event.NewEncoder("", 0).Messages(ev)
						if err != nil {
							t.Error(err)
						}
						for _, m := range messages {
							fmt.Fprintf(&out, "%d %s\n", b.Line, m)
						}
					}
				}
			}()
			synctest.Wait()
			written := ""
			for _, w := range p.Written() {
				size += len(w)
				written += "> " + w + "\n"
			}
			if got := h.Kept(); got != int64(size) {
				t.Errorf("%s: the host keeps %d bytes, want those of the lines: %d", name, got, size)
			}
			if got, want := string(h.OrphanInput()), `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`+"\n"; got != want {
				t.Errorf("%s: without a server the agent gets %s, want %s", name, got, want)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			<-done
			parts[name] = out.String() + written
		})
	}
	parts.Check(t, "testdata/adopted.txt", *updateGolden)
}

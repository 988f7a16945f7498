// Package modelapi is a scripted model on loopback that speaks the four APIs that coding agents use: Anthropic's
// messages, OpenAI's responses and chat completions, and Gemini's. A prompt contains its own script, so that every
// agent can be asked for the same thing whatever it adds to the prompt:
//
//	model:say NAME     answers "Answer NAME."
//	model:stream NAME  answers "Answer ", and "NAME." after Release(NAME)
//	model:wait NAME    answers "Waiting NAME." and never ends
//	model:run FILE     calls the shell of the agent with Command(FILE), then answers "Done FILE."
//
// It is test support.
package modelapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// maxBody is the size limit of a request in bytes. Each request contains the agent's instructions
// and tools.
const maxBody = 16 << 20

// Model is the scripted model. It is safe for concurrent use.
type Model struct {
	// URL is the address without a path. The APIs of OpenAI are below /v1.
	URL string

	srv *httptest.Server

	mu       sync.Mutex
	requests []Request
	held     map[string]chan struct{}
	closing  chan struct{}
}

// Request is a request that the script in a prompt has answered.
type Request struct {
	Model string // the model that the agent requested
	Verb  string // say, stream, wait, run, edit
	Name  string // the word after the verb
	Body  string
}

// Start starts a model that ends with the test.
func Start(tb testing.TB) *Model {
	m := New()
	tb.Cleanup(m.Close)
	return m
}

// New starts a model. The caller closes it.
func New() *Model {
	m := &Model{held: map[string]chan struct{}{}, closing: make(chan struct{})}
	m.srv = httptest.NewServer(m)
	m.URL = m.srv.URL
	return m
}

// Close stops the model and aborts its open answers.
func (m *Model) Close() {
	close(m.closing)
	m.srv.CloseClientConnections()
	m.srv.Close()
}

// Content is the content of a file that model:edit creates.
const Content = "package main\n\nfunc main() {}\n"

// Command returns the command that model:run runs for a file.
func Command(file string) string { return "touch " + file + " && echo made-it" }

// Release continues the answer to model:stream NAME.
func (m *Model) Release(name string) { close(m.hold(name)) }

func (m *Model) hold(name string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held[name] == nil {
		m.held[name] = make(chan struct{})
	}
	return m.held[name]
}

// Request returns the last request for a name.
func (m *Model) Request(name string) (last Request, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.requests {
		if r.Name == name {
			last, ok = r, true
		}
	}
	return last, ok
}

// script finds the script of a prompt in a request.
var script = regexp.MustCompile(`model:(say|stream|wait|run|edit) ([A-Za-z0-9/._-]+)`)

// results are the forms in which requests of the APIs mark the result of a tool, suggestions those
// in which an agent asks for the user's next prompt.
var (
	results     = regexp.MustCompile(`"role":"tool"|"type":"tool_result"|"type":"function_call_output"|"functionResponse":`)
	suggestions = regexp.MustCompile(`ONLY the suggestion|SUGGESTION MODE`)
	tools       = regexp.MustCompile(`"tools":\[\{`)
	writers     = regexp.MustCompile(`"name":"Write"`)
	shells      = regexp.MustCompile(`"name":"(Bash|bash|exec_command|run_shell_command)"`)
)

// last returns the start of the last match of a pattern, or -1.
func last(pattern *regexp.Regexp, text string) int {
	if all := pattern.FindAllStringIndex(text, -1); len(all) > 0 {
		return all[len(all)-1][0]
	}
	return -1
}

// reply is an answer of the model.
type reply struct {
	text  []string      // in pieces
	pause chan struct{} // blocks before the last piece; may be nil
	tool  string        // tool to call after the text; may be empty
	args  map[string]any
}

// answer chooses the reply to a request. Requests without tools ask for titles and similar texts.
func (m *Model) answer(model, body string) reply {
	at := last(script, body)
	if at < 0 || !tools.MatchString(body) || last(suggestions, body) > at {
		return reply{text: []string{"A title"}}
	}
	words := script.FindStringSubmatch(body[at:])
	verb, name := words[1], words[2]
	m.mu.Lock()
	m.requests = append(m.requests, Request{model, verb, name, body})
	m.mu.Unlock()
	switch {
	case (verb == "run" || verb == "edit") && last(results, body) > at:
		return reply{text: []string{"Done ", name + "."}}
	case verb == "run":
		shell := shells.FindStringSubmatch(body)
		if shell == nil {
			return reply{text: []string{"There is no shell."}}
		}
		return reply{tool: shell[1], args: arguments(shell[1], Command(name))}
	case verb == "edit" && writers.MatchString(body):
		return reply{tool: "Write", args: map[string]any{"file_path": name, "content": Content}}
	case verb == "edit":
		return reply{tool: "exec_command", args: map[string]any{"cmd": patch(name)}}
	case verb == "stream":
		return reply{text: []string{"Answer ", name + "."}, pause: m.hold(name)}
	case verb == "wait":
		return reply{text: []string{"Waiting ", name + ".", ""}, pause: m.closing}
	default:
		return reply{text: []string{"Answer ", name + "."}}
	}
}

// patch returns the command with which Codex creates a file.
func patch(file string) string {
	added := "+" + strings.ReplaceAll(strings.TrimSuffix(Content, "\n"), "\n", "\n+")
	return "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + file + "\n" + added + "\n*** End Patch\nEOF"
}

// arguments returns the arguments of a shell tool.
func arguments(shell, command string) map[string]any {
	switch shell {
	case "exec_command":
		return map[string]any{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "It writes a file"}
	case "run_shell_command":
		return map[string]any{"command": command, "description": "Makes a file", "is_background": false}
	default:
		return map[string]any{"command": command, "description": "Makes a file"}
	}
}

// ServeHTTP answers a request of an agent.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return
	}
	var head struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	_ = json.Unmarshal(body, &head) // an invalid body has no model and is another kind of request
	var to api
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/v1/messages"):
		to = &messages{}
	case strings.HasSuffix(path, "/responses"):
		to = &responses{}
	case strings.HasSuffix(path, "/chat/completions"):
		to = &chat{}
	case strings.Contains(path, "GenerateContent"), strings.Contains(path, ":generateContent"):
		_, model, _ := strings.Cut(path, "/models/")
		head.Model, _, _ = strings.Cut(model, ":")
		head.Stream = strings.Contains(path, ":stream")
		to = &gemini{}
	default:
		http.NotFound(w, r)
		return
	}
	if !head.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(to.whole(head.Model))
		return
	}
	m.stream(w, r, to, m.answer(head.Model, string(body)), head.Model)
}

// stream sends a reply in pieces.
func (m *Model) stream(w http.ResponseWriter, r *http.Request, to api, answer reply, model string) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	to.begin(w, model)
	for i, piece := range answer.text {
		if answer.pause != nil && i == len(answer.text)-1 {
			select {
			case <-answer.pause:
			case <-m.closing:
				return
			case <-r.Context().Done():
				return
			}
		}
		to.text(w, piece)
		if flush() != nil {
			return
		}
	}
	if answer.tool != "" {
		to.call(w, answer.tool, answer.args)
	}
	to.end(w, answer.tool != "")
}

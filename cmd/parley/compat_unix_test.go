//go:build unix

package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// The fixture is described in testdata/d034065/README.md.
const fixture = "testdata/d034065"

// recordedAt is the directory in which the fixture was recorded. Its data contains this path.
const recordedAt = "/tmp/parley-compat"

// A server on a new directory answers the recorded requests like commit d034065.
func TestCompat_requests(t *testing.T) {
	short.Skip(t, "git hundreds of times")
	w := newCompatWorld(t, "write.jsonl")
	w.populate()
	w.play()
}

// A server reads the data directory of commit d034065 like that commit.
func TestCompat_data(t *testing.T) {
	short.SkipLong(t, "starts servers on old data")
	w := newCompatWorld(t, "read.jsonl")
	w.populate()
	w.unpack()
	w.play()
}

// compatStep is a request of the transcript with its answer. A step has one of Call, Poll, Stream, Socket and File.
type compatStep struct {
	Call   string            `json:"call,omitempty"`   // a method, called with POST
	Poll   string            `json:"poll,omitempty"`   // a path, fetched with GET
	Stream string            `json:"stream,omitempty"` // a session; its events are read from the beginning
	Socket string            `json:"socket,omitempty"` // a method, called on a WebSocket
	File   string            `json:"file,omitempty"`   // a file that is written; Params is its text
	Params json.RawMessage   `json:"params,omitempty"`
	As     string            `json:"as,omitempty"`    // the variable with the token
	Save   map[string]string `json:"save,omitempty"`  // variables, each with alternative paths of a member
	Until  string            `json:"until,omitempty"` // path=value: the request is repeated until the answer has this value; without a value, until it has the member
	Ends   int               `json:"ends,omitempty"`  // for a stream: the number of results to read
	Waits  bool              `json:"waits,omitempty"` // the answer is not compared
	Status int               `json:"status,omitempty"`
	Answer json.RawMessage   `json:"answer,omitempty"`
}

// compatWorld is a server with its directories and the variables of a transcript.
type compatWorld struct {
	*testing.T
	file    string
	at      string // the step
	dir     string
	base    string
	program string
	record  bool
	vars    map[string]string // of this run
	old     map[string]string // the data of the recorded run
	socket  *websocket.Conn
}

func newCompatWorld(t *testing.T, file string) *compatWorld {
	t.Parallel()
	w := &compatWorld{T: t, file: file, dir: t.TempDir(), vars: map[string]string{}, old: map[string]string{}, program: "parley"}
	w.program = cmp.Or(os.Getenv("PARLEY_COMPAT_PROGRAM"), w.program)
	if os.Getenv("PARLEY_COMPAT_RECORD") != "" {
		w.record, w.dir = true, recordedAt
		if file == "write.jsonl" {
			w.must(os.RemoveAll(w.dir))
		}
	}
	for _, name := range []string{"home/.local/bin", "project", "data", "tmp"} {
		w.must(os.MkdirAll(filepath.Join(w.dir, name), 0o700))
	}
	return w
}

func (w *compatWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("w.at is %v, err is %v; want err == nil", w.at, err)
	}
}

func (w *compatWorld) path(names ...string) string {
	return filepath.Join(append([]string{w.dir}, names...)...)
}

// populate creates a fake claude program, some of its transcripts, and a repository.
func (w *compatWorld) populate() {
	w.must(os.WriteFile(w.path("home/.local/bin/claude"), []byte("#!/bin/sh\necho '2.1.0 (Claude Code)'\n"), 0o700))
	base := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, name := range []string{"agentfg", "ask", "bash", "compact", "edit", "fork"} {
		from := filepath.Join("..", "..", "testdata", "transcripts", name, "projects")
		to := w.path("home/.claude/projects")
		w.must(filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(from, p)
			if err != nil || d.IsDir() {
				return errors.Join(err, os.MkdirAll(filepath.Join(to, rel), 0o700))
			}
			text, err := os.ReadFile(p)
			at := base.Add(time.Duration(i) * time.Hour)
			return errors.Join(err, os.WriteFile(filepath.Join(to, rel), text, 0o600), os.Chtimes(filepath.Join(to, rel), at, at))
		}))
	}
	if _, err := os.Stat(w.path("project/.git")); err == nil {
		return
	}
	w.must(os.WriteFile(w.path("project/main.go"), []byte("package main\n\nfunc main() {\n\tprintln(1)\n}\n"), 0o600))
	for _, args := range []string{"init -q -b main", "add .", "commit -q -m first"} {
		cmd := exec.CommandContext(w.Context(), "git", strings.Fields(args)...)
		cmd.Dir, cmd.Env = w.path("project"), w.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			w.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
}

func (w *compatWorld) env() []string {
	env := []string{"HOME=" + w.path("home"), "PATH=" + os.Getenv("PATH"), "PARLEY_SIM_PACE=0", "PARLEY_NO_HOST=true", "GIT_CONFIG_NOSYSTEM=1", "TZ=UTC", "TMPDIR=" + w.path("tmp")}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env = append(env, "GIT_"+who+"_NAME=dev", "GIT_"+who+"_EMAIL=dev@example.com", "GIT_"+who+"_DATE=2026-03-01T12:00:00Z")
	}
	return env
}

// unpack writes the recorded data directory, unless it was just recorded.
func (w *compatWorld) unpack() {
	if w.record {
		return
	}
	f, err := os.Open(filepath.Join(fixture, "data.tar.gz"))
	w.must(err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	w.must(err)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		w.must(err)
		if h.Typeflag == tar.TypeDir {
			w.must(os.MkdirAll(w.path("data", h.Name), 0o700))
			continue
		}
		text, err := io.ReadAll(r)
		w.must(err)
		w.must(os.WriteFile(w.path("data", h.Name), text, 0o600))
	}
}

// pack writes data.tar.gz.
func (w *compatWorld) pack() {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	w.must(errors.Join(t.AddFS(os.DirFS(w.path("data"))), t.Close()))
	w.write("data.tar.gz", b.Bytes())
}

var printedAddress = regexp.MustCompile(`(http://127\.0\.0\.1:\d+)/#(?:token=)?(\S+)`)

// start runs the server until the test ends or stop is called.
func (w *compatWorld) start() (stop func()) {
	cmd := exec.Command(w.program, "serve", "--agent", "sim", "--agent", "claude", "--listen", "127.0.0.1:0", "--data", w.path("data"),
		"--dir", w.path("project"), "--preview=false", "--webhook-network", "127.0.0.0/8", "--budget", "scope=server period=day usd=50", "--allow-bypass", "--drain-timeout", "2s")
	cmd.Dir, cmd.Env = w.path("project"), w.env()
	out, err := cmd.StdoutPipe()
	w.must(err)
	var log bytes.Buffer
	cmd.Stderr = &log
	w.must(cmd.Start())
	ended := make(chan error, 1)
	address := make(chan []string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if m := printedAddress.FindStringSubmatch(lines.Text()); m != nil {
				address <- m
			}
		}
		ended <- errors.Join(lines.Err(), cmd.Wait())
	}()
	stop = sync.OnceFunc(func() {
		if w.socket != nil {
			_ = w.socket.CloseNow()
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
			w.Errorf("the server did not end\n%s", log.String())
		}
	})
	w.Cleanup(stop)
	select {
	case m := <-address:
		w.base, w.vars["token"] = m[1], m[2]
	case err := <-ended:
		ended <- err
		w.Fatalf("the server ended: %v\n%s", err, log.String())
	case <-time.After(30 * time.Second):
		w.Fatal("the server does not print its address")
	}
	return stop
}

// play sends the requests and compares the answers, or records them.
func (w *compatWorld) play() {
	w.old["project"], w.old["home"], w.old["data"] = recordedAt+"/project", recordedAt+"/home", recordedAt+"/data"
	text := w.transcript()
	stop := w.start()
	w.vars["project"], w.vars["home"], w.vars["data"] = w.path("project"), w.path("home"), w.path("data")
	if w.file == "read.jsonl" {
		w.loadVars()
	}
	var recorded bytes.Buffer
	number := 0
	for line := range bytes.Lines(text) {
		number++
		var s compatStep
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&s); err != nil {
			w.Fatalf("%s:%d: %v", w.file, number, err)
		}
		w.at = fmt.Sprintf("%s:%d: %s %s", w.file, number, s.Call+s.Poll+s.Stream+s.Socket, s.Params)
		status, answer := w.send(&s)
		if w.record {
			w.Logf("%s -> %.300s", w.at, answer)
			if !s.Waits {
				s.Status, s.Answer = status, answer
			}
			w.save(w.vars, s.Save, answer)
			enc := json.NewEncoder(&recorded)
			enc.SetEscapeHTML(false)
			w.must(enc.Encode(s))
			continue
		}
		w.save(w.vars, s.Save, answer)
		if s.Waits {
			continue
		}
		w.save(w.old, s.Save, s.Answer)
		for _, diff := range w.compare(&s, status, answer) {
			w.Errorf("%s: %s", w.at, diff)
		}
	}
	stop()
	if w.record {
		w.write(w.file+".gz", recorded.Bytes())
		if w.file == "write.jsonl" {
			w.pack()
			vars, err := json.Marshal(w.vars)
			w.must(err)
			w.must(os.WriteFile(filepath.Join(fixture, "variables.json"), append(vars, '\n'), 0o600))
		}
	}
}

// transcript reads the steps, from an uncompressed file while recording.
func (w *compatWorld) transcript() []byte {
	if w.record {
		text, err := os.ReadFile(filepath.Join(fixture, w.file))
		w.must(err)
		return text
	}
	f, err := os.Open(filepath.Join(fixture, w.file+".gz"))
	w.must(err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	w.must(err)
	text, err := io.ReadAll(z)
	w.must(err)
	return text
}

// write writes a compressed file of the fixture.
func (w *compatWorld) write(name string, text []byte) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w.must(err)
	_, err = z.Write(text)
	w.must(errors.Join(err, z.Close(), os.WriteFile(filepath.Join(fixture, name), b.Bytes(), 0o600)))
}

// loadVars reads the variables of the recorded run: the data directory has its ids and tokens.
func (w *compatWorld) loadVars() {
	text, err := os.ReadFile(filepath.Join(fixture, "variables.json"))
	w.must(err)
	w.must(json.Unmarshal(text, &w.old))
	for name, value := range w.old {
		if _, ok := w.vars[name]; !ok {
			w.vars[name] = value
		}
	}
}

// expand replaces $name by the variable.
func (w *compatWorld) expand(text string) string {
	return os.Expand(text, func(name string) string {
		value, ok := w.vars[name]
		if !ok {
			w.Fatalf("there is no variable %s", name)
		}
		return value
	})
}

func (w *compatWorld) save(vars, save map[string]string, answer json.RawMessage) {
	var v any
	if len(save) > 0 {
		w.must(json.Unmarshal(answer, &v))
	}
	for name, paths := range save {
		var value any
		ok := false
		for path := range strings.FieldsSeq(paths) {
			if !ok {
				value, ok = member(v, path)
			}
		}
		if !ok {
			w.Errorf("%s: the answer has no %s: %s", w.at, paths, answer)
		}
		vars[name] = fmt.Sprint(value)
	}
}

// member returns the member of a value at a path such as sessions.0.title.
func member(v any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, v != nil
}

// send sends a request, and repeats it until the answer has the value that the step waits for.
func (w *compatWorld) send(s *compatStep) (status int, answer json.RawMessage) {
	ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		switch {
		case s.File != "":
			var text string
			w.must(json.Unmarshal(s.Params, &text))
			w.must(os.WriteFile(w.expand(s.File), []byte(text), 0o600))
			return 0, nil
		case s.Call != "":
			status, answer = w.http(ctx, s.As, "POST", "/v1/"+s.Call, s.Params)
		case s.Poll != "":
			status, answer = w.http(ctx, s.As, "GET", s.Poll, nil)
		case s.Stream != "":
			return 200, w.stream(ctx, s)
		case s.Socket != "":
			return 200, w.call(ctx, s)
		}
		if path, want, ok := strings.Cut(w.expand(s.Until), "="); ok {
			var v any
			_ = json.Unmarshal(answer, &v)
			if got, found := member(v, path); !found || want != "" && fmt.Sprint(got) != want {
				select {
				case <-tick.C:
					continue
				case <-ctx.Done():
					w.Fatalf("%s: %s is not %s: %s", w.at, path, want, answer)
				}
			}
		}
		return status, answer
	}
}

func (w *compatWorld) http(ctx context.Context, as, method, path string, body []byte) (int, json.RawMessage) {
	req, err := http.NewRequestWithContext(ctx, method, w.base+w.expand(path), strings.NewReader(w.expand(string(body))))
	w.must(err)
	if as != "nobody" {
		req.Header.Set("Authorization", "Bearer "+w.vars[cmp.Or(as, "token")])
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	w.must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	w.must(err)
	if !json.Valid(text) {
		text, _ = json.Marshal(string(text))
	}
	return resp.StatusCode, bytes.TrimSpace(text)
}

// stream reads the durable messages of a session from the beginning, until the number of results is reached.
func (w *compatWorld) stream(ctx context.Context, s *compatStep) json.RawMessage {
	_, answer := w.http(ctx, "", "POST", "/v1/session.attach", fmt.Appendf(nil, `{"session_id":%q}`, w.vars[s.Stream]))
	var attached struct{ Cursor struct{ Epoch string } }
	w.must(json.Unmarshal(answer, &attached))
	req, err := http.NewRequestWithContext(ctx, "GET", w.base+"/v1/sessions/"+w.vars[s.Stream]+"/events?after="+attached.Cursor.Epoch+":0", nil)
	w.must(err)
	req.Header.Set("Authorization", "Bearer "+w.vars["token"])
	resp, err := http.DefaultClient.Do(req)
	w.must(err)
	defer resp.Body.Close()
	var messages []json.RawMessage
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	for ends := 0; ends < s.Ends && lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		var e struct {
			Sub int
			Msg struct{ Type string }
		}
		w.must(json.Unmarshal([]byte(data), &e))
		if e.Sub == 0 && e.Msg.Type != "" {
			messages = append(messages, json.RawMessage(data))
		}
		if e.Msg.Type == "result" {
			ends++
		}
	}
	w.must(lines.Err())
	all, err := json.Marshal(messages)
	w.must(err)
	return all
}

// call calls a method on the WebSocket and returns the response. With Ends it waits for results in the notifications, and
// returns the messages of the turn too.
func (w *compatWorld) call(ctx context.Context, s *compatStep) json.RawMessage {
	w.dial(ctx)
	w.must(wsjson.Write(ctx, w.socket, map[string]any{"jsonrpc": "2.0", "id": 1, "method": s.Socket, "params": json.RawMessage(w.expand(string(s.Params)))}))
	var answer struct {
		Response json.RawMessage   `json:"response"`
		Messages []json.RawMessage `json:"messages,omitempty"`
	}
	for ends := 0; answer.Response == nil || ends < s.Ends; {
		var raw json.RawMessage
		w.must(wsjson.Read(ctx, w.socket, &raw))
		var m struct {
			ID     int
			Params struct {
				Sub int
				Msg struct{ Type string }
			}
		}
		w.must(json.Unmarshal(raw, &m))
		switch kind := m.Params.Msg.Type; {
		case m.ID != 0:
			answer.Response = raw
		case s.Ends > 0 && m.Params.Sub == 0 && slices.Contains([]string{"user", "assistant", "stream_event", "result"}, kind):
			answer.Messages = append(answer.Messages, raw)
			if kind == "result" {
				ends++
			}
		}
	}
	text, err := json.Marshal(answer)
	w.must(err)
	return text
}

func (w *compatWorld) dial(ctx context.Context) {
	if w.socket != nil {
		return
	}
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(w.base, "http")+"/v1/ws", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + w.vars["token"]}},
	})
	w.must(err)
	conn.SetReadLimit(16 << 20)
	w.socket = conn
}

// compare returns the differences between the recorded answer and that of this run.
func (w *compatWorld) compare(s *compatStep, status int, answer json.RawMessage) (diffs []string) {
	if status != s.Status {
		return []string{fmt.Sprintf("status %d, was %d: %s", status, s.Status, answer)}
	}
	was, is := w.neutral(w.old, s.Answer), w.neutral(w.vars, answer)
	if s.Call == "session.isolation" { // it lists existing directories, and the recorded ones do not exist
		for _, v := range []any{was, is} {
			if m, ok := v.(map[string]any); ok {
				delete(m, "read")
				delete(m, "write")
			}
		}
	}
	differences("", was, is, &diffs)
	return diffs[:min(len(diffs), 5)]
}

var (
	changing = []struct {
		expr *regexp.Regexp
		name string
	}{
		{regexp.MustCompile(`[^\s"]*/parley-sim-\d+`), "SIM"},
		{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`), "TIME"},
		{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
		{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
		{regexp.MustCompile(`\bpt_[0-9a-f]{12}_[A-Za-z0-9_-]{40,}`), "TOKEN"},
		{regexp.MustCompile(`\b[0-9a-f]{7,64}\b`), "HEX"},
		{regexp.MustCompile(`\bevt-HEX-\d+`), "EVENT"},
		{regexp.MustCompile(`\bfake-\d+\b`), "REQUEST"},
		{regexp.MustCompile(`<style>[^<]*</style>`), "STYLE"},
		{regexp.MustCompile(`style-src &#39;sha256-[^=]+=&#39;`), "HASH"},
	}
	changingMember = regexp.MustCompile(`(?i)^(seq|sub|version|cli_?version|pid|epoch|secret|token|.*_ms|.*ms|.*_at|.*At|elapsed.*|outputTokens|(in|out)put_tokens|(spent|context)_tokens)$`)
)

// neutral decodes an answer with its times, ids and tokens replaced.
func (w *compatWorld) neutral(vars map[string]string, answer json.RawMessage) (v any) {
	if len(answer) == 0 {
		return nil
	}
	w.must(json.Unmarshal(answer, &v))
	names := slices.SortedFunc(maps.Keys(vars), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(vars[b]), len(vars[a])), cmp.Compare(a, b))
	})
	var replace []string
	for _, name := range names {
		if len(vars[name]) > 8 {
			replace = append(replace, vars[name], "$"+name)
		}
	}
	for _, name := range []string{"project", "home", "data"} { // a moved data directory also contains these paths
		replace = append(replace, recordedAt+"/"+name, "$"+name)
	}
	return replaced(v, strings.NewReplacer(replace...))
}

// replaced returns a value with placeholders for variables and for values that differ between runs. It ignores the order
// of sessions, and of messages of different types.
func replaced(v any, vars *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		text := vars.Replace(v)
		for _, c := range changing {
			text = c.expr.ReplaceAllString(text, c.name)
		}
		return text
	case map[string]any:
		for name, x := range v {
			v[name] = replaced(x, vars)
		}
	case []any:
		for i, x := range v {
			v[i] = replaced(x, vars)
		}
		slices.SortStableFunc(v, func(a, b any) int { return strings.Compare(orderOf(a), orderOf(b)) })
	}
	return v
}

// orderOf returns the sort key of a message or a session in a list, or "" for other elements.
func orderOf(v any) string {
	_, isSession := member(v, "viewers")
	id, _ := member(v, "session_id")
	kind, isMessage := member(v, "msg.type")
	_, workspace := member(v, "msg.workspace")
	if isSession || isMessage {
		return fmt.Sprint(id, kind, workspace)
	}
	return ""
}

// conversationSchemas are the schemas of a conversation's prompts in the OpenAPI document.
var conversationSchemas = []string{".components.schemas.Prompt", ".components.schemas.PermissionRequest", ".components.schemas.QuestionRequest"}

// growing are the parts of the OpenAPI document that grow with new methods.
var growing = []string{".components.schemas", ".paths"}

// added matches members that answers have and the fixture does not.
var added = regexp.MustCompile(`^\.components\.schemas\.(Accepted\.properties\.held|ProviderInfo\.properties\.(box|boxed)|(HistoryRef|Workspace)\.properties\.machine|SessionSummary\.properties\.(turns|cost_usd|branch|repo|box|machine)|TokenInfo\.properties\.(agent_of|current|device)|WorkspaceDiffResult\.properties\.reverted)$` +
	`|\.sessions\.\d+\.(turns|cost_usd|branch|repo)$|^\.tokens\.\d+\.used_at$|\.waited_ms$|^\.reverted$|\.options\.\d+\.preview$`)

// taken is the schema of a method that has got its first parameters since.
const taken = ".paths./v1/workspace.list.post.requestBody.content.application/json.schema.$ref"

// reworded has the texts for people that have other words now.
var reworded = map[string]string{
	"This agent does not say whether its commands are confined.":                                       "This agent does not report whether its commands are confined.",
	"The call failed; reason says why.":                                                                "The call failed; reason has the cause.",
	"A stream of server-sent events; with wait, a poll. The first event says where the stream begins.": "A stream of server-sent events; with wait, a poll. The first event has the position at which the stream begins.",
}

// rewordedErrors has the errors for people that have other words now.
var rewordedErrors = []struct {
	was *regexp.Regexp
	is  string
}{
	{regexp.MustCompile(`^there is no (session|file|link|webhook|budget|comment) (".*")$`), `$1 $2 not found`},
	{regexp.MustCompile(`^there is no (method|event) (.+)$`), `unknown $1 $2`},
	{regexp.MustCompile(`^there is no such (address; .*)$`), `unknown $1`},
	{regexp.MustCompile(`^there is no provider "none"$`), `unknown provider "none"; this server has sim, claude`},
	{regexp.MustCompile(`^role "king" is not viewer, operator or admin$`), `unknown role "king"; the roles are viewer, operator, admin and host`},
	{regexp.MustCompile(`^workspace: not found: there is no (commit ".*")$`), `workspace: not found: $1`},
}

// rewordedAs returns a text of the fixture in the words of today.
func rewordedAs(was string) string {
	if is, ok := reworded[was]; ok {
		return is
	}
	for _, e := range rewordedErrors {
		if e.was.MatchString(was) {
			return e.was.ReplaceAllString(was, e.is)
		}
	}
	return was
}

// ofDay matches the amount spent from a daily budget, which was reset after the day of the fixture.
var ofDay = regexp.MustCompile(`^\.budgets\.\d+\.spent_(tokens|usd)$`)

// differences compares two neutral answers. For a conversation it compares only the content.
func differences(path string, was, is any, diffs *[]string) {
	last := path[strings.LastIndexByte(path, '.')+1:]
	if changingMember.MatchString(last) && was != nil && is != nil || slices.Contains(conversationSchemas, path) || ofDay.MatchString(path) || path == taken {
		return
	}
	switch old := was.(type) {
	case map[string]any:
		if now, ok := is.(map[string]any); ok {
			if slices.Contains([]string{"snapshot", "conversation", "prompt"}, last) {
				contents(path, old, now, diffs)
				return
			}
			for name := range old {
				differences(path+"."+name, old[name], now[name], diffs)
			}
			for name := range now {
				if _, ok := old[name]; !ok && !slices.Contains(conversationSchemas, path+"."+name) && !slices.Contains(growing, path) && !added.MatchString(path+"."+name) {
					*diffs = append(*diffs, fmt.Sprintf("%s.%s is new: %.200v", path, name, now[name]))
				}
			}
			return
		}
	case []any:
		now, ok := is.([]any)
		if ok && last == "capabilities" && len(now) > len(old) {
			now = now[:len(old)] // new elements are at the end
		}
		if ok && len(now) == len(old) {
			for i := range old {
				differences(path+"."+strconv.Itoa(i), old[i], now[i], diffs)
			}
			return
		}
	}
	if a, b := fmt.Sprint(was), fmt.Sprint(is); a != b && rewordedAs(a) != b {
		*diffs = append(*diffs, fmt.Sprintf("%s is %.600s, was %.600s", path, b, a))
	}
}

// contents compares two conversations in any JSON form: lists have the same length, and the values of the old one are at
// or below the same path of the new one.
func contents(path string, was, is any, diffs *[]string) {
	switch old := was.(type) {
	case map[string]any:
		now, _ := is.(map[string]any)
		for name, value := range old {
			if changingMember.MatchString(name) || name == "type" && now[name] == fmt.Sprint(value)+"_request" { // a prompt has become its event
				continue
			}
			if next, ok := now[name]; ok {
				contents(path+"."+name, value, next, diffs)
				continue
			}
			missing(path+"."+name, value, is, diffs)
		}
		return
	case []any:
		if now, ok := is.([]any); ok {
			if len(now) != len(old) {
				*diffs = append(*diffs, fmt.Sprintf("%s has %d entries, had %d: %.300v", path, len(now), len(old), now))
				return
			}
			for i := range old {
				contents(path+"."+strconv.Itoa(i), old[i], now[i], diffs)
			}
			return
		}
	}
	missing(path, was, is, diffs)
}

// missing reports the values of was that do not occur in is.
func missing(path string, was, is any, diffs *[]string) {
	have := map[string]bool{}
	leaves(is, func(s string) { have[s] = true })
	leaves(was, func(s string) {
		if !have[s] {
			*diffs = append(*diffs, fmt.Sprintf("%s: %.200q is missing in %.600s", path, s, fmt.Sprint(is)))
		}
	})
}

// leaves calls f with each text and number in a value. It also decodes texts that are JSON.
func leaves(v any, f func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			leaves(x, f)
		}
	case []any:
		for _, x := range v {
			leaves(x, f)
		}
	case string, float64:
		f(fmt.Sprint(v))
	case bool:
		if v {
			f("true")
		}
	}
}

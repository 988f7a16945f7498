package acphttp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/acphttp"
)

// long is the timeout of each expected message.
const long = 10 * time.Second

// record is a line of a recording: of exchange.jsonl for HTTP, or of frames.jsonl for WebSocket.
type record struct {
	Exchange, Connection int
	What, From           string
	Method, Path, Line   string
	Headers              map[string]string
	Status               int
	Body, Data           json.RawMessage
	Raw                  string
	Code                 *int
	Reason               string
}

// TestRecordings plays the client of each recording of the official transports against the handler,
// with an agent that sends the recorded messages. PARLEY_ACP_REMOTE_CORPUS names another folder of
// recordings.
func TestRecordings(t *testing.T) {
	dir := os.Getenv("PARLEY_ACP_REMOTE_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "testdata", "acp-remote")
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range list {
		if !e.IsDir() {
			continue
		}
		n++
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			if lines, ok := readRecording(t, filepath.Join(dir, e.Name(), "exchange.jsonl")); ok {
				playHTTP(t, lines)
			} else if lines, ok := readRecording(t, filepath.Join(dir, e.Name(), "frames.jsonl")); ok {
				playWS(t, lines)
			} else {
				t.Fatal("the folder has neither exchange.jsonl nor frames.jsonl")
			}
		})
	}
	if n == 0 {
		t.Fatalf("%s has no recordings", dir)
	}
}

func readRecording(t *testing.T, path string) ([]record, bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []record
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		list = append(list, r)
	}
	return list, true
}

// step is the next step of an agent: a received message, a sent message, or the loss of a client's stream.
type step struct {
	in   bool
	line string
	gate chan struct{} // closed by the client
}

// scripts are the agents of a recording's connections, in the order in which they begin.
type scripts struct {
	t     *testing.T
	mu    sync.Mutex
	list  [][]step
	begun int
}

// agent plays the next script.
func (s *scripts) agent(ctx context.Context, r io.Reader, w io.WriteCloser) error {
	s.mu.Lock()
	var steps []step
	if s.begun < len(s.list) {
		steps = s.list[s.begun]
	}
	s.begun++
	s.mu.Unlock()
	got := make(chan string)
	var reading sync.WaitGroup
	defer reading.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reading.Go(func() {
		defer close(got)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			select {
			case got <- line:
			case <-ctx.Done():
			}
		}
	})
	received := map[string]int{}
	for _, st := range steps {
		if st.gate != nil {
			select {
			case <-st.gate:
			case <-ctx.Done():
			}
			continue
		}
		if !st.in {
			if _, err := io.WriteString(w, st.line+"\n"); err != nil {
				return nil // the client has disconnected
			}
			continue
		}
		for received[canonical(st.line)] == 0 {
			line, ok := <-got
			if !ok {
				return nil
			}
			received[canonical(line)]++
		}
		received[canonical(st.line)]--
	}
	for range got { // until the client disconnects
	}
	return nil
}

// canonical returns a JSON text in canonical form.
func canonical(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	out, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(out)
}

// exchange is a request in progress.
type exchange struct {
	cancel context.CancelFunc
	over   chan struct{} // closed when the handler has returned
	resp   chan *http.Response
	events chan string // data of events, "" for a comment; closed at the end of the body
	body   chan []byte
}

// player is an HTTP client that repeats a recording.
type player struct {
	t     *testing.T
	url   string
	mu    sync.Mutex
	over  map[string]chan struct{}
	all   map[int]*exchange
	ids   map[string]string // maps recorded connection ids to those of this run
	asked map[int]record
	work  sync.WaitGroup
}

// playHTTP plays a recording over HTTP.
func playHTTP(t *testing.T, lines []record) {
	list, gates := httpScripts(lines)
	agents := &scripts{t: t, list: list}
	heartbeat := time.Hour
	for _, l := range lines {
		if l.Raw != "" {
			heartbeat = 50 * time.Millisecond
		}
	}
	h := acphttp.New(acphttp.Options{Heartbeat: heartbeat})
	p := &player{t: t, over: map[string]chan struct{}{}, all: map[int]*exchange{}, ids: map[string]string{}, asked: map[int]record{}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer p.ended(r.Header.Get("X-Exchange"))
		if r.URL.Path != "/acp" {
			http.Error(w, "Not Found", http.StatusNotFound)
			return
		}
		if err := h.Serve(w, r, acphttp.Client{Agent: agents.agent}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(func() {
		for _, x := range p.all {
			x.cancel()
		}
		h.Close()
		srv.Close()
		p.work.Wait()
	})
	p.url = srv.URL
	for i, l := range lines {
		if p.play(l); t.Failed() {
			t.Fatalf("at line %d: %s of exchange %d", i+1, l.What, l.Exchange)
		}
		if gates[i] != nil {
			close(gates[i])
		}
	}
	for n, x := range p.all {
		for ev := range remaining(x) {
			t.Errorf("exchange %d has another event: %s", n, ev)
		}
	}
}

// remaining yields the events that were not awaited. The exchange must have ended.
func remaining(x *exchange) func(func(string) bool) {
	return func(yield func(string) bool) {
		x.cancel()
		for ev := range x.events {
			if ev != "" && !yield(ev) {
				return
			}
		}
	}
}

// httpScripts returns the agents of a recording with their messages in both directions, in order.
// It closes gates[i] when the stream of line i is lost.
func httpScripts(lines []record) (list [][]step, gates map[int]chan struct{}) {
	gates = map[int]chan struct{}{}
	status, opener, place := map[int]int{}, map[int]bool{}, map[string]int{}
	request := map[int]record{}
	for _, l := range lines {
		switch l.What {
		case "request":
			request[l.Exchange] = l
			opener[l.Exchange] = l.Method == "POST" && l.Headers["acp-connection-id"] == ""
		case "response":
			status[l.Exchange] = l.Status
			if opener[l.Exchange] && l.Status == 200 {
				place[l.Headers["acp-connection-id"]] = len(place)
			}
		}
	}
	list = make([][]step, len(place))
	of := map[int]int{}
	for i, l := range lines {
		switch {
		case lost[l.What]:
			gates[i] = make(chan struct{})
			list[of[l.Exchange]] = append(list[of[l.Exchange]], step{gate: gates[i]})
		case l.What == "request" && opener[l.Exchange] && status[l.Exchange] == 200:
			id := ""
			for _, m := range lines {
				if m.What == "response" && m.Exchange == l.Exchange {
					id = m.Headers["acp-connection-id"]
				}
			}
			of[l.Exchange] = place[id]
			list[place[id]] = append(list[place[id]], step{in: true, line: string(l.Body)})
		case l.What == "request":
			of[l.Exchange] = place[l.Headers["acp-connection-id"]]
			if l.Method == "POST" && status[l.Exchange] == 202 {
				list[of[l.Exchange]] = append(list[of[l.Exchange]], step{in: true, line: string(l.Body)})
			}
		case l.What == "body" && opener[l.Exchange] && status[l.Exchange] == 200:
			list[of[l.Exchange]] = append(list[of[l.Exchange]], step{line: string(l.Body)})
		case l.What == "event" && l.Data != nil:
			list[of[l.Exchange]] = append(list[of[l.Exchange]], step{line: string(l.Data)})
		}
	}
	return list, gates
}

// lost are the ends of a stream that the client notices before the server.
var lost = map[string]bool{"closed by the client": true, "cut by the network": true, "ended by the network": true}

// play repeats one line, or waits for it.
func (p *player) play(l record) {
	t := p.t
	t.Helper()
	x := p.all[l.Exchange]
	switch l.What {
	case "request":
		p.request(l)
		if l.Method == "DELETE" { // later requests must not find the connection
			<-p.all[l.Exchange].over
		}
	case "response":
		p.response(l, x)
	case "event":
		p.event(l, x)
	case "body":
		if got := wait(t, x.body); !sameBody(l, got) {
			t.Errorf("the body is %.300q, want %s", got, l.Body)
		}
	case "end":
		for ev := range left1(t, x) {
			t.Errorf("another event: %s", ev)
		}
	default:
		if !lost[l.What] {
			t.Errorf("%q is not known", l.What)
			return
		}
		x.cancel()
		<-x.over
	}
}

// left1 yields the events that remain until the server ends the body.
func left1(t *testing.T, x *exchange) func(func(string) bool) {
	return func(yield func(string) bool) {
		for {
			ev, ok := receive(t, x.events)
			if !ok || ev != "" && !yield(ev) {
				return
			}
		}
	}
}

func (p *player) event(l record, x *exchange) {
	for {
		ev, ok := receive(p.t, x.events)
		switch {
		case !ok:
			p.t.Errorf("the stream ended before %s%s", l.Data, l.Raw)
			return
		case ev == "" && l.Raw == "":
			continue // a comment that is not in the recording
		case ev != "" && l.Raw != "" || canonical(ev) != canonical(string(l.Data)):
			p.t.Errorf("the event is %s, want %s%s", ev, l.Data, l.Raw)
		}
		return
	}
}

func (p *player) response(l record, x *exchange) {
	resp := wait(p.t, x.resp)
	if resp == nil {
		return
	}
	if resp.StatusCode != l.Status {
		p.t.Errorf("the status is %d, want %d", resp.StatusCode, l.Status)
	}
	for _, name := range []string{"content-type", "cache-control"} {
		want := l.Headers[name]
		if got, _, _ := strings.Cut(resp.Header.Get(name), ";"); want != "" && got != want && l.Status != 404 {
			p.t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	recorded, real := l.Headers["acp-connection-id"], resp.Header.Get(acphttp.HeaderConnection)
	if (recorded == "") != (real == "") {
		p.t.Errorf("the id of the connection is %q, recorded %q", real, recorded)
	}
	p.ids[recorded] = real
}

// request sends a request and reads its response in the background.
func (p *player) request(l record) {
	body := l.Body
	var text string
	if json.Unmarshal(body, &text) == nil {
		if body = []byte(text); strings.HasPrefix(text, "<a message of more than 16 MiB") {
			body = []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"x":"` + strings.Repeat("x", 16<<20) + `"}}`)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, l.Method, p.url+l.Path, bytes.NewReader(expand(body)))
	if err != nil {
		p.t.Fatal(err)
	}
	for name, value := range l.Headers {
		switch strings.ToLower(name) {
		case "host", "connection", "content-length", "transfer-encoding", "accept-encoding":
		case "acp-connection-id":
			if real, ok := p.ids[value]; ok {
				value = real
			}
			req.Header.Set(name, value)
		default:
			req.Header.Set(name, string(expand([]byte(value))))
		}
	}
	req.Header.Set("X-Exchange", fmt.Sprint(l.Exchange))
	x := &exchange{cancel: cancel, over: make(chan struct{}), resp: make(chan *http.Response, 1), events: make(chan string, 10000), body: make(chan []byte, 1)}
	p.mu.Lock()
	p.over[fmt.Sprint(l.Exchange)] = x.over
	p.mu.Unlock()
	p.all[l.Exchange] = x
	p.work.Go(func() { p.fetch(req, x) })
}

// expand restores text that the recorder has shortened: "xxx… (1025 characters)".
func expand(text []byte) []byte {
	s := string(text)
	i := strings.Index(s, "… (")
	if i < 0 {
		return text
	}
	j := strings.Index(s[i:], " characters)")
	var n int
	if _, err := fmt.Sscanf(s[i+len("… ("):], "%d", &n); err != nil || j < 0 {
		return text
	}
	start := strings.LastIndexByte(s[:i], '"') + 1
	return []byte(s[:start] + strings.Repeat("x", n) + s[i+j+len(" characters)"):])
}

func (p *player) fetch(req *http.Request, x *exchange) {
	defer close(x.events)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		close(x.resp)
		return
	}
	defer resp.Body.Close()
	x.resp <- resp
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		data, _ := io.ReadAll(resp.Body) // a body that was cut differs from the recorded one
		x.body <- data
		return
	}
	in := bufio.NewReader(resp.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			x.events <- strings.TrimSuffix(data, "\n")
		} else if line == ":\n" {
			x.events <- ""
		}
	}
}

// ended records that the handler of an exchange has returned.
func (p *player) ended(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if over := p.over[id]; over != nil {
		close(over)
		delete(p.over, id)
	}
}

// sameBody compares a body with the recorded one. It ignores the page for unknown paths, which does
// not belong to the transport.
func sameBody(l record, got []byte) bool {
	var text string
	if json.Unmarshal(l.Body, &text) == nil {
		return string(got) == text || text == "Not Found" && strings.TrimSpace(string(got)) == text
	}
	var a, b any
	return json.Unmarshal(l.Body, &a) == nil && json.Unmarshal(got, &b) == nil && reflect.DeepEqual(a, b)
}

func wait[T any](t *testing.T, c chan T) T {
	t.Helper()
	v, _ := receive(t, c)
	return v
}

func receive[T any](t *testing.T, c chan T) (v T, ok bool) {
	t.Helper()
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case v, ok = <-c:
	case <-timer.C:
		t.Error("nothing came")
	}
	return v, ok
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// minLines is the length of the shortest stream: two lines before the first answer, part of the
// answer, and two lines at the end.
const minLines = 300

// recording is the dialogue on which the stream is based.
const recording = "testdata/wire/partial-tool/stdout.jsonl"

// recorded are the lines taken unchanged from the recording.
type recorded struct {
	initialize              []byte // the body of the answer
	running, init           string
	result, idle            string
	session, model, request string
}

func readRecorded(name string) (*recorded, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	var answer struct {
		Response struct{ Response json.RawMessage }
	}
	if err := json.Unmarshal([]byte(lines[0]), &answer); err != nil {
		return nil, err
	}
	n := len(lines)
	if n < 6 || len(answer.Response.Response) < 10<<10 || !strings.Contains(lines[n-2], `"type":"result"`) {
		return nil, errors.New(name + " is another recording than the benchmark was written for")
	}
	return &recorded{
		initialize: answer.Response.Response,
		running:    lines[1], init: lines[2], result: lines[n-2], idle: lines[n-1],
		session: "bd8e384b-7ed3-4c20-81ee-96d52cda4a34", model: "claude-opus-5-5", request: "req_fake",
	}, nil
}

// expected holds the counts that every consumer must report for a stream.
type expected struct {
	lines, hostOnly int // hostOnly are for the SDK; some SDKs deliver them, some do not
	textBytes       int
	tools           map[string]int
	size            int64
}

func (b *bench) readRecording() error {
	rec, err := readRecorded(filepath.Join(b.root, filepath.FromSlash(recording)))
	if err != nil {
		return err
	}
	if err := os.WriteFile(b.path("init.json"), rec.initialize, 0o600); err != nil {
		return err
	}
	short := strings.Join([]string{rec.running, rec.init, rec.result, rec.idle, ""}, "\n")
	return os.WriteFile(b.path("short.jsonl"), []byte(short), 0o600)
}

// writeStream generates a stream with a number of lines.
func (b *bench) writeStream(name string, lines int) (*expected, error) {
	rec, err := readRecorded(filepath.Join(b.root, filepath.FromSlash(recording)))
	if err != nil {
		return nil, err
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	want, err := generate(f, rec, lines)
	return want, errors.Join(err, f.Close())
}

// generator writes a long session: answers with a long text and a tool use, each streamed as deltas
// and then complete, and the tools' results. The same number of lines results in the same bytes.
type generator struct {
	*recorded
	out    *bufio.Writer
	random *rand.Rand
	left   int // remaining lines before the last two
	want   *expected
	err    error

	answer int    // number of the answer
	index  int    // of the block in the answer
	apiID  string // of the answer
}

func generate(w io.Writer, rec *recorded, lines int) (*expected, error) {
	g := &generator{
		recorded: rec,
		out:      bufio.NewWriterSize(w, 1<<20),
		random:   rand.New(rand.NewPCG(0x9e3779b97f4a7c15, 0x7061726c6579)),
		left:     lines - 2,
		want:     &expected{lines: lines, hostOnly: 2, tools: map[string]int{}},
	}
	g.line(rec.running)
	g.line(rec.init)
	for g.left > 0 {
		g.turn()
	}
	g.left = 2
	g.line(rec.result)
	g.line(rec.idle)
	if err := g.out.Flush(); err != nil {
		return nil, err
	}
	return g.want, g.err
}

// line writes a line if there is room for it.
func (g *generator) line(text string) bool {
	if g.left == 0 {
		return false
	}
	g.left--
	n, err := g.out.WriteString(text + "\n")
	g.want.size += int64(n)
	if err != nil {
		g.err = err
	}
	return true
}

func (g *generator) linef(format string, args ...any) bool {
	return g.line(fmt.Sprintf(format, args...))
}

// event writes one event of the API's stream.
func (g *generator) event(format string, args ...any) bool {
	return g.linef(`{"type":"stream_event","event":{%s},"session_id":"%s","parent_tool_use_id":null,"uuid":"%s","api_message_id":"%s"}`,
		fmt.Sprintf(format, args...), g.session, g.uuid(), g.apiID)
}

const usage = `"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}`

// turn writes one answer with its tool's result.
func (g *generator) turn() {
	g.answer++
	g.apiID, g.index = fmt.Sprintf("msg_%04d", g.answer), 0
	g.event(`"type":"message_start","message":{"id":"%s","type":"message","role":"assistant","model":"%s","content":[],"stop_reason":null,"stop_sequence":null,%s}`, g.apiID, g.model, usage)
	g.text()
	g.toolUse()
	g.event(`"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},%s`, usage)
	g.event(`"type":"message_stop"`)
	g.toolResult()
	g.linef(`{"type":"system","subtype":"status","status":"requesting","session_id":"%s","uuid":"%s"}`, g.session, g.uuid())
}

// text writes a block of about 200 deltas.
func (g *generator) text() {
	g.event(`"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}`, g.index)
	var whole strings.Builder
	for range 150 + g.random.IntN(100) {
		piece := g.words(2 + g.random.IntN(6))
		if g.event(`"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}`, g.index, quote(piece)) {
			g.want.textBytes += len(piece)
			whole.WriteString(piece)
		}
	}
	g.whole(fmt.Sprintf(`{"type":"text","text":%s}`, quote(whole.String())))
	g.event(`"type":"content_block_stop","index":%d`, g.index)
	g.index++
}

var toolNames = []string{"Bash", "Read", "Grep", "Edit", "mcp__tracker__find_issue"}

// toolUse writes a block with its input in pieces of ten characters.
func (g *generator) toolUse() {
	name := toolNames[g.random.IntN(len(toolNames))]
	id := fmt.Sprintf("toolu_%04d", g.answer)
	input := fmt.Sprintf(`{"command":"sed -n 1,%dp main.go","description":"look"}`, g.random.IntN(1000))
	g.event(`"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"%s","name":"%s","input":{}}`, g.index, id, name)
	for rest := input; rest != ""; {
		n := min(10, len(rest))
		g.event(`"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}`, g.index, quote(rest[:n]))
		rest = rest[n:]
	}
	if g.whole(fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"%s","input":%s}`, id, name, input)) {
		g.want.tools[name]++
	}
	g.event(`"type":"content_block_stop","index":%d`, g.index)
}

// whole writes the line of a finished block.
func (g *generator) whole(block string) bool {
	return g.linef(`{"type":"assistant","message":{"id":"%s","type":"message","role":"assistant","model":"%s","content":[%s],"stop_reason":null,"stop_sequence":null,%s,"context_management":null},"parent_tool_use_id":null,"session_id":"%s","uuid":"%s","timestamp":"2026-11-15T02:05:26.774Z","request_id":"%s"}`,
		g.apiID, g.model, block, usage, g.session, g.uuid(), g.request)
}

// toolResult writes a user line with 4 to 50 KB of a tool's output, which the CLI writes twice: as
// the model sees it and as the tool returned it.
func (g *generator) toolResult() {
	output := quote(g.output(4<<10 + g.random.IntN(46<<10)))
	id := fmt.Sprintf("toolu_%04d", g.answer)
	g.linef(`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":%s,"is_error":false}]},"parent_tool_use_id":null,"session_id":"%s","uuid":"%s","timestamp":"2026-11-15T02:05:26.906Z","tool_use_result":{"stdout":%s,"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false},"tool_result_meta":[{"id":"%s","permission_decision":{"decision":"accept","source":"config","reason_type":"subcommandResults"}}]}`,
		id, output, g.session, g.uuid(), output, id)
}

var vocabulary = strings.Fields("the a of to in and is that file function test returns error line `main` \"quoted\" (see above) value, change: reads writes package context because it does not close\n\n -")

// words returns ASCII text, so that every language counts the same length.
func (g *generator) words(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(' ')
		b.WriteString(vocabulary[g.random.IntN(len(vocabulary))])
	}
	if g.random.IntN(8) == 0 {
		b.WriteString(".\n\n")
	}
	return b.String()
}

var code = []string{
	"func (s *server) handle(w http.ResponseWriter, r *http.Request) {",
	"\tif err := s.store.Save(r.Context(), id, \"draft\"); err != nil {",
	"\t\treturn fmt.Errorf(\"saving %q: %w\", id, err)",
	"\t}",
	"// naïve: O(n²), see the note → below",
	"",
	"\tfor i, row := range rows[1:] {",
}

// output returns a numbered listing of the given size.
func (g *generator) output(size int) string {
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%6d\t%s\n", i, code[g.random.IntN(len(code))])
	}
	return b.String()
}

func (g *generator) uuid() string {
	a, b := g.random.Uint64(), g.random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b&0xffffffffffff)
}

// quote returns a JSON string as JSON.stringify writes it.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

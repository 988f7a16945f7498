package claudeevent_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// genLine is a line of a generated session.
type genLine struct {
	text       string
	streamOnly bool // only with partial messages
}

// generator produces sessions in the form of the CLI: several subagents at once, tools in
// parallel, retries, interrupts, compaction, unknown kinds. The same seed gives the same
// session.
type generator struct {
	r       *rand.Rand
	actors  []*actor // each has ordered lines; lines of several actors interleave
	n       int      // counts ids
	cutting bool     // include the traces of a killed process
}

// actor is the main loop, a subagent, or the CLI itself.
type actor struct {
	parent string
	lines  []genLine
	after  map[int]*actor // actors that begin after a line
	n      int            // counts messages: threads share their ids
}

func newGenerator(seed uint64, cutting bool) *generator {
	return &generator{r: rand.New(rand.NewPCG(seed, 0x7061726c6579)), cutting: cutting}
}

// session generates a session.
func (g *generator) session() []genLine {
	main := g.newActor("")
	for range 1 + g.r.IntN(3) {
		g.turn(main)
	}
	if g.cutting && g.r.IntN(2) == 0 {
		g.broken(main)
	}
	noise := g.newActor("")
	for range g.r.IntN(6) {
		noise.add(false, `{"type":"future_message","n":%d,"uuid":"%s"}`, g.id(), g.uuid())
		noise.add(false, `{"type":"system","subtype":"future_subtype","x":[1,{"b":2,"a":1e3}],"uuid":"%s"}`, g.uuid())
	}
	g.actors = []*actor{main, noise}
	return g.interleave()
}

// interleave takes lines from the actors in a random order.
func (g *generator) interleave() []genLine {
	var all []genLine
	next := map[*actor]int{}
	live := append([]*actor{}, g.actors...)
	for len(live) > 0 {
		i := g.r.IntN(len(live))
		a := live[i]
		if next[a] == len(a.lines) {
			live = append(live[:i], live[i+1:]...)
			continue
		}
		all = append(all, a.lines[next[a]])
		if child := a.after[next[a]]; child != nil {
			live = append(live, child)
		}
		next[a]++
	}
	return all
}

func (g *generator) newActor(parent string) *actor {
	return &actor{parent: parent, after: map[int]*actor{}}
}

func (a *actor) add(streamOnly bool, format string, args ...any) {
	a.lines = append(a.lines, genLine{fmt.Sprintf(format, args...), streamOnly})
}

func (g *generator) id() int { g.n++; return g.n }

func (g *generator) uuid() string { return fmt.Sprintf("uuid-%d", g.id()) }

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func parentJSON(parent string) string {
	if parent == "" {
		return "null"
	}
	return quote(parent)
}

// event adds an event of the API's stream.
func (a *actor) event(message, format string, args ...any) {
	a.add(true, `{"type":"stream_event","event":{%s},"session_id":"s","parent_tool_use_id":%s,"uuid":"e","api_message_id":%s}`,
		fmt.Sprintf(format, args...), parentJSON(a.parent), quote(message))
}

func (g *generator) start(a *actor) string {
	a.n++
	id := fmt.Sprintf("msg_%d", a.n)
	a.event(id, `"type":"message_start","message":{"id":"%s","type":"message","role":"assistant","model":"m","content":[],"usage":{"output_tokens":1}}`, id)
	return id
}

// turn adds answers with their tools, and the other messages of a turn of the main loop.
func (g *generator) turn(a *actor) {
	a.add(false, `{"type":"system","subtype":"init","session_id":"s","uuid":"%s","cwd":"/p","model":"m","permissionMode":"default","tools":["Bash"],"mcp_servers":[]}`, g.uuid())
	for range 1 + g.r.IntN(3) {
		switch g.r.IntN(6) {
		case 0:
			g.retry(a)
		case 1:
			g.compaction(a)
		}
		g.answer(a, 2)
	}
	if g.r.IntN(4) == 0 {
		g.interrupt(a)
		return
	}
	g.result(a, "success", false)
}

func (g *generator) result(a *actor, subtype string, isError bool) {
	a.add(false, `{"type":"result","subtype":"%s","is_error":%v,"num_turns":2,"duration_ms":10,"duration_api_ms":5,"session_id":"s","total_cost_usd":0.%d,"uuid":"%s","usage":{"input_tokens":%d,"output_tokens":7},"permission_denials":[],"modelUsage":{"m":{"costUSD":1e-7}}}`,
		subtype, isError, g.id(), g.uuid(), g.id())
}

// answer adds one answer of the model; depth limits the nesting of subagents.
func (g *generator) answer(a *actor, depth int) {
	id := g.start(a)
	var tools []string
	for index := range 1 + g.r.IntN(4) {
		if tool := g.block(a, id, index, depth); tool != "" {
			tools = append(tools, tool)
		}
	}
	if g.r.IntN(3) == 0 {
		a.event(id, `"type":"future_event","x":1`)
	}
	a.event(id, `"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":%d}`, g.id())
	a.event(id, `"type":"message_stop"`)
	g.r.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
	for _, tool := range tools {
		if g.r.IntN(3) == 0 {
			a.add(false, `{"type":"tool_progress","tool_use_id":"%s","tool_name":"Bash","parent_tool_use_id":%s,"elapsed_time_seconds":1.5,"session_id":"s"}`, tool, parentJSON(a.parent))
		}
		a.add(false, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":%s,"is_error":%v}%s]},"parent_tool_use_id":%s,"session_id":"s","uuid":"%s","tool_use_result":{"stdout":%s}}`,
			tool, quote(g.words()), g.r.IntN(3) == 0, g.besideResult(), parentJSON(a.parent), g.uuid(), quote(g.words()))
	}
}

func (g *generator) besideResult() string {
	if g.r.IntN(4) > 0 {
		return ""
	}
	return `,{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"text","text":"beside"}`
}

// words returns text with difficult characters: escapes, emoji, newlines, HTML.
func (g *generator) words() string {
	list := strings.Split(`hello|wörld|😀|a "quoted" \ thing|<b>&amp;</b>|`+"\u2028|line\nbreak|\ttab|日本|é|\u0000", "|")
	var b strings.Builder
	for range g.r.IntN(5) {
		b.WriteString(list[g.r.IntN(len(list))])
	}
	return b.String()
}

// pieces cuts a text between runes.
func (g *generator) pieces(s string) []string {
	var all []string
	runes := []rune(s)
	for len(runes) > 0 {
		n := 1 + g.r.IntN(len(runes))
		all = append(all, string(runes[:n]))
		runes = runes[n:]
	}
	return all
}

// block adds one block and returns the id of a tool that needs a result.
func (g *generator) block(a *actor, id string, index, depth int) string {
	switch g.r.IntN(6) {
	case 0:
		g.whole(a, id, index, `{"type":"redacted_thinking","data":"x"}`, `{"type":"redacted_thinking","data":"x"}`)
	case 1:
		block := fmt.Sprintf(`{"type":"future_block","n":%d,"nested":{"z":1,"a":[true,null]}}`, g.id())
		g.whole(a, id, index, block, block, `{"type":"future_delta","x":1}`)
	case 2:
		s := g.words()
		g.whole(a, id, index, `{"type":"thinking","thinking":"","signature":""}`, fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":"c2ln"}`, quote(s)),
			append(g.deltas("thinking_delta", "thinking", s), `{"type":"signature_delta","signature":"c2ln"}`)...)
	case 3, 4:
		return g.tool(a, id, index, depth)
	default:
		s := g.words()
		g.whole(a, id, index, `{"type":"text","text":""}`, fmt.Sprintf(`{"type":"text","text":%s}`, quote(s)), g.deltas("text_delta", "text", s)...)
	}
	return ""
}

func (g *generator) deltas(typ, key, s string) []string {
	var all []string
	for _, piece := range g.pieces(s) {
		all = append(all, fmt.Sprintf(`{"type":"%s","%s":%s}`, typ, key, quote(piece)))
	}
	return all
}

// whole streams a block and writes its line before its stop, like the CLI.
func (g *generator) whole(a *actor, id string, index int, start, whole string, deltas ...string) {
	var late []string
	a.event(id, `"type":"content_block_start","index":%d,"content_block":%s`, index, start)
	for i, d := range deltas {
		if i == len(deltas)-1 && g.r.IntN(8) == 0 {
			late = append(late, d) // after the whole line, where it must have no effect
			continue
		}
		a.event(id, `"type":"content_block_delta","index":%d,"delta":%s`, index, d)
	}
	a.add(false, `{"type":"assistant","message":{"id":"%s","role":"assistant","model":"m","content":[%s],"stop_reason":null,"usage":{"output_tokens":1}},"parent_tool_use_id":%s,"session_id":"s","uuid":"%s","timestamp":"2026-11-15T02:05:26.774Z"}`,
		id, whole, parentJSON(a.parent), g.uuid())
	for _, d := range late {
		a.event(id, `"type":"content_block_delta","index":%d,"delta":%s`, index, d)
	}
	if g.r.IntN(8) > 0 { // otherwise the end of the message stops the block
		a.event(id, `"type":"content_block_stop","index":%d`, index)
	}
}

func (g *generator) tool(a *actor, id string, index, depth int) string {
	tool := fmt.Sprintf("toolu_%d", g.id())
	name := []string{"Bash", "Read", "mcp__x__y", "Agent"}[g.r.IntN(4)]
	input := fmt.Sprintf(`{"command":%s,"n":%d}`, quote(g.words()), g.id())
	g.whole(a, id, index, fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"%s","input":{}}`, tool, name),
		fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"%s","input":%s}`, tool, name, input), g.deltas("input_json_delta", "partial_json", input)...)
	if name == "Agent" && depth > 0 {
		a.add(false, `{"type":"system","subtype":"task_started","task_id":"task-%s","tool_use_id":"%s","description":"sub","uuid":"%s","session_id":"s"}`, tool, tool, g.uuid())
		sub := g.newActor(tool)
		for range 1 + g.r.IntN(2) {
			if g.r.IntN(3) == 0 {
				g.retry(sub)
			}
			g.answer(sub, depth-1)
		}
		sub.add(false, `{"type":"system","subtype":"task_updated","task_id":"task-%s","patch":{"status":"completed"},"uuid":"%s","session_id":"s"}`, tool, g.uuid())
		a.after[len(a.lines)-1] = sub
	}
	return tool
}

// retry adds an answer that breaks off and is retried, which voids the streamed part.
func (g *generator) retry(a *actor) {
	id := g.start(a)
	a.event(id, `"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}`)
	a.event(id, `"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lost"}`)
	a.event(id, `"type":"content_block_stop","index":0`)
	a.add(true, `{"type":"stream_event","event":{"type":"message_stop"},"session_id":"s","parent_tool_use_id":%s,"uuid":"e","api_message_id":"%s","abandoned_blocks":{"api_message_id":"%s","from_block_index":0}}`, parentJSON(a.parent), id, id)
	a.add(false, `{"type":"system","subtype":"api_retry","attempt":1,"uuid":"%s","session_id":"s"}`, g.uuid())
}

func (g *generator) compaction(a *actor) {
	a.add(false, `{"type":"system","subtype":"status","status":"compacting","session_id":"s","uuid":"%s"}`, g.uuid())
	a.add(false, `{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":%d},"session_id":"s","uuid":"%s"}`, g.id(), g.uuid())
	a.add(false, `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"summary"}]},"isSynthetic":true,"parent_tool_use_id":null,"session_id":"s","uuid":"%s"}`, g.uuid())
}

// interrupt cuts off an answer: its line is marked, and its stream has no end.
func (g *generator) interrupt(a *actor) {
	id := g.start(a)
	s := g.words() + "."
	a.event(id, `"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}`)
	for _, d := range g.deltas("text_delta", "text", s) {
		a.event(id, `"type":"content_block_delta","index":0,"delta":%s`, d)
	}
	a.add(false, `{"type":"assistant","message":{"id":"%s","role":"assistant","model":"m","content":[{"type":"text","text":%s}],"stop_reason":null},"parent_tool_use_id":null,"session_id":"s","uuid":"%s","aborted":true}`, id, quote(s), g.uuid())
	a.add(false, `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"parent_tool_use_id":null,"session_id":"s","uuid":"%s"}`, g.uuid())
	g.result(a, "error_during_execution", true)
}

// broken adds the lines of a process that dies in the middle of a tool's input.
func (g *generator) broken(a *actor) {
	id := g.start(a)
	a.event(id, `"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_broken","name":"Bash","input":{}}`)
	a.event(id, `"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"comm"}`)
}

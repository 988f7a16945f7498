package transcript

import (
	"slices"

	"github.com/seed7221b0f9/parley/internal/random"
)

// content returns the blocks of the message of a line as JSON texts; nil if the content is a string.
func (l *operated) content() (o, message *object, blocks []string) {
	o = parseObject(l.entry.line().text)
	message = parseObject(o.values["message"])
	return o, message, elements(message.values["content"])
}

// setContent returns the line with other blocks.
func setContent(o, message *object, blocks []string) string {
	message.set("content", array(blocks))
	o.set("message", message.text())
	return o.text()
}

// dropThinking removes thinking that lost its text.
func (p *surgeon) dropThinking(l *operated, f *Finding) {
	o, message, blocks := l.content()
	kept := slices.DeleteFunc(blocks, func(b string) bool {
		return lastString(b, "type") == "thinking" && lastString(b, "thinking") == "" && lastString(b, "signature") != ""
	})
	if len(kept) == 0 {
		p.remove(f.Fault, l, "it had no other content")
		return
	}
	p.change(f.Fault, l, setContent(o, message, kept), "without the thinking that lost its text")
}

// lostCall precedes the result of a tool without a call.
const lostCall = "[The result of a tool whose call was lost]"

// resultsToText converts tool results without a call to text: the model may have relied on them.
func (p *surgeon) resultsToText(_ *examination, patients []patient) {
	lost := map[*operated]map[string]bool{} // tool use ids
	for _, one := range patients {
		if lost[one.line] == nil {
			lost[one.line] = map[string]bool{}
		}
		lost[one.line][one.finding.toolUse] = true
	}
	for _, one := range patients {
		if p.work.over() {
			return
		}
		if ids := lost[one.line]; ids != nil {
			delete(lost, one.line)
			p.resultToText(one.line, ids)
		}
	}
}

// resultToText converts the results of a line for these tool uses to text.
func (p *surgeon) resultToText(l *operated, ids map[string]bool) {
	o, message, blocks := l.content()
	var out []string
	results := 0
	for _, b := range blocks {
		if p.work.over() {
			return
		}
		isResult := lastString(b, "type") == "tool_result"
		if !isResult || !ids[lastString(b, "tool_use_id")] {
			if isResult {
				results++
			}
			out = append(out, b)
			continue
		}
		out = append(out, textBlock(lostCall))
		content := memberOf(b, "content")
		if s := stringOf(content); s != "" {
			out = append(out, textBlock(s))
		}
		for _, part := range elements(content) {
			if kind := lastString(part, "type"); kind == "text" || kind == "image" {
				out = append(out, part)
			}
		}
	}
	if results == 0 {
		o.remove("toolUseResult", "sourceToolAssistantUUID", "sourceToolUseID")
		o.set("isMeta", "true") // not a prompt of the user
	}
	p.change(OrphanToolResult, l, setContent(o, message, out), "the result is text now")
}

func textBlock(s string) string { return `{"type":"text","text":` + quote(s) + `}` }

// lostResult is the text of the result that is added for a tool call without one.
const lostResult = "The result of this tool was lost. It may have run, in part or to its end."

// addResults adds a result to each call without one.
func (p *surgeon) addResults(_ *examination, patients []patient) {
	children := map[string][]*operated{}
	for _, l := range p.lines {
		if link := linkOrNil(l.entry); link != nil && link.ParentUUID != "" {
			children[link.ParentUUID] = append(children[link.ParentUUID], l)
		}
	}
	var line *operated
	var call *object
	for _, one := range patients {
		if p.work.over() {
			return
		}
		if line != one.line { // a line may have many calls
			line, call = one.line, parseObject(one.line.entry.line().text)
		}
		added := p.addResult(line, call, one.finding)
		if added != nil {
			uuid := LinkOf(line.entry).UUID
			p.moveBehind(line, added, children[uuid])
			delete(children, uuid) // they follow the first result now
		}
	}
}

// addResult inserts a result after a call.
func (p *surgeon) addResult(l *operated, call *object, f *Finding) *operated {
	link := LinkOf(l.entry)
	block := parseObject(`{"type":"tool_result"}`)
	block.setString("content", lostResult)
	block.set("is_error", "true")
	block.setString("tool_use_id", f.toolUse)
	uuid := random.UUID()
	o := parseObject("{}")
	o.setString("parentUuid", link.UUID)
	o.set("isSidechain", "false")
	o.setString("type", "user")
	o.set("message", `{"role":"user","content":[`+block.text()+`]}`)
	o.setString("uuid", uuid)
	o.setString("toolUseResult", "Error: "+lostResult)
	o.setString("sourceToolAssistantUUID", link.UUID)
	for _, name := range []string{"timestamp", "isSidechain", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "agentId", "slug", "teamName"} {
		if call.has(name) {
			o.set(name, call.values[name])
		}
	}
	e, err := parseEntry(o.text(), Position{Size: len(o.text())})
	if err != nil {
		return nil // it was just encoded
	}
	added := &operated{fileLine: fileLine{entry: e, pos: e.Position()}}
	l.after = append(l.after, added)
	p.added[uuid] = added
	p.note(f.Fault, added, "added", "", o.text(), "a result that reports the loss")
	return added
}

// moveBehind moves the entries that followed a call below its result.
func (p *surgeon) moveBehind(call, result *operated, children []*operated) {
	from := &node{entry: call.entry, link: LinkOf(call.entry)}
	for _, c := range children {
		n := &node{entry: c.entry, link: LinkOf(c.entry)}
		if len(n.toolResults()) > 0 || n.messageID() != "" && n.messageID() == from.messageID() {
			continue
		}
		p.setParent(OrphanToolUse, c, LinkOf(result.entry).UUID, "it follows the result now")
	}
}

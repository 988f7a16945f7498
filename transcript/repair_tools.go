package transcript

import "slices"

// content are the blocks of the message of a line, as texts; nil if it is a string.
func (l *operated) content() (o, message *object, blocks []string) {
	o = parseObject(l.entry.line().text)
	message = parseObject(o.values["message"])
	return o, message, elements(message.values["content"])
}

// setContent is the line with other blocks.
func setContent(o, message *object, blocks []string) string {
	message.set("content", array(blocks))
	o.set("message", message.text())
	return o.text()
}

// dropThinking takes thinking out that lost its text.
func (p *surgeon) dropThinking(l *operated, f *Finding) {
	o, message, blocks := l.content()
	kept := slices.DeleteFunc(blocks, func(b string) bool {
		return lastString(b, "type") == "thinking" && lastString(b, "thinking") == "" && lastString(b, "signature") != ""
	})
	if len(kept) == 0 {
		p.remove(f.Fault, l, "there was nothing else in it")
		return
	}
	p.change(f.Fault, l, setContent(o, message, kept), "without the thinking that lost its text")
}

// lostCall stands before the result of a tool whose call is not there.
const lostCall = "[The result of a tool whose call was lost]"

// resultToText makes text of the result of a tool whose call is not there: the model
// may have relied on it.
func (p *surgeon) resultToText(l *operated, f *Finding) {
	o, message, blocks := l.content()
	var out []string
	results := 0
	for _, b := range blocks {
		if lastString(b, "type") != "tool_result" || lastString(b, "tool_use_id") != f.toolUse {
			if lastString(b, "type") == "tool_result" {
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
		o.set("isMeta", "true") // the user did not say it
	}
	p.change(f.Fault, l, setContent(o, message, out), "the result is text now")
}

func textBlock(s string) string { return `{"type":"text","text":` + quote(s) + `}` }

// lostResult is the result of a tool whose result is not there.
const lostResult = "The result of this tool was lost. It may have run, in part or to its end."

// addResult answers a call that has no result.
func (p *surgeon) addResult(l *operated, f *Finding) {
	call := parseObject(l.entry.line().text)
	link := LinkOf(l.entry)
	block := parseObject(`{"type":"tool_result"}`)
	block.setString("content", lostResult)
	block.set("is_error", "true")
	block.setString("tool_use_id", f.toolUse)
	uuid := newUUID()
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
		return // it was just made
	}
	added := &operated{fileLine: fileLine{entry: e, pos: e.Position()}}
	p.lines = slices.Insert(p.lines, p.index(l)+1, added)
	p.note(f.Fault, added, "added", "", o.text(), "a result that says that the result was lost")
	p.moveBehind(f.Fault, l, added)
}

// moveBehind lets what went on from a call go on from its result.
func (p *surgeon) moveBehind(fault Fault, call, result *operated) {
	from := &node{entry: call.entry, link: LinkOf(call.entry)}
	for _, c := range p.lines {
		child := linkOrNil(c.entry)
		if child == nil || c == result || child.ParentUUID != from.link.UUID {
			continue
		}
		n := &node{entry: c.entry, link: child}
		if len(n.toolResults()) > 0 || n.messageID() != "" && n.messageID() == from.messageID() {
			continue
		}
		p.setParent(fault, c, LinkOf(result.entry).UUID, "it follows the result now")
	}
}

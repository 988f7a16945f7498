package transcript

import "strings"

// spoken returns an entry as conversations see it: the CLI writes speech of a voice call as a note,
// which becomes a prompt or a queued prompt. Any other entry is returned unchanged.
func spoken(e Entry) Entry {
	s, ok := e.(*SystemEntry)
	if !ok || s.Subtype != "voice_call_talk" || !s.Content.IsText() || lastString(string(s.Origin), "kind") != "voice-call" {
		return e
	}
	o := parseObject(s.text)
	content, blocks, fold, hasFold := o.values["content"], o.values["blocks"], o.values["fold"], o.has("fold")
	if strings.HasPrefix(blocks, "[") {
		content = blocks
	}
	origin := o.values["origin"]
	o.remove("subtype", "level", "msgV", "content", "blocks", "fold")
	if !hasFold {
		o.setString("type", "user")
		o.set("message", `{"role":"user","content":`+content+`}`)
		return orElse(o, s)
	}
	command := parseObject(fold).values["command"]
	if !strings.HasPrefix(command, "{") {
		return e
	}
	waiting := parseObject(fold)
	waiting.remove("command")
	o.remove("isMeta", "origin")
	for _, name := range o.names {
		waiting.set(name, o.values[name])
	}
	attachment := parseObject(command)
	attachment.setString("type", "queued_command")
	attachment.set("prompt", content)
	attachment.set("origin", origin)
	waiting.setString("type", "attachment")
	waiting.set("attachment", attachment.text())
	return orElse(waiting, s)
}

// orElse parses an object that was derived from an entry's line; it returns the entry if that fails.
func orElse(o *object, from *SystemEntry) Entry {
	e, err := parseEntry(o.text(), from.pos)
	if err != nil {
		return from // the parts were valid
	}
	return e
}

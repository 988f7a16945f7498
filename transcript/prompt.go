package transcript

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// maxPrompt is the length limit of a prompt in a list, in UTF-16 units.
const maxPrompt = 200

var (
	// notPrompt matches texts that the CLI or a program inserted.
	notPrompt   = regexp.MustCompile(`^(?:\s*<[a-z][\w-]*[\s>]|\[Request interrupted by user[^\]]*\])`)
	commandName = regexp.MustCompile(`<command-name>(.*?)</command-name>`)
	bashInput   = regexp.MustCompile(`(?s)<bash-input>(.*?)</bash-input>`)
)

// isPromptLine reports whether a line may be a prompt, by its text alone.
func isPromptLine(line []byte) bool {
	return has(line, `"type":"user"`, `"type": "user"`) && !has(line, `"tool_result"`) &&
		!has(line, `"isMeta":true`, `"isMeta": true`)
}

func has(line []byte, any ...string) bool {
	for _, s := range any {
		if bytes.Contains(line, []byte(s)) {
			return true
		}
	}
	return false
}

// firstPrompt returns the first prompt of a person, shortened for a list, or else a slash command.
func (p *part) firstPrompt() string {
	command := ""
	for i := range p.lines {
		line := p.lines[i].text
		if !isPromptLine(line) || has(line, `"isCompactSummary":true`, `"isCompactSummary": true`) {
			continue
		}
		e, err := parseEntry(string(line), Position{})
		if err != nil {
			continue
		}
		if prompt, ok := promptOf(e, &command); ok {
			return strings.Clone(prompt)
		}
	}
	return command
}

// attachmentPrompt describes the content of the first prompt if it has no text.
func (p *part) attachmentPrompt() string {
	for i := range p.lines {
		line := p.lines[i].text
		switch {
		case !isPromptLine(line):
		case has(line, `"type":"image"`, `"type": "image"`):
			return "Image"
		case has(line, `"type":"document"`, `"type": "document"`):
			return "Document"
		}
	}
	return ""
}

// promptOf returns the prompt of a person in an entry, shortened; ok is false if the entry has no
// prompt. It sets command to the name of a slash command if that is empty.
func promptOf(e Entry, command *string) (prompt string, ok bool) {
	u, isUser := e.(*UserEntry)
	if !isUser || u.IsMeta || u.IsCompactSummary {
		return "", false
	}
	return promptOfContent(u.Message.Content, command)
}

func promptOfContent(content message.Content, command *string) (prompt string, ok bool) {
	var texts []string
	if content.IsText() {
		texts = append(texts, content.String())
	}
	for _, b := range content.Blocks() {
		switch b := b.(type) {
		case *message.ToolResult:
			return "", false
		case *message.Text:
			texts = append(texts, b.Text)
		}
	}
	for _, text := range texts {
		text = strings.TrimSpace(strings.ReplaceAll(unwrapPastes(text), "\n", " "))
		if text == "" {
			continue
		}
		if m := commandName.FindStringSubmatch(text); m != nil {
			if *command == "" {
				*command = strings.Clone(m[1])
			}
			continue
		}
		if m := bashInput.FindStringSubmatch(text); m != nil {
			return "! " + strings.TrimSpace(m[1]), true
		}
		if !notPrompt.MatchString(text) {
			return shorten(text), true
		}
	}
	return "", false
}

// shorten cuts a text to the length for lists, never inside a character.
func shorten(s string) string {
	if len(s) <= maxPrompt {
		return s
	}
	units := 0
	for i, r := range s {
		if units += utf16.RuneLen(r); units > maxPrompt {
			return strings.TrimSpace(s[:i]) + "…"
		}
	}
	return s
}

// unwrapPastes removes the marks that the CLI puts around pasted text: <pasted_content id="0a1b">
// and its end, each on a separate line.
func unwrapPastes(s string) string {
	const opening = `<pasted_content id="`
	var b strings.Builder
	for from := 0; ; {
		i := strings.Index(s[from:], opening)
		if i < 0 {
			break
		}
		i += from
		body := s[i+len(opening):]
		if len(body) < 7 || !isHex(body[:4]) || body[4:7] != "\">\n" {
			from = i + len(opening)
			continue
		}
		closing := "\n</pasted_content id=\"" + body[:4] + `">`
		end := strings.Index(body[6:], closing)
		if end < 0 {
			break
		}
		before := trimLineFeeds(s[:i], strings.TrimSuffix)
		b.WriteString(before)
		b.WriteString(body[7:max(7, 6+end)])
		s = trimLineFeeds(body[6+end+len(closing):], strings.TrimPrefix)
		from = 0
	}
	if b.Len() == 0 {
		return s
	}
	return b.String() + s
}

// trimLineFeeds removes up to two line feeds from one end.
func trimLineFeeds(s string, trim func(s, feed string) string) string {
	return trim(trim(s, "\n"), "\n")
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}

// askedAfter reports whether a person sent a prompt after a time, in milliseconds, which ends the
// archiving of a session.
func (p *part) askedAfter(ms int64) bool {
	for i := range p.lines {
		line := p.lines[i].text
		if !has(line, `"user"`, `"queued_command"`) || has(line, `"tool_result"`) {
			continue
		}
		e, err := parseEntry(string(line), Position{})
		if err != nil {
			continue
		}
		if l := LinkOf(e); l != nil && isAsked(e) {
			if t := l.Time(); !t.IsZero() && t.UnixMilli() > ms {
				return true
			}
		}
	}
	return false
}

// notAsked are the members that mark a line as not typed by a person, unless they are false.
var notAsked = []string{
	"isCompactSummary", "isSidechain", "isVirtual", "isVisibleInTranscriptOnly", "isMeta", "textNotTyped", "handedOff",
	"queueSkipAttachments", "persist", "wakeupSource", "scheduledTaskId", "toolUseResult",
}

// isAsked reports whether an entry is a prompt of a person.
func isAsked(e Entry) bool {
	var content message.Content
	var origin message.JSON
	switch e := e.(type) {
	case *UserEntry:
		for _, name := range notAsked {
			if v := e.Member(name); v != "" && v != "false" && v != "null" {
				return false
			}
		}
		switch e.TurnOrigin {
		case "", "human", "sdk", "unknown":
		default:
			return false
		}
		content, origin = e.Message.Content, notNull(e.Origin)
	case *AttachmentEntry:
		q := queuedOf(e)
		if q == nil || q.IsMeta || e.IsSidechain || q.CommandMode != "" && q.CommandMode != "prompt" && q.CommandMode != "bash" {
			return false
		}
		_ = jsonwire.Unmarshal(string(q.Prompt), &content) // the line was valid
		origin = notNull(q.Origin)
	default:
		return false
	}
	if origin != "" && lastString(string(origin), "kind") != "human" {
		return false
	}
	return hasQuestion(content, origin != "")
}

// hasQuestion reports whether a content is a prompt: a text that a person can have typed, an image,
// a document.
func hasQuestion(content message.Content, byHuman bool) bool {
	for _, b := range content.Blocks() {
		switch b.(type) {
		case *message.Image, *message.Document:
			return true
		}
	}
	text := strings.TrimLeft(content.String(), " \t\r\n")
	if byHuman {
		return text != "" && !strings.HasPrefix(text, "<command-name>")
	}
	var command string
	_, ok := promptOfContent(content, &command)
	return ok || strings.HasPrefix(text, "<command-message>")
}

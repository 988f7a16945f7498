package transcript

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Role is the kind of text that contains a match: its author, or a title.
type Role string

// The roles that the texts of a session have. A [Query] can be limited to some of them.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant" // text and thinking of the model
	RoleTool      Role = "tool"      // input and output of tools
	RoleSystem    Role = "system"    // the CLI's notes
	RoleTitle     Role = "title"     // titles and summaries of the session
)

// piece is a text of an entry that can be searched.
type piece struct {
	role Role
	text string
	tool string // name of a tool use
	use  string // tool use id of a tool result
}

// pieces returns the decoded texts of an entry. Internal data of the CLI, such as copies of
// requests, is not searched.
func pieces(e Entry) []piece {
	switch e := e.(type) {
	case *UserEntry:
		return contentPieces(e.Message.Content, RoleUser)
	case *AssistantEntry:
		return contentPieces(e.Message.Content, RoleAssistant)
	case *SystemEntry:
		return contentPieces(e.Content, RoleSystem)
	case *CustomTitleEntry:
		return []piece{{role: RoleTitle, text: e.CustomTitle}}
	case *AITitleEntry:
		return []piece{{role: RoleTitle, text: e.AITitle}}
	case *SummaryEntry:
		return []piece{{role: RoleTitle, text: e.Summary}}
	case *AttachmentEntry:
		switch e.AttachmentType() {
		case "queued_command":
			var content message.Content
			_ = jsonwire.Unmarshal(string(queuedOf(e).Prompt), &content) // the line was valid
			return contentPieces(content, RoleUser)
		case "file":
			return []piece{{role: RoleUser, text: stringsIn(string(e.Attachment))}}
		}
	}
	return nil
}

func contentPieces(content message.Content, role Role) (list []piece) {
	if content.IsText() {
		return []piece{{role: role, text: content.String()}}
	}
	for _, b := range content.Blocks() {
		switch b := b.(type) {
		case *message.Text:
			list = append(list, piece{role: role, text: b.Text})
		case *message.Thinking:
			list = append(list, piece{role: role, text: b.Thinking})
		case *message.ToolUse:
			list = append(list, piece{role: RoleTool, text: stringsIn(string(b.Input)), tool: b.Name})
		case *message.ToolResult:
			list = append(list, piece{role: RoleTool, text: b.Content.String(), use: b.ToolUseID})
		case *message.Image, *message.Document:
			// Pictures and files are not searched.
		default:
			if b != nil {
				list = append(list, piece{role: role, text: stringsIn(string(b.Raw()))})
			}
		}
	}
	return list
}

// stringsIn returns all strings of a JSON text, one per line, without member names.
func stringsIn(text string) string {
	var b strings.Builder
	d := jsonwire.NewDecoder(text)
	collectStrings(d, &b)
	return b.String()
}

func collectStrings(d *jsonwire.Decoder, b *strings.Builder) {
	switch d.Kind() {
	case '"':
		s, _ := d.String()
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	case '{':
		for m := d.Members(); m.Next(); {
			collectStrings(d, b)
		}
	case '[':
		for e := d.Elements(); e.Next(); {
			collectStrings(d, b)
		}
	default:
		d.Skip()
	}
}

package editor_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

type toolMembers struct {
	ToolCallID string  `json:"toolCallId"`
	Title      *string `json:"title"`
	Name       *string `json:"name"`
	Kind       *string `json:"kind"`
	Status     *string `json:"status"`
	Content    []struct {
		Type    string          `json:"type"`
		Content json.RawMessage `json:"content"`
		Path    string          `json:"path"`
		OldText *string         `json:"oldText"`
		NewText string          `json:"newText"`
		Patch   struct {
			Text string `json:"text"`
		} `json:"patch"`
	} `json:"content"`
	Locations []struct {
		Path string `json:"path"`
		Line int    `json:"line"`
	} `json:"locations"`
	RawOutput json.RawMessage `json:"rawOutput"`
	Meta      struct {
		ClaudeCode struct {
			Parent string `json:"parentToolUseId"`
		} `json:"claudeCode"`
	} `json:"_meta"`
}

var speakers = map[string]string{"user_message_chunk": "user", "agent_message_chunk": "say", "agent_thought_chunk": "think"}

// update folds a session update, of either version.
func (f *folder) update(s *Session, raw json.RawMessage) {
	var u struct {
		Kind      string            `json:"sessionUpdate"`
		MessageID string            `json:"messageId"`
		Content   json.RawMessage   `json:"content"`
		Entries   []json.RawMessage `json:"entries"`
		Mode      string            `json:"currentModeId"`
		Options   []struct {
			ID           string `json:"id"`
			ConfigID     string `json:"configId"`
			CurrentValue any    `json:"currentValue"`
		} `json:"configOptions"`
		Severity   string          `json:"severity"`
		Title      string          `json:"title"`
		Status     string          `json:"status"`
		State      string          `json:"state"`
		StopReason string          `json:"stopReason"`
		Meta       json.RawMessage `json:"_meta"`
		Plan       struct {
			Entries []json.RawMessage `json:"entries"`
		} `json:"plan"`
	}
	// Some kinds have members of other types; members that do not fit stay empty.
	_ = json.Unmarshal(raw, &u)
	switch u.Kind {
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk":
		s.chunk(speakers[u.Kind], u.MessageID, f.clean(contentText(u.Content)), u.Meta != nil, strings.Contains(string(u.Meta), "parentToolUseId"))
	case "user_message", "agent_message", "agent_thought":
		var blocks []json.RawMessage
		_ = json.Unmarshal(u.Content, &blocks) // null has no blocks
		for _, b := range blocks {
			s.chunk(speakers[u.Kind+"_chunk"], u.MessageID, f.clean(contentText(b)), false, false)
		}
	case "tool_call", "tool_call_update":
		f.tool(s, raw)
	case "plan", "plan_update":
		s.Plan = []string{}
		for _, e := range append(u.Entries, u.Plan.Entries...) {
			var p struct{ Content, Status, Priority string }
			_ = json.Unmarshal(e, &p)
			s.Plan = append(s.Plan, p.Content+" "+p.Status+" "+p.Priority)
		}
	case "current_mode_update":
		s.mode(u.Mode)
	case "config_option_update":
		for _, o := range u.Options {
			if o.ID == "mode" || o.ConfigID == "mode" {
				s.mode(fmt.Sprint(o.CurrentValue))
			}
		}
	case "notice":
		s.Items = append(s.Items, &Item{Type: "notice", Kind: u.Severity, Text: f.clean(u.Title)})
	case "compaction_update":
		s.Items = append(s.Items, &Item{Type: "compaction", Status: u.Status})
	case "state_update":
		if u.State == "idle" && u.StopReason != "" {
			s.Items = append(s.Items, &Item{Type: "answer", Status: u.StopReason, Outcome: -1})
		}
	}
}

func (s *Session) mode(m string) {
	if n := len(s.Modes); n == 0 || s.Modes[n-1] != m {
		s.Modes = append(s.Modes, m)
	}
}

func contentText(raw json.RawMessage) string {
	var c struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		MimeType string `json:"mimeType"`
	}
	if json.Unmarshal(raw, &c) != nil {
		return ""
	}
	if c.Type == "text" {
		return c.Text
	}
	return "[" + c.Type + " " + c.MimeType + "]"
}

// chunk adds a piece to a message.
func (s *Session) chunk(kind, id, text string, meta, parent bool) {
	if n := len(s.Items); n > 0 {
		if last := s.Items[n-1]; last.Type == kind && last.ID == id {
			last.Text += text
			return
		}
	}
	if text != "" {
		s.Items = append(s.Items, &Item{Type: kind, ID: id, Text: text, Meta: meta && id == "", Parent: parent})
	}
}

func (f *folder) tool(s *Session, raw json.RawMessage) {
	var t toolMembers
	_ = json.Unmarshal(raw, &t)
	item := s.tools[t.ToolCallID]
	if item == nil {
		item = &Item{Type: "tool", ID: t.ToolCallID, Parent: t.Meta.ClaudeCode.Parent != ""}
		s.tools[t.ToolCallID] = item
		s.Items = append(s.Items, item)
	}
	for to, from := range map[*string]*string{&item.Tool: t.Name, &item.Title: t.Title, &item.Kind: t.Kind, &item.Status: t.Status} {
		if from != nil {
			*to = f.clean(*from)
		}
	}
	if t.Status != nil {
		item.Statuses = append(item.Statuses, *t.Status)
	}
	if t.Content != nil {
		item.Content = nil
		for _, c := range t.Content {
			text := f.clean(contentText(c.Content))
			switch {
			case c.Type == "diff" && c.Patch.Text != "":
				text = "patch " + f.clean(c.Patch.Text)
			case c.Type == "diff" && c.OldText == nil:
				text = "new " + f.clean(c.Path) + ":\n" + c.NewText
			case c.Type == "diff":
				text = "diff " + f.clean(c.Path) + ":\n" + *c.OldText + "\n=>\n" + c.NewText
			case c.Type == "terminal":
				text = "terminal"
			}
			item.Content = append(item.Content, text)
		}
	}
	if t.Locations != nil {
		item.Locations = nil
		for _, l := range t.Locations {
			item.Locations = append(item.Locations, fmt.Sprintf("%s:%d", f.clean(l.Path), l.Line))
		}
	}
	if t.RawOutput != nil && string(t.RawOutput) != "null" {
		item.Raw = f.clean(string(t.RawOutput))
	}
}

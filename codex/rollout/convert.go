package rollout

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/seed7221b0f9/parley/codex/item"
)

// stored is an item in a file, with the members of all item types. The names differ from those of
// the wire.
type stored struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Status string `json:"status"`
	Text   string `json:"text"`
	Phase  string `json:"phase"`
	Review string `json:"review"`

	ClientID         string    `json:"client_id"`
	Command          []string  `json:"command"`
	CWD              string    `json:"cwd"`
	ProcessID        string    `json:"process_id"`
	Source           string    `json:"source"`
	AggregatedOutput *string   `json:"aggregated_output"`
	ExitCode         *int64    `json:"exit_code"`
	Duration         *duration `json:"duration"`

	Changes map[string]item.JSON `json:"changes"`

	Server            string             `json:"server"`
	Tool              string             `json:"tool"`
	Namespace         string             `json:"namespace"`
	Arguments         item.JSON          `json:"arguments"`
	Result            *item.MCPResult    `json:"result"`
	Error             *item.MCPError     `json:"error"`
	ReadOnlyHint      *bool              `json:"readOnlyHint"`
	ContentItems      []item.ToolContent `json:"content_items"`
	Success           *bool              `json:"success"`
	SenderThreadID    string             `json:"sender_thread_id"`
	ReceiverThreadIDs []string           `json:"receiver_thread_ids"`
	Prompt            string             `json:"prompt"`
	Model             string             `json:"model"`
	ReasoningEffort   string             `json:"reasoning_effort"`
	Kind              string             `json:"kind"`
	AgentThreadID     string             `json:"agent_thread_id"`
	AgentPath         string             `json:"agent_path"`

	SummaryText []string           `json:"summary_text"`
	RawContent  []string           `json:"raw_content"`
	Query       string             `json:"query"`
	Action      *item.SearchAction `json:"action"`
	Path        string             `json:"path"`
}

// convertItem converts an item of a file to one of the wire. An unknown type becomes an
// *[item.UnknownItem] with its bytes.
func convertItem(e *event) item.Item {
	var s stored
	if item.DecodeValue(e.Item, &s) != nil {
		return nil
	}
	head := item.ItemHead{ID: s.ID, StartedAtMs: e.StartedAtMs, CompletedAtMs: e.CompletedAtMs}
	if i := convertMessage(&s, head, e.Item); i != nil {
		return i
	}
	if i := convertTool(&s, head); i != nil {
		return i
	}
	i, err := item.Decode([]byte(e.Item))
	if err != nil {
		return nil
	}
	return i
}

func convertMessage(s *stored, head item.ItemHead, raw item.JSON) item.Item {
	switch s.Type {
	case "UserMessage":
		u := &struct {
			ClientID string       `json:"client_id"`
			Content  []item.Input `json:"content"`
		}{}
		_ = item.DecodeValue(raw, u)
		return &item.UserMessage{ItemHead: head, ClientID: u.ClientID, Content: u.Content}
	case "AgentMessage":
		var m struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		}
		_ = item.DecodeValue(raw, &m)
		var text strings.Builder
		for _, part := range m.Content {
			text.WriteString(part.Text)
		}
		return &item.AgentMessage{ItemHead: head, Text: text.String(), Phase: s.Phase}
	case "Plan":
		return &item.Plan{ItemHead: head, Text: s.Text}
	case "Reasoning":
		return &item.Reasoning{ItemHead: head, Summary: s.SummaryText, Content: s.RawContent}
	case "ContextCompaction":
		return &item.ContextCompaction{ItemHead: head}
	case "EnteredReviewMode":
		return &item.EnteredReviewMode{ItemHead: head, Review: s.Review}
	case "ExitedReviewMode":
		return &item.ExitedReviewMode{ItemHead: head, Review: s.Review}
	}
	return nil
}

func convertTool(s *stored, head item.ItemHead) item.Item {
	switch s.Type {
	case "CommandExecution":
		return &item.CommandExecution{
			ItemHead: head, Command: shellJoin(s.Command), CWD: filePath(s.CWD), ProcessID: s.ProcessID, Source: camel(s.Source),
			Status: camel(s.Status), AggregatedOutput: s.AggregatedOutput, ExitCode: s.ExitCode, DurationMs: s.Duration.ms(),
		}
	case "FileChange":
		return &item.FileChange{ItemHead: head, Changes: convertChanges(s.Changes), Status: camel(s.Status)}
	case "McpToolCall":
		return &item.MCPToolCall{
			ItemHead: head, Server: s.Server, Tool: s.Tool, Status: camel(s.Status), Arguments: s.Arguments, Result: s.Result,
			Error: s.Error, DurationMs: s.Duration.ms(), ReadOnlyHint: s.ReadOnlyHint,
		}
	case "DynamicToolCall":
		return &item.DynamicToolCall{
			ItemHead: head, Namespace: s.Namespace, Tool: s.Tool, Arguments: s.Arguments, Status: camel(s.Status),
			ContentItems: s.ContentItems, Success: s.Success, DurationMs: s.Duration.ms(),
		}
	case "CollabAgentToolCall":
		return &item.CollabAgentToolCall{
			ItemHead: head, Tool: camel(s.Tool), Status: camel(s.Status), SenderThreadID: s.SenderThreadID,
			ReceiverThreadIDs: s.ReceiverThreadIDs, Prompt: s.Prompt, Model: s.Model, ReasoningEffort: s.ReasoningEffort,
		}
	case "SubAgentActivity":
		return &item.SubAgentActivity{ItemHead: head, Kind: camel(s.Kind), AgentThreadID: s.AgentThreadID, AgentPath: s.AgentPath}
	case "WebSearch":
		return &item.WebSearch{ItemHead: head, Query: s.Query, Action: s.Action}
	case "ImageView":
		return &item.ImageView{ItemHead: head, Path: filePath(s.Path)}
	}
	return nil
}

// convertChanges converts the changes of a patch from a map by path, as in the file, to a list, as
// on the wire.
func convertChanges(changes map[string]item.JSON) (list []item.Change) {
	for _, path := range slices.Sorted(maps.Keys(changes)) {
		var c struct {
			Type        string `json:"type"`
			UnifiedDiff string `json:"unified_diff"`
			Content     string `json:"content"`
			MovePath    string `json:"move_path"`
		}
		_ = item.DecodeValue(changes[path], &c)
		diff := cmp.Or(c.UnifiedDiff, c.Content)
		if c.MovePath != "" {
			diff += "\n\nMoved to: " + c.MovePath // as the server writes it
		}
		list = append(list, item.Change{Path: path, Kind: item.ChangeKind{Type: c.Type, MovePath: c.MovePath}, Diff: diff})
	}
	return list
}

// convertError converts an error of a file to one of the wire.
func convertError(raw item.JSON) *item.TurnError {
	var e struct {
		Message string    `json:"message"`
		Info    item.JSON `json:"codex_error_info"`
	}
	_ = item.DecodeValue(raw, &e)
	out := &item.TurnError{Message: e.Message}
	_ = item.DecodeValue(camelKeys(e.Info), &out.CodexErrorInfo)
	return out
}

// camelKeys converts the names of a class of errors: {"a_b":{"c_d":1}} and "a_b".
func camelKeys(j item.JSON) item.JSON {
	var v any
	if j.IsNull() || json.Unmarshal([]byte(j), &v) != nil {
		return "null"
	}
	switch v := v.(type) {
	case string:
		return item.ValueOf(camel(v))
	case map[string]any:
		return item.ValueOf(camelMap(v))
	}
	return j
}

func camelMap(m map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		if inner, ok := v.(map[string]any); ok {
			v = camelMap(inner)
		}
		out[camel(k)] = v
	}
	return out
}

// camel converts in_progress to inProgress.
func camel(s string) string {
	if !strings.Contains(s, "_") {
		return s
	}
	var b strings.Builder
	upper := false
	for _, r := range s {
		switch {
		case r == '_':
			upper = true
		case upper:
			b.WriteRune(unicode.ToUpper(r))
			upper = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// filePath removes the scheme from a file: URL.
func filePath(s string) string {
	if !strings.HasPrefix(s, "file://") {
		return s
	}
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	return u.Path
}

// shellJoin joins a command as the server does.
func shellJoin(argv []string) string {
	parts := make([]string, len(argv))
	for i, a := range argv {
		parts[i] = a
		if a == "" || strings.ContainsFunc(a, func(r rune) bool { return !isPlain(r) }) {
			parts[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(parts, " ")
}

func isPlain(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("@%_-+=:,./", r)
}

package rollout

import (
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/ndjson"
)

// lines yields the lines of a file up to its end. A read error is the last element.
func lines(r io.Reader) iter.Seq2[ndjson.Line, error] {
	return func(yield func(ndjson.Line, error) bool) {
		for reader := ndjson.NewReader(r, 0); ; {
			line, err := reader.Next()
			if errors.Is(err, io.EOF) || !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// record is a line of a rollout.
type record struct {
	Timestamp string    `json:"timestamp"`
	Ordinal   *int64    `json:"ordinal"`
	Type      string    `json:"type"`
	Payload   item.JSON `json:"payload"`
}

func (r *record) time() time.Time {
	t, _ := time.Parse(time.RFC3339Nano, r.Timestamp)
	return t
}

// meta is the payload of session_meta.
type meta struct {
	ID             string `json:"id"`
	SessionID      string `json:"session_id"`
	Timestamp      string `json:"timestamp"`
	CWD            string `json:"cwd"`
	Originator     string `json:"originator"`
	CLIVersion     string `json:"cli_version"`
	ModelProvider  string `json:"model_provider"`
	HistoryMode    string `json:"history_mode"`
	ForkedFromID   string `json:"forked_from_id"`
	ParentThreadID string `json:"parent_thread_id"`
	AgentNickname  string `json:"agent_nickname"`
	HistoryBase    *base  `json:"history_base"`
	Git            struct {
		Branch string `json:"branch"`
	} `json:"git"`
}

// keep copies the fields, which otherwise keep the long line in memory.
func (m *meta) keep() {
	m.CWD, m.ParentThreadID, m.Git.Branch = strings.Clone(m.CWD), strings.Clone(m.ParentThreadID), strings.Clone(m.Git.Branch)
}

// base is the location of the lines before the first line of a file.
type base struct {
	ThreadID            string `json:"thread_id"`
	EndOrdinalExclusive int64  `json:"end_ordinal_exclusive"`
}

// tokens is a count of tokens.
type tokens struct {
	Input      int64 `json:"input_tokens"`
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Reasoning  int64 `json:"reasoning_output_tokens"`
	Total      int64 `json:"total_tokens"`
}

func (t tokens) count() item.TokenCount {
	return item.TokenCount{
		TotalTokens: t.Total, InputTokens: t.Input, CachedInputTokens: t.Cached, CacheWriteInputTokens: t.CacheWrite,
		OutputTokens: t.Output, ReasoningOutputTokens: t.Reasoning,
	}
}

// tokenInfo is the token usage in an event: of the thread, and of its last request.
type tokenInfo struct {
	Total  tokens `json:"total_token_usage"`
	Last   tokens `json:"last_token_usage"`
	Window *int64 `json:"model_context_window"`
}

// event is the payload of event_msg, with the members of all its types.
type event struct {
	Type    string `json:"type"`
	TurnID  string `json:"turn_id"`
	ItemID  string `json:"item_id"`
	CallID  string `json:"call_id"`
	Message string `json:"message"`
	Text    string `json:"text"`
	Phase   string `json:"phase"`

	Item          item.JSON `json:"item"`
	StartedAtMs   *int64    `json:"started_at_ms"`
	CompletedAtMs *int64    `json:"completed_at_ms"`
	StartedAt     *int64    `json:"started_at"`
	CompletedAt   *int64    `json:"completed_at"`
	DurationMs    *int64    `json:"duration_ms"`
	Error         item.JSON `json:"error"`

	Info *tokenInfo `json:"info"`

	Images         []string             `json:"images"`
	LocalImages    []string             `json:"local_images"`
	Changes        map[string]item.JSON `json:"changes"`
	Status         string               `json:"status"`
	Invocation     item.JSON            `json:"invocation"`
	Result         item.JSON            `json:"result"`
	Duration       *duration            `json:"duration"`
	UserFacingHint string               `json:"user_facing_hint"`
	ReviewOutput   item.JSON            `json:"review_output"`
}

func (e *event) usage() *item.TokenUsage {
	if e.Info == nil {
		return nil
	}
	return &item.TokenUsage{Total: e.Info.Total.count(), Last: e.Info.Last.count(), ModelContextWindow: e.Info.Window}
}

// duration is a time span in two parts.
type duration struct {
	Secs  int64 `json:"secs"`
	Nanos int64 `json:"nanos"`
}

func (d *duration) ms() *int64 {
	if d == nil {
		return nil
	}
	ms := d.Secs*1000 + d.Nanos/1_000_000
	return &ms
}

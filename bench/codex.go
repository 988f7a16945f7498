package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// codexBench holds the data for the rows about Codex's files.
type codexBench struct {
	home     string // CODEX_HOME
	bytes    int64
	sessions int
	tokens   int64
	claude   struct {
		dir   string
		bytes int64
	}
}

// codexRows are the rows about Codex's files: megabytes read per second of CPU time, compared with
// Claude's files. Wall-clock time would depend more on the load of the machine.
var codexRows = []string{"codex_usage_mb_per_cpu_s", "codex_list_mb_per_cpu_s"}

// codexBytes and codexSessions are the size and number of Codex's files.
const (
	codexBytes    = 1 << 30
	codexSessions = 2000
)

// prepareCodex writes the sessions of both agents unless they exist.
func (b *bench) prepareCodex(ctx context.Context) error {
	dir, manifest, err := ensureCorpus(ctx, b.cache, b.scale)
	if err != nil {
		return err
	}
	c := &b.codex
	c.claude.dir, c.claude.bytes = dir, manifest.Bytes
	if err := c.ensure(ctx, filepath.Dir(dir), max(1, int(codexSessions*b.scale)), int64(codexBytes*b.scale)); err != nil {
		return err
	}
	b.notef("rollouts: %d files, %.2f GB", c.sessions, float64(c.bytes)/1e9)
	for _, tree := range []string{c.home, dir} {
		if err := readTree(ctx, tree); err != nil {
			return err
		}
	}
	return nil
}

// ensure writes rollouts below a directory unless they exist.
func (c *codexBench) ensure(ctx context.Context, cache string, sessions int, size int64) error {
	c.home, c.sessions = filepath.Join(cache, fmt.Sprintf("rollouts-v1-%d-%d", sessions, size)), sessions
	manifest := filepath.Join(c.home, "manifest.json")
	var m struct{ Bytes, Tokens int64 }
	if text, err := os.ReadFile(manifest); err == nil && json.Unmarshal(text, &m) == nil {
		c.bytes, c.tokens = m.Bytes, m.Tokens
		return nil
	}
	c.bytes, c.tokens = 0, 0
	for i := range sessions {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r := &rolloutWriter{thread: fmt.Sprintf("01a1de9a-3164-7f42-a449-%012x", i), at: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * 8 * time.Hour)}
		if err := r.write(c.home, size/int64(sessions)); err != nil {
			return err
		}
		c.bytes, c.tokens = c.bytes+r.written, c.tokens+r.tokens
	}
	m.Bytes, m.Tokens = c.bytes, c.tokens
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(manifest, text, 0o600)
}

// rolloutWriter writes one rollout in the shape of version 0.166: long instructions, and turns of
// commands with their output twice, as an item and as the model sees it.
type rolloutWriter struct {
	w       *bufio.Writer
	thread  string
	at      time.Time
	ordinal int
	written int64
	tokens  int64
}

func (r *rolloutWriter) write(home string, size int64) error {
	dir := filepath.Join(home, "sessions", r.at.Format("2006/01/02"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "rollout-"+r.at.Format("2006-01-02T15-04-05")+"-"+r.thread+".jsonl"))
	if err != nil {
		return err
	}
	r.w = bufio.NewWriterSize(f, 1<<20)
	r.line("session_meta", `{"session_id":%[4]q,"id":%[4]q,"timestamp":%[5]q,"cwd":"/home/dev/project","originator":"codex_cli_rs","cli_version":"0.166.0","source":"cli",`+
		`"model_provider":"openai","history_mode":"paginated","git":{"branch":"main"},"base_instructions":{"text":%[6]q}}`, r.thread, r.at.Format(time.RFC3339), words(20_000))
	for turn := 0; r.written < size; turn++ {
		r.turn(turn)
	}
	if err := r.w.Flush(); err != nil { // reports the first error of all writes
		return err
	}
	return f.Close()
}

// words returns a text of about n bytes.
func words(n int) string {
	return strings.Repeat("All work and no play makes it a dull text. ", n/43+1)[:n]
}

// line writes a line; the arguments of its payload are numbered from 4 on.
func (r *rolloutWriter) line(typ, payload string, args ...any) {
	r.at = r.at.Add(time.Second)
	n, _ := fmt.Fprintf(r.w, `{"timestamp":%q,"ordinal":%d,"type":%q,"payload":`+payload+"}\n",
		append([]any{r.at.Format("2006-01-02T15:04:05.000Z"), r.ordinal, typ}, args...)...)
	r.ordinal, r.written = r.ordinal+1, r.written+int64(n)
}

func (r *rolloutWriter) turn(n int) {
	id := fmt.Sprintf("01a1de9a-3186-75e1-8659-%012x", n)
	r.line("event_msg", `{"type":"task_started","turn_attribution":{"turn_id":%[4]q,"root_turn_id":%[4]q},"turn_id":%[4]q,"model_context_window":258400}`, id)
	if n == 0 {
		r.line("response_item", `{"type":"message","role":"developer","content":[{"type":"input_text","text":%q}]}`, words(9_000))
	}
	r.line("turn_context", `{"turn_id":%q,"cwd":"/home/dev/project","approval_policy":"on-request","model":"gpt-5.5","user_instructions":%q}`, id, words(1_200))
	r.line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"Prompt %d, please."}]}`, n)
	r.line("event_msg", `{"type":"item_completed","thread_id":%q,"turn_id":%q,"item":{"type":"UserMessage","id":"u%d","content":[{"type":"text","text":"Prompt %d, please."}]}}`, r.thread, id, n, n)
	for call := range 4 {
		output := words(1_500 + 1_500*((n+call)%4))
		r.line("response_item", `{"type":"reasoning","summary":[{"type":"summary_text","text":%q}],"encrypted_content":%q}`, words(200), words(1_400))
		r.line("response_item", `{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"go test ./...\"}","call_id":"call_%d_%d"}`, n, call)
		r.used(id)
		r.line("event_msg", `{"type":"item_completed","thread_id":%q,"turn_id":%q,"item":{"type":"CommandExecution","id":"call_%d_%d","command":["/bin/bash","-lc","go test ./..."],`+
			`"cwd":"/home/dev/project","status":"completed","aggregated_output":%q,"exit_code":0}}`, r.thread, id, n, call, output)
		r.line("response_item", `{"type":"function_call_output","call_id":"call_%d_%d","output":%q}`, n, call, output)
		r.line("event_msg", `{"type":"token_count","info":{"total_token_usage":{"total_tokens":%d},"last_token_usage":{"input_tokens":1000,"cached_input_tokens":400,"output_tokens":20,"total_tokens":1020}}}`, r.tokens)
	}
	r.line("event_msg", `{"type":"item_completed","thread_id":%q,"turn_id":%q,"item":{"type":"AgentMessage","id":"m%d","content":[{"type":"Text","text":%q}]}}`, r.thread, id, n, words(900))
	r.line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, words(900))
	r.line("event_msg", `{"type":"task_complete","turn_id":%q}`, id)
}

// used writes the usage of a request.
func (r *rolloutWriter) used(turn string) {
	r.line("token_usage_record", `{"thread_id":%q,"turn_id":%q,"response_id":"resp","usage":{"input_tokens":1000,"cached_input_tokens":400,"output_tokens":20,"total_tokens":1020}}`, r.thread, turn)
	r.tokens += 1020
}

// codexRound reads the files of both agents once each, with the same command.
func (b *bench) codexRound(ctx context.Context) error {
	c := &b.codex
	for _, s := range []struct {
		side, agent string
		bytes       int64
	}{{"parley", "codex", c.bytes}, {"claude", "claude", c.claude.bytes}} {
		fresh, err := os.MkdirTemp(b.tmp, "cache-") // so that no list uses an earlier index
		if err != nil {
			return err
		}
		env := b.env("CLAUDE_CONFIG_DIR="+c.claude.dir, "CODEX_HOME="+c.home, "XDG_CACHE_HOME="+fresh)
		var used struct {
			Totals struct {
				Total int64 `json:"totalTokens"`
			} `json:"totals"`
		}
		took, err := b.timeIn(ctx, []string{b.path("parley"), "usage", "daily", "--json", "--agent", s.agent}, env, &used)
		if err != nil {
			return err
		}
		var list []struct {
			Provider string `json:"provider"`
		}
		listed, err := b.timeIn(ctx, []string{b.path("parley"), "sessions", "list", "--json", "--agent", s.agent}, env, &list)
		if err != nil {
			return err
		}
		if s.agent == "codex" && (used.Totals.Total != c.tokens || len(list) != c.sessions) {
			return fmt.Errorf("%d tokens and %d sessions of codex, not %d and %d", used.Totals.Total, len(list), c.tokens, c.sessions)
		}
		mb := float64(s.bytes) / 1e6
		b.logf("  %-8s %.0f MB: usage %.2f s, %.2f s CPU, %.1f MiB; list %.2f s, %.2f s CPU", s.agent, mb, took.Seconds, took.CPU, float64(took.Peak)/(1<<20), listed.Seconds, listed.CPU)
		b.add("codex_usage_mb_per_cpu_s", s.side, mb/took.CPU)
		b.add("codex_list_mb_per_cpu_s", s.side, mb/listed.CPU)
	}
	return nil
}

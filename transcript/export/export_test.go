package export_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/faultinject"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/transcript"
	"github.com/seed7221b0f9/parley/transcript/export"
)

const sessionID = "00000000-0000-4000-8000-000000000001"

// writeSession writes a session from pairs of a kind and a message.
func writeSession(t *testing.T, messages ...any) *transcript.Session {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "projects", "-home-dev-project")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	var parent any
	for i, m := range messages {
		role := m.(map[string]any)["role"]
		uuid := sessionID[:len(sessionID)-3] + string([]byte{'a' + byte(i/26), 'a' + byte(i%26), 'z'})
		line, err := json.Marshal(map[string]any{
			"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": sessionID, "message": m,
			"timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/srv/project", "gitBranch": "main",
		})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
		parent = uuid
	}
	path := filepath.Join(dir, sessionID+".jsonl")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return transcript.File(path)
}

func user(content any) map[string]any { return map[string]any{"role": "user", "content": content} }

func assistant(id string, blocks ...any) map[string]any {
	return map[string]any{"role": "assistant", "id": id, "content": blocks}
}

func block(kind string, members ...any) map[string]any {
	b := map[string]any{"type": kind}
	for i := 0; i+1 < len(members); i += 2 {
		b[members[i].(string)] = members[i+1]
	}
	return b
}

func exported(t *testing.T, s *transcript.Session, format export.Format, opts *export.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := export.Write(t.Context(), &b, s, format, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// everywhere returns a session that has the text in every place that can hold one.
func everywhere(t *testing.T, text string) *transcript.Session {
	t.Helper()
	return writeSession(t,
		user(text),
		assistant("msg_1", block("thinking", "thinking", text, "signature", "s")),
		assistant("msg_1", block("text", "text", text)),
		assistant("msg_1", block("tool_use", "id", "toolu_1", "name", text, "input", map[string]any{"description": text, text: text})),
		user([]any{block("tool_result", "tool_use_id", "toolu_1", "content", text, "is_error", true)}),
		assistant("msg_2", block("tool_use", "id", "toolu_2", "name", "Bash", "input", map[string]any{"command": text})),
		user([]any{block("tool_result", "tool_use_id", "toolu_2", "content", []any{
			block("text", "text", text), block("image", "source", map[string]any{"type": "base64", "media_type": text, "data": text}),
		})}),
		assistant("msg_3", block("tool_use", "id", "toolu_3", "name", "Write", "input", map[string]any{"file_path": "x.go", "content": text})),
		assistant("msg_3", block("tool_use", "id", "toolu_4", "name", "Edit", "input", map[string]any{"file_path": text, "old_string": text, "new_string": text})),
		assistant("msg_4", block("newer_block", "data", text)),
		assistant("msg_4", block("text", "text", "```html\n"+text+"\n```\n\n    "+text+"\n\n["+text+"]("+text+")\n\n|a|b|\n|:-|-|\n|"+text+"|x|\n")),
	)
}

var (
	tag       = regexp.MustCompile(`<(/?)([A-Za-z!][A-Za-z0-9]*)((?:[^>"']|"[^"]*"|'[^']*')*)>`)
	attribute = regexp.MustCompile(`([A-Za-z-]+)(?:="([^"]*)")?`)
	elements  = strings.Fields("!doctype html head meta title style body header h1 h2 h3 h4 h5 h6 dl dt dd main section time details summary div " +
		"pre code span p a b em strong del ul ol li blockquote hr br table thead tbody tr th td img input")
	attributes = strings.Fields("html lang charset http-equiv content name class datetime rel href src alt align disabled type checked start tabindex")
)

// attacks are texts that a careless page would execute or load.
var attacks = []string{
	`<script>alert(1)</script>`, `</title></style></pre><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`,
	`"><svg onload=alert(1)>`, `' onmouseover='alert(1)`, `[x](javascript:alert(1))`, `![x](https://evil.example/x.png)`,
	`<https://evil.example/"onclick=alert(1)>`, `[x](data:text/html;base64,PHNjcmlwdD4=)`, `<iframe src="https://evil.example">`,
	"<!-- --><style>@import 'https://evil.example'</style>", `[x](vbscript:x "onload=1")`, `<a href="java&#x09;script:alert(1)">x</a>`,
	"{{.Title}} {{template \"page\"}}", "javascript:alert(1)", "image/svg+xml", "[a]: javascript:alert(1)\n\n[a]",
}

// TestHTMLSafe puts attacks in every place that can hold a text: the page has only its own
// elements, attributes and addresses, and shows the text.
func TestHTMLSafe(t *testing.T) {
	for _, attack := range attacks {
		got := exported(t, everywhere(t, attack), export.HTML, nil)
		if !strings.Contains(got, `content="default-src &#39;none&#39;; style-src`) && !strings.Contains(got, `content="default-src 'none'; style-src`) {
			t.Fatalf("no policy in %.600s", got)
		}
		_, body, _ := strings.Cut(got, "</style>")
		for _, m := range tag.FindAllStringSubmatch(body, -1) {
			if !slices.Contains(elements, strings.ToLower(m[2])) {
				t.Errorf("%s: element %s", attack, m[0])
			}
			for _, a := range attribute.FindAllStringSubmatch(m[3], -1) {
				checkAttribute(t, attack, m[0], a[1], a[2])
			}
		}
		if strings.Count(got, "<") != len(tag.FindAllString(got, -1)) {
			t.Errorf("%s: a < that begins no element", attack)
		}
	}
}

func checkAttribute(t *testing.T, attack, element, name, value string) {
	t.Helper()
	if !slices.Contains(attributes, name) {
		t.Errorf("%s: attribute %s in %s", attack, name, element)
	}
	if name == "src" && !strings.HasPrefix(value, "data:image/") {
		t.Errorf("%s: %s loads something", attack, element)
	}
	if name == "href" && strings.Contains(strings.ToLower(value), "script:") || strings.HasPrefix(value, "data:text") {
		t.Errorf("%s: %s runs something", attack, element)
	}
}

// TestHTMLPolicy checks that the policy allows the style in the page: a browser hashes the bytes
// between the tags.
func TestHTMLPolicy(t *testing.T) {
	page := exported(t, everywhere(t, "text"), export.HTML, nil)
	_, rest, _ := strings.Cut(page, "<style>")
	style, _, ok := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	want := "style-src &#39;sha256-" + strings.NewReplacer("+", "&#43;").Replace(base64.StdEncoding.EncodeToString(sum[:])) + "&#39;"
	if !ok || !strings.Contains(page, want) {
		t.Errorf("%s is not in %.400s", want, page)
	}
	if strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style loads something")
	}
}

// TestRedacted exports the corpus of secrets in every format.
func TestRedacted(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "claude", "claudetest", "testdata", "redact", "secrets.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	lines := bufio.NewScanner(f)
	for ; lines.Scan(); rows++ {
		if rows%short.Every(3) != 0 {
			continue
		}
		var row struct {
			Name, Text string
			Secrets    []string
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		s := writeSession(t,
			user(row.Text),
			assistant("msg_1", block("thinking", "thinking", row.Text, "signature", "s"), block("text", "text", row.Text)),
			assistant("msg_1", block("tool_use", "id", "toolu_1", "name", "Bash", "input", map[string]any{"command": row.Text})),
			user([]any{block("tool_result", "tool_use_id", "toolu_1", "content", row.Text)}),
		)
		for _, format := range export.Formats {
			got := exported(t, s, format, &export.Options{Redact: true})
			for _, secret := range row.Secrets {
				if strings.Contains(got, secret) {
					t.Errorf("%s: %q is left in %s", row.Name, secret, format)
				}
			}
		}
	}
	if err := lines.Err(); err != nil || rows == 0 {
		t.Fatalf("%d rows of secrets were read, want some: %v", rows, err)
	}
}

// TestCorpus exports every session of the corpus in every format: all messages are in the output.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "transcripts", "*", "projects", "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no sessions", err)
	}
	for _, file := range files {
		s := transcript.File(file)
		messages, err := s.Conversation(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		markdown := exported(t, s, export.Markdown, nil)
		for _, m := range messages {
			if text := strings.TrimSpace(m.Text()); text != "" && !strings.Contains(markdown, text) {
				t.Errorf("%s: %.60q is not in the Markdown", file, text)
			}
		}
		if page := exported(t, s, export.HTML, nil); !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
			t.Errorf("%s: the page has no end", file)
		}
		var doc struct {
			SessionID string
			Messages  []json.RawMessage
		}
		if err := json.Unmarshal([]byte(exported(t, s, export.JSON, nil)), &doc); err != nil || len(doc.Messages) != len(messages) || doc.SessionID != s.ID {
			t.Errorf("%s: %d messages in the JSON, not %d: %v", file, len(doc.Messages), len(messages), err)
		}
	}
}

// TestSubagent finds the conversation of a subagent inside the call that started it.
func TestSubagent(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "transcripts", "nested", "projects", "*", "*.jsonl"))
	if len(files) != 1 {
		t.Skip("the corpus has no nested subagents")
	}
	s := transcript.File(files[0])
	page := exported(t, s, export.HTML, nil)
	if n := strings.Count(page, `<div class="agent">`); n < 2 {
		t.Errorf("%d subagents are shown", n)
	}
	if page := exported(t, s, export.HTML, &export.Options{NoSubagents: true}); strings.Contains(page, `<div class="agent">`) {
		t.Error("subagents are shown")
	}
}

func TestOptions(t *testing.T) {
	s := everywhere(t, "needle")
	whole := exported(t, s, export.Markdown, nil)
	for _, opts := range []*export.Options{{NoThinking: true}, {NoTools: true}} {
		less := exported(t, s, export.Markdown, opts)
		if strings.Count(less, "needle") >= strings.Count(whole, "needle") {
			t.Errorf("%+v leaves nothing out", opts)
		}
	}
	if err := export.Write(t.Context(), &bytes.Buffer{}, s, "docx", nil); err == nil {
		t.Error("there is no such format")
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	s := faultinject.New(1, "/home/dev/p")
	source := filepath.Join(dir, s.ID+".jsonl")
	if err := os.WriteFile(source, s.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "out.md")
	if err := export.File(t.Context(), path, transcript.File(source), export.Markdown, nil, false); err != nil {
		t.Fatal(err)
	}
	if err := export.File(t.Context(), path, transcript.File(source), export.HTML, nil, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if err := export.File(t.Context(), path, transcript.File(source), export.HTML, nil, true); err != nil {
		t.Fatal(err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("there are %v", list)
	}
}

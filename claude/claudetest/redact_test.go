package claudetest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// secret is one row of the corpus: a text, the parts that must be redacted, and the parts
// that must remain. All values are made up.
type secret struct {
	Name    string
	Text    string
	Secrets []string
	Keep    []string
}

func readCorpus(tb testing.TB, name string) (rows []secret) {
	tb.Helper()
	f, err := os.Open(filepath.Join("testdata", "redact", name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var row secret
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			tb.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		tb.Fatalf("reading %s: %v", name, err)
	}
	return rows
}

// check checks the redacted text of a row.
func (s *secret) check(t *testing.T, how, got string) {
	t.Helper()
	for _, part := range s.Secrets {
		if strings.Contains(got, part) {
			t.Errorf("%s, %s: %q is left in %q", s.Name, how, part, got)
		}
	}
	for _, part := range s.Keep {
		if !strings.Contains(got, part) {
			t.Errorf("%s, %s: %q is gone from %q", s.Name, how, part, got)
		}
	}
}

func TestRedactCorpus(t *testing.T) {
	r := claudetest.NewRedactor()
	for _, row := range readCorpus(t, "secrets.jsonl") {
		once := r.Text(row.Text)
		row.check(t, "text", once)
		if again := r.Text(once); again != once {
			t.Errorf("%s: a second time gives %q, not %q", row.Name, again, once)
		}
		for how, line := range map[string]string{
			"in JSON":              string(mustJSON(t, map[string]any{"content": row.Text, "n": 1})),
			"in JSON with escapes": `{"a":["` + escapeAll(row.Text) + `"]}`,
			"in a line":            string(mustJSON(t, map[string]any{"type": "user", "message": map[string]any{"content": []any{map[string]any{"text": row.Text}}}})),
		} {
			got := r.JSON([]byte(line))
			var v any
			if err := json.Unmarshal(got, &v); err != nil {
				t.Errorf("%s, %s: %v: %s", row.Name, how, err, got)
			}
			row.check(t, how, stringsOf(v))
		}
		// Tools nest JSON in JSON strings.
		inner := string(mustJSON(t, map[string]any{"stdout": row.Text}))
		var outer struct{ Content string }
		if err := json.Unmarshal(r.JSON(mustJSON(t, map[string]any{"content": inner})), &outer); err != nil {
			t.Fatal(err)
		}
		for _, part := range row.Secrets {
			if strings.Contains(outer.Content, strings.Trim(string(mustJSON(t, part)), `"`)) {
				t.Errorf("%s, JSON in JSON: %q is left in %s", row.Name, part, outer.Content)
			}
		}
	}
}

// stringsOf returns every string of a decoded value.
func stringsOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		all := ""
		for _, e := range v {
			all += stringsOf(e) + "\n"
		}
		return all
	case map[string]any:
		all := ""
		for _, e := range v {
			all += stringsOf(e) + "\n"
		}
		return all
	}
	return ""
}

func mustJSON(tb testing.TB, v any) []byte {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// escapeAll writes every character of the basic plane as an escape.
func escapeAll(s string) string {
	var b strings.Builder
	for _, c := range s {
		fmt.Fprintf(&b, `\u%04X`, c)
	}
	return b.String()
}

func TestRedactHarmless(t *testing.T) {
	r := claudetest.NewRedactor()
	for _, row := range readCorpus(t, "harmless.jsonl") {
		if got := r.Text(row.Text); got != row.Text {
			t.Errorf("%q became %q", row.Text, got)
		}
	}
}

func TestRedactMembers(t *testing.T) {
	r := claudetest.NewRedactor()
	tests := []struct{ in, want string }{
		{`{"api_key":"abc"}`, `{"api_key":"[redacted]"}`},
		{`{"apiKey" : "abc","apiKeySource":"env"}`, `{"apiKey" : "[redacted]","apiKeySource":"env"}`},
		{`{"X-Api-Key":"abc","n":1.50}`, `{"X-Api-Key":"[redacted]","n":1.50}`},
		{`{"env":{"GITHUB_TOKEN":"abc","LANG":"C"}}`, `{"env":{"GITHUB_TOKEN":"[redacted]","LANG":"C"}}`},
		{`{"password":null,"secret":"","token":"$T"}`, `{"password":null,"secret":"","token":"$T"}`},
		{`{"tokens":["a"],"secret":["a","b"]}`, `{"tokens":["a"],"secret":["[redacted]","[redacted]"]}`},
		{`[{"name":"DB_PASSWORD","value":"abc"},{"name":"DB_HOST","value":"h"}]`, `[{"name":"DB_PASSWORD","value":"[redacted]"},{"name":"DB_HOST","value":"h"}]`},
		{`{"account":{"email":"ada@corp.example.org","organization":"Ada"}}`, `{"account":{"email":"user@example.com","organization":"Ada"}}`},
		{`{"_meta":{"progressToken":"p1"},"usage":{"output_tokens":5}}`, `{"_meta":{"progressToken":"p1"},"usage":{"output_tokens":5}}`},
		{`{"memory_paths":{"/home/user/x":"\u002fhome\u002fada"}}`, `{"memory_paths":{"/home/dev/x":"/home/dev"}}`},
		{`  {"a" : "<b> \u2028 \ud83c\udf89", "é":[ ]}  `, `  {"a" : "<b> \u2028 \ud83c\udf89", "é":[ ]}  `},
		{`["--password","abc","plain words"]`, `["--password","[redacted]","plain words"]`},
		{`no JSON: api_key=abcdef`, `no JSON: api_key=[redacted]`},
	}
	for _, tt := range tests {
		if got := string(r.JSON([]byte(tt.in))); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

func TestRedactOwnSecrets(t *testing.T) {
	t.Setenv("SOME_SERVICE_KEY", "plain words here")
	t.Setenv("HOME", "/srv/people/ada")
	t.Setenv("USERPROFILE", "/srv/people/ada")
	r := claudetest.NewRedactor("zebra", "zebra crossing")
	got := r.Text("at a zebra crossing a zebra said: plain words here, in /srv/people/ada/x:/srv/people/ada, not /srv/people/adam; ~/.claude/projects/-srv-people-ada-x/m")
	want := "at a [redacted] a [redacted] said: [redacted], in /home/dev/x:/home/dev, not /srv/people/adam; ~/.claude/projects/-home-dev-x/m"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// JSON keeps valid JSON valid and in the same shape for any input, and is idempotent.
func FuzzRedactJSON(f *testing.F) {
	for _, row := range readCorpus(f, "secrets.jsonl") {
		f.Add(mustJSON(f, row))
		f.Add([]byte(row.Text))
	}
	r := claudetest.NewRedactor()
	f.Fuzz(func(t *testing.T, in []byte) {
		out := r.JSON(in)
		if !json.Valid(in) {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%q became %q", in, out)
		}
		if a, b := shape(in), shape(out); a != b {
			t.Fatalf("the shape of %q is %s, that of %q is %s", in, a, out, b)
		}
	})
}

// shape returns the punctuation of a JSON value.
func shape(data []byte) string {
	var b strings.Builder
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return b.String()
		}
		if _, ok := tok.(string); ok {
			tok = "s"
		}
		fmt.Fprint(&b, tok, " ")
	}
}

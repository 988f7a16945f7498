package joined

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLine checks arbitrary lines of a server. Each accepted line is one line of JSON, and is accepted again unchanged.
func FuzzLine(f *testing.F) {
	for kind, r := range requests {
		f.Add([]byte(`{"type":"control_request","request_id":"1","request":{"subtype":"` + kind + `"` + r.rest + `}}`))
	}
	f.Add([]byte(`{"type":"user","message":{"role":"user","content":"x"}}`))
	f.Add([]byte(`{"type":"user","type":"control_request"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		p := limits(t, "default")
		out, err := p.Line("claude", line)
		if err != nil {
			return
		}
		if !json.Valid(out) || strings.ContainsAny(string(out), "\r\n") {
			t.Fatalf("of %q passes %q, want one line of JSON", line, out)
		}
		again, err := p.Line("claude", out)
		if err != nil || string(again) != string(out) {
			t.Errorf("%q passes, and then is %q, %v", out, again, err)
		}
	})
}

// FuzzOptions checks arbitrary options of a start. A mode above the ceiling is never accepted.
func FuzzOptions(f *testing.F) {
	for _, text := range []string{`{}`, `{"mode":"plan"}`, `{"mode":"bypassPermissions"}`, `{"allow_bypass":true}`, `null`, `{"env":["A=1"]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p := limits(t, "acceptEdits")
		o, err := p.options(text)
		if err == nil && o.Mode != "" && !p.ceiling.allows(o.Mode) {
			t.Errorf("of %q the mode %q passes, want at most acceptEdits", text, o.Mode)
		}
	})
}

// FuzzToken reads arbitrary token files. A join uses the token, or fails before it calls the server.
func FuzzToken(f *testing.F) {
	for _, text := range []string{"token\n", "", "a b", "a\r\nb", "\x00", strings.Repeat("x", 2*maxToken)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		name := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		token, err := readToken(name)
		if err != nil || len(token) > maxToken || !strings.HasPrefix(string(text), token) || len(text) <= maxToken && len(token) != len(text) {
			t.Errorf("of a file with %q the token is %q, %v, want its first %d bytes", text, token, err, maxToken)
		}
	})
}

package join

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPair checks the request for a code, and which answers are accepted as a token: only those of the server, and only up to the
// maximum length of a token.
func TestPair(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		answer string
		token  string
		err    string
	}{
		{"a token", http.StatusOK, `{"token":"pt_1"}`, "pt_1", ""},
		{"a code for a browser", http.StatusOK, `{}`, "", "not one for a machine"},
		{"an empty token", http.StatusOK, `{"token":""}`, "", "not one for a machine"},
		{"no JSON", http.StatusOK, `pt_1`, "", "invalid character"},
		{"an empty answer", http.StatusOK, ``, "", "EOF"},
		{"an endless answer", http.StatusOK, `{"token":"` + strings.Repeat("x", maxProblem) + `"}`, "", "EOF"},
		{"a refusal", http.StatusUnauthorized, `{"token":"pt_1"}`, "", "401"},
		{"created", http.StatusCreated, `{"token":"pt_1"}`, "", "201"},
		{"another server", http.StatusTemporaryRedirect, ``, "", "307"},
	} {
		var got []string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+string(body))
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.answer)
		}))
		token, err := Pair(t.Context(), srv.URL+"/", "a-code")
		srv.Close()
		if token != tt.token || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %q, %v, want %q, %q", tt.name, token, err, tt.token, tt.err)
		}
		if status, ok := errors.AsType[*StatusError](err); ok != (tt.status != http.StatusOK) || ok && status.Status != tt.status {
			t.Errorf("%s: the error is %#v", tt.name, err)
		}
		if want := `POST /v1/pair application/json {"code":"a-code"}`; len(got) != 1 || got[0] != want {
			t.Errorf("%s: the server got %q, want %q once", tt.name, got, want)
		}
	}
	for _, server := range []string{"", "ftp://x", "http://", "http://[::1"} {
		if token, err := Pair(t.Context(), server, "c"); err == nil {
			t.Errorf("server %q gave %q", server, token)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Pair(ctx, "http://127.0.0.1:1", "c"); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that has ended: %v", err)
	}
}

// TestIsCode checks that only a text with the form of a code is accepted.
func TestIsCode(t *testing.T) {
	code := strings.Repeat("aZ9-_", 4) + "xy"
	for text, want := range map[string]bool{code: true, code[1:]: false, code + "a": false, "pt_" + code: false, code[:21] + " ": false, code[:21] + "é": false, " " + code[1:]: false, code[:21] + "\n": false, "": false} {
		if got := IsCode(text); got != want {
			t.Errorf("IsCode(%q) = %t, want %t", text, got, want)
		}
	}
}

// TestStatusError checks the message of each form of an answer, and which statuses are final.
func TestStatusError(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"m"},"detail":"d","title":"t"}`: "m", `{"detail":"d","title":"t"}`: "d", `{"title":"t"}`: "t", `{}`: "", `x`: "", ``: "",
	} {
		err := statusError(&http.Response{StatusCode: http.StatusForbidden, Body: io.NopCloser(strings.NewReader(body))})
		if err.Message != want || err.Status != http.StatusForbidden {
			t.Errorf("%s: %+v, want the message %q", body, err, want)
		}
		if text := err.Error(); want == "" && text != "the server answers 403: forbidden" || want != "" && text != "the server answers 403: "+want {
			t.Errorf("%s: the text is %q", body, text)
		}
	}
	for status, want := range map[int]bool{http.StatusUnauthorized: true, http.StatusForbidden: true, http.StatusNotFound: false, http.StatusServiceUnavailable: false, http.StatusTooManyRequests: false} {
		if got := (&StatusError{Status: status}).Permanent(); got != want {
			t.Errorf("%d is final: %t, want %t", status, got, want)
		}
	}
}

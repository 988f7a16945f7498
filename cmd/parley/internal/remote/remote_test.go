package remote

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An address without a server returns an error within seconds, which contains the address once. Any
// response counts as a server; the next call shows whether it is one.
func TestReach(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	_ = l.Close()
	err = reach(t.Context(), address, 0)
	if err == nil || !strings.HasPrefix(err.Error(), "no server answers at "+address+": dial tcp ") || strings.Contains(err.Error(), "livez") {
		t.Errorf("reach without a server: %v", err)
	}

	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if err := reach(t.Context(), s.URL, 0); err != nil {
		t.Errorf("reach with a server: %v", err)
	}
}

// Reach waits for a server that is starting.
func TestReach_starting(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	done := make(chan error, 1)
	go func() { done <- reach(t.Context(), "http://"+address, time.Minute) }()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	_ = s.Listener.Close()
	if s.Listener, err = net.Listen("tcp", address); err != nil {
		t.Skipf("another program has taken the port: %v", err)
	}
	s.Start()
	defer s.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestByteOrderMark sends the token of a file with a byte order mark at its start.
func TestByteOrderMark(t *testing.T) {
	var sent string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent = r.Header.Get("Authorization") }))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("\ufeffpt_1_x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := (&Flags{Server: s.URL}).ConnectWith(file)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Call(t.Context(), "health", nil, nil) // the server returns an empty response
	if sent != "Bearer pt_1_x" {
		t.Errorf("the call was sent with %q, want the token", sent)
	}
}

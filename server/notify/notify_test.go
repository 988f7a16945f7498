package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/server/notify"
	"github.com/seed7221b0f9/parley/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// TestClient_addresses checks the forbidden addresses.
func TestClient_addresses(t *testing.T) {
	c := notify.New(nil, nil)
	for _, host := range []string{"127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
		"255.255.255.255", "[::1]", "[::]", "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[2002:7f00:1::]", "[fd00:ec2::254]", "localhost"} {
		if err := c.CheckURL("http://" + host + "/x"); err == nil {
			t.Errorf("%s is taken", host)
		}
		_, err := c.Post(t.Context(), "http://"+host+":9/x", "s", webhook.Event{}, time.Unix(0, 0))
		if !errors.Is(err, notify.ErrAddress) {
			t.Errorf("a call to %s: %v", host, err)
		}
	}
	for _, address := range []string{"https://example.com/x", "http://93.184.216.34/", "https://[2606:2800:220:1::1]/"} {
		if err := c.CheckURL(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"", "ftp://example.com", "https://u:p@example.com", "https://", "/x", "https://example.com/#x"} {
		if err := c.CheckURL(address); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
}

// TestClient_redirect checks that a receiver cannot redirect a call to this machine.
func TestClient_redirect(t *testing.T) {
	reached := false
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer inner.Close()
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inner.URL, http.StatusPermanentRedirect)
	}))
	defer outer.Close()
	status, err := notify.New(loopback, nil).Post(t.Context(), outer.URL, "s", webhook.Event{}, time.Unix(0, 0))
	if status != http.StatusPermanentRedirect || err == nil || reached {
		t.Errorf("a redirect: %d, %v, followed %t", status, err, reached)
	}
}

func TestCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is a shell script")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "hook")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ncat > "+dir+"/in\nenv > "+dir+"/env\n[ \"$PARLEY_EVENT\" = turn_done ] || { echo why; exit 3; }\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("A_SECRET", "1")
	if err := notify.Command(t.Context(), program, nil, []string{"PATH=/usr/bin:/bin"}, webhook.Event{ID: "1", Type: webhook.TurnDone, SessionID: "s-1"}); err != nil {
		t.Fatal(err)
	}
	in, _ := os.ReadFile(filepath.Join(dir, "in"))
	env, _ := os.ReadFile(filepath.Join(dir, "env"))
	var ev webhook.Event
	if json.Unmarshal(in, &ev) != nil || ev.ID != "1" || strings.Contains(string(env), "A_SECRET") || !strings.Contains(string(env), "PARLEY_SESSION=s-1") {
		t.Errorf("the command got %s and %s", in, env)
	}
	if err := notify.Command(t.Context(), program, nil, nil, webhook.Event{Type: webhook.Failed}); err == nil || !strings.Contains(err.Error(), "why") {
		t.Errorf("a command that fails: %v", err)
	}
}

func ExampleClient_Post() {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(webhook.Verify("secret", r.Header.Get(webhook.SignatureHeader), body, time.Now(), 0))
	}))
	defer receiver.Close()
	client := notify.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, nil)
	fmt.Println(client.Post(context.Background(), receiver.URL, "secret", webhook.Event{ID: "s-1-7", Type: webhook.TurnDone}, time.Now()))
	// Output:
	// <nil>
	// 200 <nil>
}

package webpush_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/webpush"
	"github.com/seed7221b0f9/parley/server/webpush/webpushtest"
)

var now = time.Unix(1_900_000_000, 0)

// pair returns a browser and the key of a server.
func pair(t *testing.T) (*webpushtest.Browser, *webpush.Key) {
	t.Helper()
	browser, err := webpushtest.NewBrowser("https://push.example.net/send/abc?d=1")
	if err != nil {
		t.Fatal(err)
	}
	key, err := webpush.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return browser, key
}

// TestNewRequest checks that another implementation accepts and decrypts the requests, for payloads
// of all sizes.
func TestNewRequest(t *testing.T) {
	browser, key := pair(t)
	for _, size := range []int{0, 1, 126, 127, 128, 129, 1000, webpush.MaxPayload} {
		payload := bytes.Repeat([]byte("x"), size)
		m := webpush.Message{Payload: payload, TTL: time.Hour, Urgency: webpush.High, Topic: "s-1_needs"}
		req, err := webpush.NewRequest(t.Context(), browser.Subscription(), m, key, now)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := browser.Open(req, body, key.Public(), "https://push.example.net", now)
		if err != nil || !bytes.Equal(got, payload) {
			t.Errorf("%d bytes: %v, and %d came", size, err, len(got))
		}
		if (len(body)-102)%128 != 0 {
			t.Errorf("the length of the body, %d, shows that of the payload", len(body))
		}
		if h := req.Header; h.Get("TTL") != "3600" || h.Get("Urgency") != "high" || h.Get("Topic") != "s-1_needs" {
			t.Errorf("the header is %v", h)
		}
	}
}

// TestNewRequest_refused checks rejected messages, and that a browser detects another key, another
// service, another time and a changed body.
func TestNewRequest_refused(t *testing.T) {
	browser, key := pair(t)
	good := browser.Subscription()
	for name, want := range map[string]struct {
		change func(s *webpush.Subscription, m *webpush.Message)
		err    error
	}{
		"http":        {func(s *webpush.Subscription, _ *webpush.Message) { s.Endpoint = "http://push.example.net/" }, webpush.ErrSubscription},
		"no host":     {func(s *webpush.Subscription, _ *webpush.Message) { s.Endpoint = "https:///x" }, webpush.ErrSubscription},
		"a user":      {func(s *webpush.Subscription, _ *webpush.Message) { s.Endpoint = "https://u:p@push.example.net/" }, webpush.ErrSubscription},
		"a short key": {func(s *webpush.Subscription, _ *webpush.Message) { s.P256DH = s.P256DH[:40] }, webpush.ErrSubscription},
		"no point":    {func(s *webpush.Subscription, _ *webpush.Message) { s.P256DH = "BA" + strings.Repeat("A", 85) }, webpush.ErrSubscription},
		"no secret":   {func(s *webpush.Subscription, _ *webpush.Message) { s.Auth = "" }, webpush.ErrSubscription},
		"too long":    {func(_ *webpush.Subscription, m *webpush.Message) { m.Payload = make([]byte, webpush.MaxPayload+1) }, webpush.ErrPayload},
		"a topic":     {func(_ *webpush.Subscription, m *webpush.Message) { m.Topic = "a b" }, webpush.ErrTopic},
		"a long one":  {func(_ *webpush.Subscription, m *webpush.Message) { m.Topic = strings.Repeat("a", 33) }, webpush.ErrTopic},
	} {
		s, m := good, webpush.Message{}
		want.change(&s, &m)
		if _, err := webpush.NewRequest(t.Context(), s, m, key, now); !errors.Is(err, want.err) {
			t.Errorf("%s: %v, want %v", name, err, want.err)
		}
	}
	other, otherKey := pair(t)
	req, err := webpush.NewRequest(t.Context(), good, webpush.Message{Payload: []byte("x")}, key, now)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(req.Body)
	changed := bytes.Clone(body)
	changed[len(changed)-1] ^= 1
	const service = "https://push.example.net"
	for name, open := range map[string]func() ([]byte, error){
		"another key":     func() ([]byte, error) { return browser.Open(req, body, otherKey.Public(), service, now) },
		"another service": func() ([]byte, error) { return browser.Open(req, body, key.Public(), "https://evil.example", now) },
		"another time":    func() ([]byte, error) { return browser.Open(req, body, key.Public(), service, now.Add(25*time.Hour)) },
		"another browser": func() ([]byte, error) { return other.Open(req, body, key.Public(), service, now) },
		"another body":    func() ([]byte, error) { return browser.Open(req, changed, key.Public(), service, now) },
	} {
		if _, err := open(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := browser.Open(req, body, key.Public(), service, now); err != nil {
		t.Errorf("the message itself: %v", err)
	}
}

// TestKey checks that a stored key is the same when it is read.
func TestKey(t *testing.T) {
	_, key := pair(t)
	text, err := key.Private()
	if err != nil {
		t.Fatal(err)
	}
	again, err := webpush.ParseKey(text)
	if err != nil || again.Public() != key.Public() {
		t.Errorf("read again the key is another one: %v", err)
	}
	for _, bad := range []string{"", "x", "!!", strings.Repeat("A", 43)} {
		if _, err := webpush.ParseKey(bad); !errors.Is(err, webpush.ErrKey) {
			t.Errorf("%q: %v; want errors.Is(err, webpush.ErrKey)", bad, err)
		}
	}
}

func TestGone(t *testing.T) {
	for status, want := range map[int][2]bool{0: {false, true}, 201: {false, false}, 400: {false, false}, 404: {true, false}, 410: {true, false}, 429: {false, true}, 503: {false, true}} {
		if got := [2]bool{webpush.Gone(status), webpush.Temporary(status)}; got != want {
			t.Errorf("%d: %v, want %v", status, got, want)
		}
	}
}

func FuzzSubscription(f *testing.F) {
	f.Add("https://push.example.net/", "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "BTBZMqHH6r4Tts7J_aSIgg")
	f.Add("http://x", "", "")
	key, err := webpush.NewKey()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, endpoint, p256dh, auth string) {
		s := webpush.Subscription{Endpoint: endpoint, P256DH: p256dh, Auth: auth}
		_, err := webpush.NewRequest(t.Context(), s, webpush.Message{Payload: []byte("x")}, key, now)
		if (err == nil) != (s.Check() == nil) {
			t.Errorf("checked: %v, sent: %v", s.Check(), err)
		}
	})
}

func Example() {
	key, _ := webpush.NewKey() // once, and stored
	browser, _ := webpushtest.NewBrowser("https://push.example.net/send/abc")
	// The page sends its subscription, made with key.Public(), to the server.
	subscription := browser.Subscription()
	fmt.Println(subscription.Check())
	req, err := webpush.NewRequest(context.Background(), subscription, webpush.Message{
		Payload: []byte(`{"kind":"turn_done"}`), TTL: time.Hour, Urgency: webpush.Normal, Topic: "session-1",
	}, key, time.Now())
	fmt.Println(err, req.Method, req.URL.Host, req.Header.Get("Content-Encoding"))
	// The browser decrypts the request.
	body, _ := io.ReadAll(req.Body)
	payload, err := browser.Open(req, body, key.Public(), "https://push.example.net", time.Now())
	fmt.Println(string(payload), err, webpush.Gone(http.StatusGone))
	// Output:
	// <nil>
	// <nil> POST push.example.net aes128gcm
	// {"kind":"turn_done"} <nil> true
}

package webhook_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/webhook"
)

// TestVerify checks that forged, modified and replayed calls are rejected.
func TestVerify(t *testing.T) {
	at := time.Unix(1_900_000_000, 0)
	body := []byte(`{"id":"s-1-7"}`)
	good := webhook.Sign("secret", at, body)
	if err := webhook.Verify("secret", good, body, at.Add(4*time.Minute), 0); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"another secret": webhook.Verify("other", good, body, at, 0),
		"no secret":      webhook.Verify("", webhook.Sign("", at, body), body, at, 0),
		"another body":   webhook.Verify("secret", good, []byte(`{"id":"s-1-8"}`), at, 0),
		"replayed":       webhook.Verify("secret", good, body, at.Add(6*time.Minute), 0),
		"from later":     webhook.Verify("secret", good, body, at.Add(-6*time.Minute), 0),
		"another time":   webhook.Verify("secret", strings.Replace(good, "t=19", "t=20", 1), body, time.Unix(2_000_000_000, 0), 0),
		"nothing":        webhook.Verify("secret", "", body, at, 0),
		"no sum":         webhook.Verify("secret", "t=1900000000", body, at, 0),
		"no hex":         webhook.Verify("secret", "t=1900000000,v1=zz", body, at, 0),
		"too long":       webhook.Verify("secret", good+strings.Repeat(",v1=00", 1000), body, at, 0),
	} {
		if !errors.Is(err, webhook.ErrSignature) {
			t.Errorf("%s: %v; want errors.Is(err, webhook.ErrSignature)", name, err)
		}
	}
	stamp, sum, _ := strings.Cut(good, ",")
	for name, header := range map[string]string{
		"with others after it": good + ",v1=00,v2=x", "after one of another secret": stamp + ",v1=00," + sum, "after one that is no hex": stamp + ",v1=zz," + sum,
		"before the time": sum + "," + stamp, "twice": good + "," + sum, "in capitals": stamp + ",v1=" + strings.ToUpper(sum[len("v1="):]),
	} {
		if err := webhook.Verify("secret", header, body, at, time.Second); err != nil {
			t.Errorf("the signature %s: %v", name, err)
		}
	}
}

func ExampleVerify() {
	body := []byte(`{"id":"s-1-7","type":"turn_done"}`)
	now := time.Unix(1_900_000_000, 0)
	header := webhook.Sign("the secret of the webhook", now, body)
	fmt.Println(webhook.Verify("the secret of the webhook", header, body, now, webhook.DefaultWindow))
	fmt.Println(webhook.Verify("another secret", header, body, now, webhook.DefaultWindow))
	// Output:
	// <nil>
	// webhook: the signature is not valid: the body was not signed with the secret
}

// TestVerify_window checks that a signature is valid from one window before its time to one window after it, both ends included.
func TestVerify_window(t *testing.T) {
	at := time.Unix(1_900_000_000, 0)
	body := []byte("{}")
	header := webhook.Sign("secret", at, body)
	for _, window := range []time.Duration{-time.Second, 0, time.Second, time.Hour} {
		end := window
		if window <= 0 {
			end = webhook.DefaultWindow
		}
		for age, good := range map[time.Duration]bool{-end - 1: false, -end: true, 0: true, end: true, end + 1: false} {
			if err := webhook.Verify("secret", header, body, at.Add(age), window); (err == nil) != good {
				t.Errorf("window %v, age %v: %v, want it to be good: %t", window, age, err, good)
			}
		}
	}
}

// TestVerify_reason checks that the error text names the reason.
func TestVerify_reason(t *testing.T) {
	at := time.Unix(10, 0)
	good := webhook.Sign("secret", at, nil)
	for _, tt := range []struct {
		header, secret, reason string
	}{
		{good, "", "no secret"},
		{strings.Repeat("x", 1025), "secret", "the header is too long"},
		{strings.Repeat("x", 1024), "secret", "it has no time"},
		{"v1=00", "secret", "it has no time"},
		{"t=soon,v1=00", "secret", "it has no time"},
		{"t=-1000", "secret", "it is of another time"},
		{"t=10", "secret", "was not signed with the secret"},
		{good, "other", "was not signed with the secret"},
	} {
		if err := webhook.Verify(tt.secret, tt.header, nil, at, time.Minute); !errors.Is(err, webhook.ErrSignature) || !strings.Contains(err.Error(), tt.reason) {
			t.Errorf("Verify of %.20q = %v, want %q", tt.header, err, tt.reason)
		}
	}
}

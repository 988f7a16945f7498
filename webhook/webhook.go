// Package webhook signs and verifies the calls with which a Parley server reports events.
//
// A call is a POST with an [Event] as JSON. Its header [SignatureHeader] is
//
//	t=1767225600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd
//
// where t is the time of the call in seconds since 1970 and v1 the HMAC-SHA256, in hexadecimal, of
// t, a full stop and the body, with the webhook's secret as the key. A receiver must check it with
// [Verify] before it uses the body; that also rejects calls if their time differs from the
// receiver's by more than [DefaultWindow]. Calls are made in the order of the events. A call
// without a response of status 2xx is repeated, so the same event can arrive twice; both calls have
// the same ID.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SignatureHeader is the name of the HTTP header that carries the signature of a call; see
// [Sign] and [Verify].
const SignatureHeader = "Parley-Signature"

// DefaultWindow is the default maximum difference between the time of a call and the receiver's
// clock, in either direction; see [Verify].
const DefaultWindow = 5 * time.Minute

// The types of events. The set is open: a newer server may send others, which receivers should
// ignore.
const (
	NeedsAnswer   = "needs_answer"   // an agent waits for a person
	TurnDone      = "turn_done"      // a turn has ended
	Failed        = "failed"         // a turn, or an agent, has failed
	BudgetReached = "budget_reached" // a budget is used up
	Test          = "test"           // a test of the webhook
)

// Event is the body of a call: the kind of event, the session and the time. It holds no text of the
// conversation; a receiver that needs it asks the server.
type Event struct {
	ID        string          `json:"id"` // the same for repeated calls
	Type      string          `json:"type"`
	Time      string          `json:"time"` // RFC 3339
	SessionID string          `json:"session_id,omitempty"`
	Seq       uint64          `json:"seq,omitempty"` // number of the related message of the session
	Title     string          `json:"title,omitempty"`
	Text      string          `json:"text,omitempty"` // description for people
	Tenant    string          `json:"tenant,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
}

// ErrSignature is returned by [Verify] when a call is not signed with the secret, or when its time
// is outside of the window. The error text names the reason.
var ErrSignature = errors.New("webhook: the signature is not valid")

// Sign returns the value of [SignatureHeader] for a body that is sent at the given time. The time
// is rounded down to seconds.
func Sign(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(sum(secret, t, body))
}

func sum(secret, t string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	return mac.Sum(nil)
}

// Verify checks the signature of a body, in constant time, and returns an error that matches
// [ErrSignature] if it is invalid. A window of 0 means [DefaultWindow]. To detect a call that was
// recorded and sent again, store the ids of the events of the last window; see [Replays].
func Verify(secret, signature string, body []byte, now time.Time, window time.Duration) error {
	if window <= 0 {
		window = DefaultWindow
	}
	if secret == "" || len(signature) > 1024 {
		return fmt.Errorf("%w: no secret, or the header is too long", ErrSignature)
	}
	var t string
	var sums [][]byte
	for part := range strings.SplitSeq(signature, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			t = value
		case "v1":
			if b, err := hex.DecodeString(value); err == nil {
				sums = append(sums, b)
			}
		}
	}
	sent, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: it has no time", ErrSignature)
	}
	if age := now.Sub(time.Unix(sent, 0)); age > window || age < -window {
		return fmt.Errorf("%w: it is of another time", ErrSignature)
	}
	want := sum(secret, t, body)
	for _, s := range sums {
		if hmac.Equal(s, want) {
			return nil
		}
	}
	return fmt.Errorf("%w: the body was not signed with the secret", ErrSignature)
}

package webpush

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Urgency is how much a message matters to a device that saves its battery. The zero value
// leaves it to the push service, which takes it as normal.
type Urgency string

// The urgencies of RFC 8030, from the one that can wait longest.
const (
	VeryLow Urgency = "very-low"
	Low     Urgency = "low"
	Normal  Urgency = "normal"
	High    Urgency = "high"
)

// ErrTopic is returned when a topic is not 1 to 32 characters of the base64url alphabet, which
// is all that push services take.
var ErrTopic = errors.New("webpush: the topic is not valid")

// Message is one message to a browser. A newer one with the same topic replaces it while the
// push service still holds it.
type Message struct {
	Payload []byte        // what the service worker of the page gets
	TTL     time.Duration // how long the push service keeps it; 0 is only if the browser is there
	Urgency Urgency
	Topic   string // empty is none
	Subject string // where the push service can reach the sender, mailto: or https:; may be empty
}

// NewRequest returns the request that gives a message to the push service of a subscription,
// encrypted and signed. The caller sends it, to addresses that it has checked.
func NewRequest(ctx context.Context, s Subscription, m Message, key *Key, now time.Time) (*http.Request, error) {
	audience, err := s.audience()
	if err != nil {
		return nil, err
	}
	if m.Topic != "" && !validTopic(m.Topic) {
		return nil, fmt.Errorf("%w: %.40q", ErrTopic, m.Topic)
	}
	body, err := Encrypt(s, m.Payload)
	if err != nil {
		return nil, err
	}
	authorization, err := key.authorization(audience, m.Subject, now)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: its address is not https", ErrSubscription)
	}
	req.Header.Set("Authorization", authorization)
	req.Header.Set("Content-Encoding", "aes128gcm")
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("TTL", strconv.FormatInt(int64(max(m.TTL, 0)/time.Second), 10))
	if m.Urgency != "" {
		req.Header.Set("Urgency", string(m.Urgency))
	}
	if m.Topic != "" {
		req.Header.Set("Topic", m.Topic)
	}
	return req, nil
}

func validTopic(topic string) bool {
	return len(topic) <= 32 && !strings.ContainsFunc(topic, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// Gone reports whether the status of an answer means that the subscription has ended and must
// not be sent to again.
func Gone(status int) bool { return status == http.StatusNotFound || status == http.StatusGone }

// Temporary reports whether the status of an answer, 0 for none, allows another try. Every
// other one would be given again for the same message.
func Temporary(status int) bool {
	return status == 0 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500
}

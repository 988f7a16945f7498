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

// Urgency is the importance of a message for a device that saves its battery. The zero value is the
// push service's default, normal.
type Urgency string

// The urgencies of RFC 8030, lowest first.
const (
	VeryLow Urgency = "very-low"
	Low     Urgency = "low"
	Normal  Urgency = "normal"
	High    Urgency = "high"
)

// ErrTopic is returned when a topic is not 1 to 32 characters of the base64url alphabet, which push
// services require.
var ErrTopic = errors.New("webpush: the topic is not valid")

// Message is one message to a browser. A newer one with the same topic replaces it while the push
// service still stores it.
type Message struct {
	Payload []byte        // data for the service worker of the page
	TTL     time.Duration // time that the push service stores it; 0 delivers it only to a connected browser
	Urgency Urgency
	Topic   string // empty is none
	Subject string // contact address of the sender, mailto: or https:; may be empty
}

// NewRequest returns the request that sends a message to the push service of a subscription,
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

// Gone reports whether the status of a response means that the subscription has ended and must not
// be used again.
func Gone(status int) bool { return status == http.StatusNotFound || status == http.StatusGone }

// Temporary reports whether the status of a response, 0 without a response, allows a retry. Every
// other status would be repeated for the same message.
func Temporary(status int) bool {
	return status == 0 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500
}

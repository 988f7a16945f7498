package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/server/webpush"
	"github.com/seed7221b0f9/parley/webhook"
)

// pushKeyName is the file with the key that signs messages to browsers.
const pushKeyName = "push-key"

// The limits of push messages: their lifetime, and the number of subscriptions, in total and per
// account.
const (
	pushTTL        = 24 * time.Hour
	maxPush        = 500
	maxPushAccount = 20
)

// pushed is the subscription of a browser, with its owner.
type pushed struct {
	webpush.Subscription
	Account string `json:"account"`
	Tenant  string `json:"tenant,omitempty"`
	Allow   bool   `json:"allow,omitempty"` // a notice may offer to allow
}

var (
	// errGone is the error of a call to an ended subscription.
	errGone = errors.New("the subscription has ended")
	// errFinal is the error of a call that would fail again.
	errFinal = errors.New("it would fail again")
)

// openPush reads the key, or creates it at the first start and in place of a damaged one. A new one ends all subscriptions.
func (h *webhooks) openPush(ctx context.Context) (err error) {
	if !h.opts.Push {
		return nil
	}
	if h.shared != nil {
		if h.push, err = h.sharedPushKey(ctx); err != nil {
			return fmt.Errorf("server: the key of push messages: %w", err)
		}
		return nil
	}
	err = h.srv.readState(pushKeyName, func(data []byte) (err error) {
		h.push, err = webpush.ParseKey(strings.TrimSpace(string(data)))
		return err
	})
	if err != nil || h.push != nil {
		return err
	}
	if h.push, err = webpush.NewKey(); err != nil {
		return err
	}
	text, err := h.push.Private()
	if err != nil {
		return err
	}
	return saveState(filepath.Join(h.opts.Dir, pushKeyName), []byte(text))
}

// pushes reports whether an event is for a browser's subscription: it belongs to the tenant and is
// not too old.
func (h *webhooks) pushes(k *subscriber, ev webhook.Event) bool {
	at, err := time.Parse(time.RFC3339, ev.Time)
	fresh := err == nil && h.opts.now().Sub(at) < pushTTL
	return fresh && (k.Push.Tenant == "" || k.Push.Tenant == ev.Tenant)
}

// pushMessage is the payload of a message: the event and its session, without text of the
// conversation except a command that the notice offers to allow.
type pushMessage struct {
	Kind      string `json:"kind"`
	SessionID string `json:"session_id,omitempty"`
	Title     string `json:"title,omitempty"`
	Seq       uint64 `json:"seq,omitempty"`
	offer
}

// maxPushTitle is the limit of a title in bytes.
const maxPushTitle = 200

// messageOf returns the message of an event. A newer one of the same kind and session replaces it.
func messageOf(ev webhook.Event, o offer, contact string) (webpush.Message, error) {
	payload, err := json.Marshal(pushMessage{ev.Type, ev.SessionID, cut(ev.Title, maxPushTitle), ev.Seq, o})
	sum := sha256.Sum256([]byte(ev.SessionID + "\x00" + ev.Type))
	m := webpush.Message{Payload: payload, TTL: pushTTL, Urgency: webpush.High, Topic: hex.EncodeToString(sum[:16]), Subject: contact}
	if ev.Type == webhook.TurnDone {
		m.Urgency = webpush.Normal
	}
	return m, err
}

// pushOne sends an event to a browser once.
func (h *webhooks) pushOne(ctx context.Context, k *pushed, ev webhook.Event) (status int, err error) {
	m, err := messageOf(ev, h.srv.offer(ctx, k, ev), h.opts.PushContact)
	if err != nil {
		return 0, errors.Join(errFinal, err)
	}
	req, err := webpush.NewRequest(ctx, k.Subscription, m, h.push, h.opts.now())
	if err != nil {
		return 0, errors.Join(errFinal, err)
	}
	status, err = h.client.Send(req)
	switch {
	case err == nil:
		return status, nil
	case webpush.Gone(status):
		return status, errors.Join(errGone, err)
	case !webpush.Temporary(status):
		return status, errors.Join(errFinal, err)
	}
	return status, err
}

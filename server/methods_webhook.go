package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/webhook"
)

// The limits of webhooks.
const (
	maxWebhooks = 100
	minSecret   = 16
	maxSecret   = 256
)

// hookEvents are the events for webhooks.
var hookEvents = []string{webhook.NeedsAnswer, webhook.TurnDone, webhook.Failed, webhook.BudgetReached}

func webhooksList(s *Server, _ context.Context, _ *caller, _ api.Empty) (api.WebhooksListResult, error) {
	result := api.WebhooksListResult{Webhooks: []api.Webhook{}}
	for _, k := range s.webhooks.list() {
		if k.Push == nil {
			result.Webhooks = append(result.Webhooks, s.webhooks.info(k))
		}
	}
	return result, nil
}

// webhooksSet adds a webhook, or changes the one with its id. A changed webhook keeps its position
// in the events.
func webhooksSet(s *Server, _ context.Context, _ *caller, p api.WebhooksSetParams) (api.WebhooksSetResult, error) {
	w := p.Webhook
	if err := s.webhooks.client.CheckURL(w.URL); err != nil {
		return api.WebhooksSetResult{}, session.Invalid("%v", err)
	}
	for _, e := range w.Events {
		if !slices.Contains(hookEvents, e) {
			return api.WebhooksSetResult{}, session.Invalid("unknown event %.50q", e)
		}
	}
	if n := len(p.Secret); n > 0 && (n < minSecret || n > maxSecret) {
		return api.WebhooksSetResult{}, session.Invalid("a secret has %d to %d characters", minSecret, maxSecret)
	}
	k, err := s.webhooks.set(subscriber{ID: w.ID, URL: w.URL, Events: w.Events, Session: w.SessionID, Enabled: w.Enabled, Secret: p.Secret})
	if err != nil {
		return api.WebhooksSetResult{}, err
	}
	result := api.WebhooksSetResult{Webhook: s.webhooks.info(k)}
	if w.ID == "" && p.Secret == "" {
		result.Secret = k.Secret
	}
	return result, nil
}

// set stores a webhook and delivers events to it from its position on.
func (h *webhooks) set(k subscriber) (subscriber, error) {
	if k.ID == commandID {
		return k, session.Conflict("the command is one of the server's settings")
	}
	if k.ID != "" {
		if err := h.pause(k.ID); err != nil {
			return k, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.at(k.ID)
	switch {
	case k.ID != "" && i < 0: // removed meanwhile
		return k, noWebhook(k.ID)
	case i >= 0:
		old := h.all[i]
		k.Created, k.Cursor = old.Created, old.Cursor
		setDefault(&k.Secret, old.Secret)
	case h.count() >= maxWebhooks:
		return k, session.LimitReached("there are %d webhooks", maxWebhooks)
	default:
		k.ID, k.Created = "w-"+random.Hex(6), h.opts.now()
		k.Cursor, _ = h.outbox.last()
		if k.Secret == "" {
			b := make([]byte, 32)
			_, _ = rand.Read(b) // never fails
			k.Secret = "whsec_" + base64.RawURLEncoding.EncodeToString(b)
		}
	}
	next := append(slices.Clone(h.all), k)
	if i >= 0 {
		next = next[:len(h.all)]
		next[i] = k
	}
	return k, h.replace(next, k.ID)
}

// replace stores the webhooks and serves a paused or new one among them. If they cannot be stored, the former ones stay in
// service. The caller holds the lock.
func (h *webhooks) replace(all []subscriber, id string) error {
	before := h.all
	h.all = all
	err := h.save()
	if err != nil {
		h.all = before
	}
	h.resume(id)
	return err
}

// resume restarts the deliveries of a webhook that was halted and still exists. The caller holds
// the lock.
func (h *webhooks) resume(id string) {
	if i := slices.IndexFunc(h.all, func(k subscriber) bool { return k.ID == id }); i >= 0 {
		h.serve(h.all[i])
	}
}

// at returns the index of a webhook, -1 if the id is unknown or belongs to the subscription of a
// browser. The caller holds the lock.
func (h *webhooks) at(id string) int {
	return slices.IndexFunc(h.all, func(k subscriber) bool { return k.ID == id && k.Push == nil })
}

// count returns the number of webhooks, including the command. The caller holds the lock.
func (h *webhooks) count() (n int) {
	for _, k := range h.all {
		if k.Push == nil {
			n++
		}
	}
	return n
}

// pause stops the calls of a webhook and waits for their end. It fails if the id is unknown.
func (h *webhooks) pause(id string) error {
	if _, ok := h.find(func(k subscriber) bool { return k.ID == id && k.Push == nil }); !ok {
		return noWebhook(id)
	}
	<-h.halt(id)
	return nil
}

// halt stops the calls of a webhook. The channel is closed when they have ended.
func (h *webhooks) halt(id string) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	run, ok := h.runs[id]
	if !ok {
		run.done = make(chan struct{})
		close(run.done)
		return run.done
	}
	delete(h.runs, id)
	run.cancel()
	return run.done
}

func webhooksRemove(s *Server, _ context.Context, _ *caller, p api.WebhookRef) (api.Empty, error) {
	if p.ID == commandID {
		return api.Empty{}, session.Conflict("the command is one of the server's settings")
	}
	return api.Empty{}, s.webhooks.remove(p.ID)
}

// remove stops the calls of a webhook and deletes it.
func (h *webhooks) remove(id string) error {
	if err := h.pause(id); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.at(id)
	if i < 0 { // removed meanwhile
		return noWebhook(id)
	}
	return h.replace(slices.Delete(slices.Clone(h.all), i, i+1), id)
}

func noWebhook(id string) error { return session.Conflict("webhook %q not found", id) }

// webhooksTest makes one call, independent of the queued events.
func webhooksTest(s *Server, ctx context.Context, _ *caller, p api.WebhookRef) (api.WebhooksTestResult, error) {
	h := s.webhooks
	k, ok := h.find(func(k subscriber) bool { return k.ID == p.ID && k.Push == nil })
	if !ok {
		return api.WebhooksTestResult{}, noWebhook(p.ID)
	}
	ev := webhook.Event{ID: "test-" + random.Hex(6), Type: webhook.Test, Time: session.Timestamp(h.opts.now()), Text: "A test of the webhook."}
	began := time.Now()
	var result api.WebhooksTestResult
	var err error
	if k.ID == commandID {
		err = h.call(ctx, &k, ev)
	} else {
		var status int
		status, err = h.client.Post(ctx, k.URL, k.Secret, ev, h.opts.now())
		result.Status = int64(status)
	}
	if err != nil {
		result.Error = err.Error()
	}
	result.DurationMS = time.Since(began).Milliseconds()
	return result, nil
}

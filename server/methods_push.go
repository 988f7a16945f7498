package server

import (
	"context"
	"errors"
	"slices"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/server/webpush"
	"github.com/seed7221b0f9/parley/webhook"
)

func pushKey(s *Server, _ context.Context, _ *caller, _ api.Empty) (api.PushKeyResult, error) {
	if s.webhooks.push == nil {
		return api.PushKeyResult{}, nil
	}
	return api.PushKeyResult{Enabled: true, PublicKey: s.webhooks.push.Public()}, nil
}

// pushSubscribe stores the subscription of the caller's browser. It replaces one with the same
// endpoint of the same account.
func pushSubscribe(s *Server, _ context.Context, c *caller, p api.PushSubscribeParams) (api.Empty, error) {
	h := s.webhooks
	if h.push == nil {
		return api.Empty{}, session.Fail(api.Unsupported, "this server sends no push messages; see --push")
	}
	if p.Allow && c.role < roleOperator {
		return api.Empty{}, session.Fail(api.AuthFailed, "to allow from a notice needs the role %s", roleOperator)
	}
	sub := webpush.Subscription{Endpoint: p.Endpoint, P256DH: p.Keys.P256DH, Auth: p.Keys.Auth}
	if err := sub.Check(); err != nil {
		return api.Empty{}, session.Invalid("%v", err)
	}
	if err := h.client.CheckURL(sub.Endpoint); err != nil {
		return api.Empty{}, session.Invalid("%v", err)
	}
	for _, e := range p.Events {
		if !slices.Contains(hookEvents, e) {
			return api.Empty{}, session.Invalid("unknown event %.50q", e)
		}
	}
	k := subscriber{Events: p.Events, Enabled: true, Push: &pushed{sub, c.account, c.tenant, p.Allow}}
	return api.Empty{}, h.subscribe(k)
}

// subscribe stores a subscription and starts the deliveries to it.
func (h *webhooks) subscribe(k subscriber) error {
	old, ok := h.subscription(k.Push.Account, k.Push.Endpoint)
	if ok {
		<-h.halt(old.ID)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() { h.resume(old.ID) }() // has no effect if it was replaced
	kept := slices.DeleteFunc(slices.Clone(h.all), func(x subscriber) bool { return ok && x.ID == old.ID })
	taken, own := 0, 0
	for _, x := range kept {
		if x.Push == nil {
			continue
		}
		if x.Push.Endpoint == k.Push.Endpoint {
			return session.Conflict("the browser has subscribed with another token; unsubscribe it first")
		}
		taken++
		if x.Push.Account == k.Push.Account {
			own++
		}
	}
	if taken >= maxPush || own >= maxPushAccount {
		return session.LimitReached("there are %d subscriptions of browsers, %d of this token", taken, own)
	}
	k.ID, k.Created = "p-"+random.Hex(6), h.opts.now()
	k.Cursor, _ = h.outbox.last()
	return h.replace(append(kept, k), k.ID)
}

// subscription returns the subscription of an account by its endpoint.
func (h *webhooks) subscription(account, endpoint string) (subscriber, bool) {
	return h.find(func(k subscriber) bool {
		return k.Push != nil && k.Push.Account == account && k.Push.Endpoint == endpoint
	})
}

// pushUnsubscribe removes a subscription. A missing one is not an error: the browser has ended it.
func pushUnsubscribe(s *Server, _ context.Context, c *caller, p api.PushUnsubscribeParams) (api.Empty, error) {
	k, ok := s.webhooks.subscription(c.account, p.Endpoint)
	if ok {
		<-s.webhooks.halt(k.ID)
		s.webhooks.drop(k.ID)
	}
	return api.Empty{}, nil
}

// pushTest sends one message to the caller's browser, independent of the queued events.
func pushTest(s *Server, ctx context.Context, c *caller, p api.PushUnsubscribeParams) (api.PushTestResult, error) {
	if s.webhooks.push == nil {
		return api.PushTestResult{}, session.Fail(api.Unsupported, "this server sends no push messages; see --push")
	}
	k, ok := s.webhooks.subscription(c.account, p.Endpoint)
	if !ok {
		return api.PushTestResult{}, session.Conflict("the browser has not subscribed")
	}
	ev := webhook.Event{ID: "test-" + random.Hex(6), Type: webhook.Test, Time: session.Timestamp(s.opts.now())}
	status, err := s.webhooks.pushOne(ctx, k.Push, ev)
	result := api.PushTestResult{Status: int64(status)}
	if err != nil {
		result.Error = err.Error()
	}
	if errors.Is(err, errGone) {
		<-s.webhooks.halt(k.ID)
		s.webhooks.drop(k.ID)
	}
	return result, nil
}

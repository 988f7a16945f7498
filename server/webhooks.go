package server

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/notify"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/server/webpush"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/webhook"
)

// webhooksName is the file that holds the webhooks with their secrets and cursors.
const webhooksName = "webhooks.json"

// The times of retries: the first wait, which doubles each time; the longest wait; and the time
// after which an event is dropped. A command is dropped after commandTries.
const (
	firstRetry   = time.Second
	lastRetry    = 5 * time.Minute
	giveUp       = 72 * time.Hour
	commandTries = 5
	commandID    = "command"
)

// subscriber is a webhook as stored on disk.
type subscriber struct {
	ID        string    `json:"id"`
	URL       string    `json:"url"`
	Secret    string    `json:"secret,omitempty"`
	Events    []string  `json:"events,omitempty"`
	Session   string    `json:"session,omitempty"`
	Enabled   bool      `json:"enabled"`
	Created   time.Time `json:"created"`
	Cursor    uint64    `json:"cursor"` // the last processed event of the outbox
	Push      *pushed   `json:"push,omitempty"`
	LastError string    `json:"last_error,omitempty"`
	skipped   bool      // the next events were trimmed
}

// delivery is the running delivery of a webhook.
type delivery struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// webhooks are the webhooks of a server.
type webhooks struct {
	opts   Options
	srv    *Server
	path   string
	outbox *outbox
	client *notify.Client
	push   *webpush.Key // nil if push is disabled
	shared *sharedHooks // nil for a single server

	mu   sync.Mutex
	all  []subscriber
	runs map[string]delivery
}

// openWebhooks reads the webhooks; start begins the deliveries.
func openWebhooks(ctx context.Context, s *Server) (*webhooks, error) {
	h := &webhooks{opts: s.opts, srv: s, path: filepath.Join(s.opts.Dir, webhooksName), client: notify.New(s.opts.WebhookNetworks, s.opts.roots), runs: map[string]delivery{}}
	var err error
	if h.outbox, err = openOutbox(ctx, s.store.Log(outboxLogName)); err != nil {
		return nil, err
	}
	if c := s.opts.Cluster; c != nil {
		err = h.share(ctx, c)
	} else {
		err = s.readState(webhooksName, h.read)
	}
	if err != nil {
		return nil, err
	}
	if err := h.openPush(ctx); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.all, func(k subscriber) bool { return k.ID == commandID })
	switch {
	case h.opts.HookCommand != "" && i < 0:
		last, _ := h.outbox.last()
		h.all = append(h.all, subscriber{ID: commandID, Created: h.opts.now(), Cursor: last, Enabled: true})
	case h.opts.HookCommand == "" && i >= 0:
		h.all = slices.Delete(h.all, i, i+1)
	default:
		return h, nil // also on a full disk
	}
	return h, h.save()
}

// read reads the webhooks of a file; after an error it returns nil.
func (h *webhooks) read(data []byte) error {
	var all []subscriber
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	h.all = all
	return nil
}

// start begins the deliveries of all webhooks.
func (h *webhooks) start() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shared != nil {
		h.shared.started = true
		h.srv.wg.Go(func() { h.outbox.follow(h.srv.ctx) })
	}
	for _, k := range h.all {
		h.serve(k)
	}
}

// serve starts the deliveries of a webhook. The caller holds the lock.
func (h *webhooks) serve(k subscriber) {
	if !h.active(k) {
		return
	}
	ctx, cancel := context.WithCancel(h.srv.ctx)
	run := delivery{cancel, make(chan struct{})}
	h.runs[k.ID] = run
	h.srv.wg.Go(func() {
		defer close(run.done)
		if h.shared != nil {
			h.lead(ctx, k)
		} else {
			h.loop(ctx, k)
		}
	})
}

// active reports whether deliveries to a webhook or a browser are running.
func (h *webhooks) active(k subscriber) bool { return k.Enabled && (k.Push == nil || h.push != nil) }

// list returns all webhooks and subscriptions.
func (h *webhooks) list() []subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.all)
}

// find returns the first that matches.
func (h *webhooks) find(match func(subscriber) bool) (subscriber, bool) {
	all := h.list()
	i := slices.IndexFunc(all, match)
	if i < 0 {
		return subscriber{}, false
	}
	return all[i], true
}

// Wants reports whether a webhook wants an event of that time.
func (h *webhooks) Wants(ts string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, err := time.Parse(time.RFC3339, ts)
	return slices.ContainsFunc(h.all, func(k subscriber) bool {
		return (k.Push == nil || h.push != nil) && (err != nil || !at.Before(k.Created.Truncate(time.Second)))
	})
}

// Add stores events of one session, each once.
func (h *webhooks) Add(ctx context.Context, events []webhook.Event) error {
	return h.outbox.add(ctx, events)
}

// loop makes the calls of a webhook in the order of the outbox, until ctx ends.
func (h *webhooks) loop(ctx context.Context, k subscriber) {
	for ctx.Err() == nil {
		last, changed := h.outbox.last()
		if k.Cursor < last {
			for ev, err := range session.ReadAround(ctx, h.outbox.log, k.Cursor) {
				if errors.Is(err, eventlog.ErrTrimmed) {
					h.skip(ctx, &k)
					break
				}
				if err != nil {
					h.srv.logger.Warn("the outbox cannot be read", "webhook", k.ID, "err", err)
					break
				}
				if !h.deliver(ctx, &k, ev) {
					return
				}
			}
			if k.Cursor >= last || k.skipped {
				k.skipped = false
				continue
			}
			changed = nil // the outbox was not read to its end
		}
		var again <-chan time.Time
		if changed == nil {
			again = h.opts.after(lastRetry)
		}
		select {
		case <-changed:
		case <-again:
		case <-ctx.Done():
		}
	}
}

// deliver makes the call of an event until it is accepted or dropped. It returns false when ctx has
// ended.
func (h *webhooks) deliver(ctx context.Context, k *subscriber, stored eventlog.Event) bool {
	var ev webhook.Event
	ok := json.Unmarshal(stored.Data, &ev) == nil && (len(k.Events) == 0 || slices.Contains(k.Events, ev.Type)) && (k.Session == "" || k.Session == ev.SessionID)
	if k.Push != nil && ok {
		ok = h.pushes(k, ev)
	}
	began, wait := h.opts.now(), firstRetry
	for try := 1; ok; try++ {
		err := h.finish(ctx, k, ev)
		h.srv.metrics.delivered(err)
		if err == nil {
			k.LastError = ""
			break
		}
		if ctx.Err() != nil {
			return false
		}
		if errors.Is(err, errGone) {
			h.drop(k.ID)
			return false
		}
		k.LastError = err.Error()
		h.keep(*k)
		if h.opts.now().Sub(began) >= k.giveUp() || errors.Is(err, errFinal) || k.ID == commandID && try >= commandTries {
			h.srv.logger.Error("an event was abandoned", "webhook", k.ID, "event", ev.ID, "err", err)
			break
		}
		select {
		case <-h.opts.after(wait):
		case <-ctx.Done():
			return false
		}
		wait = min(2*wait, lastRetry)
	}
	k.Cursor = stored.Seq
	if ok {
		h.keep(*k)
	}
	return true
}

// skip advances a webhook past trimmed events.
func (h *webhooks) skip(ctx context.Context, k *subscriber) {
	next, err := h.outbox.oldest(ctx)
	if err != nil || next <= k.Cursor {
		h.srv.logger.Warn("the outbox cannot be read", "webhook", k.ID, "err", err)
		return
	}
	h.srv.logger.Error("events were lost: a webhook was too far behind", "webhook", k.ID, "count", next-k.Cursor)
	k.Cursor, k.skipped = next, true
	h.keep(*k)
}

// giveUp returns the age at which an event is dropped.
func (k *subscriber) giveUp() time.Duration {
	if k.Push != nil {
		return pushTTL
	}
	return giveUp
}

// drop removes the subscription of a browser that no longer exists. The loop of the subscription
// calls it.
func (h *webhooks) drop(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = slices.DeleteFunc(h.all, func(k subscriber) bool { return k.ID == id })
	if run, ok := h.runs[id]; ok {
		run.cancel()
		delete(h.runs, id)
	}
	if err := h.save(); err != nil {
		h.srv.logger.Warn("a subscription that has ended is still on disk", "err", err)
	}
}

// finishTime is how long a stopping server waits for a running webhook call. If it stopped earlier,
// an accepted event would be sent again.
const finishTime = 3 * time.Second

// finish runs a call that may continue for finishTime after ctx has ended.
func (h *webhooks) finish(ctx context.Context, k *subscriber, ev webhook.Event) error {
	call, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	defer context.AfterFunc(ctx, func() {
		timer := time.NewTimer(finishTime)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-done:
		}
	})()
	return h.call(call, k, ev)
}

// call delivers an event once.
func (h *webhooks) call(ctx context.Context, k *subscriber, ev webhook.Event) error {
	if k.ID == commandID {
		return notify.Command(ctx, h.opts.HookCommand, spawn.Func(h.srv.spawnCommand), hookEnv(h.opts.Env), ev)
	}
	if k.Push != nil {
		if k.Push.Account != ownerAccount && h.srv.tokens.holds(k.Push.Account) == roleNone {
			return errGone // the token was revoked or has expired
		}
		_, err := h.pushOne(ctx, k.Push, ev)
		return err
	}
	_, err := h.client.Post(ctx, k.URL, k.Secret, ev, h.opts.now())
	return err
}

// hookVariables are the variables of agents that a command gets too.
var hookVariables = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_*", "TZ", "TMPDIR", "SYSTEMROOT", "SystemRoot"}

func hookEnv(env []string) []string { return filterEnv(env, hookVariables) }

// keep stores the position of a webhook, unless it was changed or removed meanwhile.
func (h *webhooks) keep(k subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.all, func(old subscriber) bool { return old.ID == k.ID })
	if i < 0 {
		return
	}
	h.all[i].Cursor, h.all[i].LastError = k.Cursor, k.LastError
	if err := h.save(); err != nil {
		h.srv.logger.Warn("the cursor of a webhook was not stored; its last event may be repeated", "err", err)
	}
}

// save replaces the file atomically, or writes the changes to the cluster. The caller holds the
// lock.
func (h *webhooks) save() error {
	if h.shared != nil {
		return h.saveShared()
	}
	data, err := json.Marshal(h.all)
	if err != nil {
		return err
	}
	return saveState(h.path, data)
}

// replaceFile replaces a file atomically, readable only by its owner.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// info returns a webhook for clients, without its secret.
func (h *webhooks) info(k subscriber) api.Webhook {
	last, _ := h.outbox.last()
	w := api.Webhook{ID: k.ID, URL: k.URL, Events: append([]string{}, k.Events...), SessionID: k.Session, Enabled: k.Enabled, LastError: k.LastError}
	if last > k.Cursor {
		w.Pending = int64(last - k.Cursor)
	}
	return w
}

package claudetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/seed7221b0f9/parley/internal/deadline"
)

const (
	defaultHold      = 20 * time.Second
	defaultHoldAfter = 3
)

// streamFault is the way in which a stream ends early.
type streamFault int

const (
	faultNone streamFault = iota
	faultDrop
	faultEnd
	faultMalformed
	faultSSEError
)

// stream sends the events until a fault of the reply.
func (r Reply) stream(ctx context.Context, w http.ResponseWriter, events []apiEvent) {
	setDefault(w, "Content-Type", "text/event-stream; charset=utf-8")
	setDefault(w, "Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	if out.Flush() != nil {
		return
	}
	end, fault := r.cut(len(events))
	holdAt := r.holdAt(end)
	for i, e := range events[:end] {
		if i == holdAt && !r.hold(ctx) {
			return
		}
		if i > 0 && !deadline.Pause(ctx, r.EventDelayMS) {
			return
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, e.data); err != nil || out.Flush() != nil {
			return
		}
	}
	if holdAt == end && !r.hold(ctx) {
		return
	}
	r.strike(w, fault, events[min(end, len(events)-1)])
}

// cut returns the number of events to send, of n, and the fault after them.
func (r Reply) cut(n int) (end int, kind streamFault) {
	end = n
	for _, f := range []struct {
		kind  streamFault
		after *int
	}{
		{faultDrop, r.DropAfter}, {faultEnd, r.EndAfter}, {faultMalformed, r.MalformedAfter}, {faultSSEError, r.errorAfter(n)},
	} {
		if f.after != nil && (kind == faultNone || *f.after < end) {
			end, kind = min(*f.after, n), f.kind
		}
	}
	return end, kind
}

// errorAfter returns the number of events before the error event, of n, or nil.
func (r Reply) errorAfter(n int) *int {
	if r.SSEErrorAfter == nil && r.SSEError != nil {
		return new(n - 2) // before message_delta and message_stop
	}
	return r.SSEErrorAfter
}

// strike ends the stream with a fault; next is the event that would have been next.
func (r Reply) strike(w http.ResponseWriter, kind streamFault, next apiEvent) {
	switch kind {
	case faultDrop:
		// The server then closes the connection without ending the body.
		panic(http.ErrAbortHandler)
	case faultMalformed:
		// The blank line makes the client read the half event as an event.
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", next.name, next.data[:len(next.data)/2])
	case faultSSEError:
		_, _ = fmt.Fprintf(w, "event: error\ndata: %s\n\n", r.sseError())
	}
}

func (r Reply) sseError() json.RawMessage {
	if r.SSEError == nil {
		return errorBody("overloaded_error", "Overloaded")
	}
	return mustEncode(r.SSEError) // on one line, as event data requires
}

// holdAt returns the number of events before the hold, of n that are sent, or -1.
func (r Reply) holdAt(n int) int {
	switch {
	case r.Hold != HoldMid:
		return -1
	case r.HoldAfter == nil:
		return min(defaultHoldAfter, n)
	default:
		return min(*r.HoldAfter, n)
	}
}

// hold waits until the client hangs up or the hold ends; it returns true in the second
// case.
func (r Reply) hold(ctx context.Context) bool {
	d := defaultHold
	if r.HoldMS > 0 {
		d = time.Duration(r.HoldMS) * time.Millisecond
	}
	return deadline.Wait(ctx, d)
}

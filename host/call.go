package host

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Limits of calls.
const (
	// maxCalls limits the concurrent calls of an owner, maxParams the size of the parameters in bytes, and maxResult
	// the size of the result. A relay serves a few more calls, because it frees a slot only when it sends the result.
	maxCalls  = 8
	maxServed = maxCalls + 4
	maxParams = 1 << 20
	maxResult = 24 << 20
	// callTime is the timeout of a call, so that a hanging call does not occupy a slot forever.
	callTime = 5 * time.Minute
)

// Service answers calls from an owner on another machine that do not concern agents. A [Policy] may implement it.
type Service interface {
	// Call answers a call. ctx ends when the owner cancels the call or the connection closes. It may be called from
	// several goroutines.
	Call(ctx context.Context, method string, params json.RawMessage) (result []byte, err error)
}

// Call calls a method of the [Service] behind [Relay]. At most eight calls run at once; others wait. Call returns
// [ErrRefused] if the other machine refuses the call.
func (l *Link) Call(ctx context.Context, method string, params json.RawMessage) ([]byte, error) {
	if len(params) > maxParams {
		return nil, fmt.Errorf("%w: parameters of %d bytes are longer than %d", ErrRefused, len(params), maxParams)
	}
	select {
	case l.calls <- struct{}{}:
	case <-l.done:
		return nil, l.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var abandoned uint64
	free := sync.OnceFunc(func() { <-l.calls })
	// The slot is free when the other machine has answered or the request was not sent, not when the caller cancels.
	r, err := l.callWith(ctx, request{Op: opCall, Method: method, Params: params}, func(answer) { free() }, func(id uint64) { abandoned = id })
	if abandoned == 0 {
		free()
	} else {
		if frame, frameErr := jsonFrame(frameRequest, request{Op: opCancel, Call: abandoned}); frameErr == nil {
			_ = l.send(frame) // the caller has the end of its context
		}
	}
	return r.result, err
}

// part appends a part of a result to its call. It returns the answer when the result is complete.
func (l *Link) part(payload []byte) error {
	f := cursor{b: payload}
	id, flags := f.u64(), f.u8()
	if f.bad {
		return errors.New("invalid frame of a result")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	on := l.pending[id]
	if on == nil {
		return nil // its answer was an error
	}
	if len(l.parts[id])+len(f.b) > maxResult {
		return fmt.Errorf("a result exceeds %d bytes", maxResult)
	}
	l.parts[id] = append(l.parts[id], f.b...)
	if flags&flagMore != 0 {
		return nil
	}
	text := l.parts[id]
	delete(l.parts, id)
	delete(l.pending, id)
	on(answer{ID: id, result: text})
	return nil
}

// call answers a call in a new goroutine.
func (r *relay) call(q request) error {
	service, ok := r.policy.(Service)
	if !ok {
		return r.refuse(q.ID, errors.New("this machine answers no calls"))
	}
	if len(q.Params) > maxParams {
		return r.refuse(q.ID, fmt.Errorf("parameters of %d bytes are longer than %d", len(q.Params), maxParams))
	}
	ctx, cancel := context.WithTimeout(r.ctx, callTime)
	r.mu.Lock()
	busy := len(r.calls) >= maxServed
	if !busy {
		r.calls[q.ID] = cancel
	}
	r.mu.Unlock()
	if busy {
		cancel()
		return r.refuse(q.ID, fmt.Errorf("%d calls are under way", maxServed))
	}
	r.starting.Go(func() {
		defer cancel()
		defer r.endCall(q.ID)
		text, err := service.Call(ctx, q.Method, q.Params)
		if err == nil && len(text) > maxResult {
			err = fmt.Errorf("the result of %d bytes is longer than %d", len(text), maxResult)
		}
		if err != nil {
			_ = r.refuse(q.ID, err) // a failed connection ends fromOwner too
			return
		}
		_ = r.result(q.ID, text)
	})
	return nil
}

// endCall frees the slot of a call.
func (r *relay) endCall(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, id)
}

// abandon cancels the context of a call or a dial. The call keeps its slot until it returns.
func (r *relay) abandon(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range []map[uint64]context.CancelFunc{r.calls, r.dials} {
		if cancel := of[id]; cancel != nil {
			cancel()
		}
	}
}

// result sends a result in parts, so that lines of agents can go in between.
func (r *relay) result(id uint64, text []byte) error {
	for {
		part := text[:min(len(text), fragment)]
		text = text[len(part):]
		b := binary.BigEndian.AppendUint64(beginFrame(make([]byte, 0, headSize+9+len(part)), frameResult), id)
		if len(text) > 0 {
			b = append(b, flagMore)
		} else {
			b = append(b, 0)
		}
		if err := r.owner.send(endFrame(append(b, part...), 0)); err != nil || len(text) == 0 {
			return err
		}
	}
}

package host

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The limits of calls.
const (
	// maxCalls limits the concurrent calls of an owner, maxParams the bytes of the parameters, maxResult those of the result. A relay serves
	// some more calls, because a place in it is free only when the result is on its way.
	maxCalls  = 8
	maxServed = maxCalls + 4
	maxParams = 1 << 20
	maxResult = 24 << 20
	// callTime limits a call, so that one that hangs does not take a place forever.
	callTime = 5 * time.Minute
)

// Service answers calls of an owner on another machine that are not about agents. A [Policy] may implement it.
type Service interface {
	// Call answers a call. ctx ends when the owner gives the call up, or the connection ends. It may be called from several goroutines.
	Call(ctx context.Context, method string, params json.RawMessage) (result []byte, err error)
}

// Call calls a method of the [Service] behind [Relay]. At most eight calls are under way at once, others wait. A call that the other machine
// refuses returns [ErrRefused].
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
	// The place is free when the other machine has answered, not when the caller has given up.
	r, err := l.callWith(ctx, request{Op: opCall, Method: method, Params: params}, func(answer) { <-l.calls }, func(id uint64) { abandoned = id })
	if abandoned != 0 {
		if frame, frameErr := jsonFrame(frameRequest, request{Op: opCancel, Call: abandoned}); frameErr == nil {
			_ = l.send(frame) // the caller has the end of its context
		}
	}
	return r.result, err
}

// part adds a part of a result to its call, and returns the answer when it is complete.
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

// call answers a call in the background.
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

// endCall frees the place of a call.
func (r *relay) endCall(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, id)
}

// abandon ends the context of a call, which keeps its place until it has returned.
func (r *relay) abandon(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel := r.calls[id]; cancel != nil {
		cancel()
	}
}

// result sends a result in parts, so that lines of agents are sent between them.
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

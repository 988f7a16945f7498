package api

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// DecodeEnvelope decodes an envelope and the events of its message, which may be empty. The decoder
// is that of the session. The envelope may refer to data, which the caller must not modify
// afterwards.
func DecodeEnvelope(d *event.Decoder, data []byte) (Envelope, []event.Event, error) {
	if e, ok := deltaEnvelope(data); ok {
		if ev, ok := d.DecodeDelta(e.Msg); ok {
			return e, []event.Event{ev}, nil
		}
	}
	var e Envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return e, nil, fmt.Errorf("api: %w", err)
	}
	if len(e.Msg) == 0 {
		return e, nil, nil
	}
	events, err := d.Decode(e.Msg)
	return e, events, err
}

// deltaEnvelope decodes an envelope in exactly the form of a server; it returns false for any other
// form. It does not check the message.
func deltaEnvelope(data []byte) (Envelope, bool) {
	var e Envelope
	if len(data) == 0 || data[len(data)-1] != '}' {
		return e, false
	}
	head, _, found := bytes.Cut(data, []byte(`,"msg":`))
	if !found {
		return e, false
	}
	d := jsonwire.NewDecoder(string(head))
	ok := d.Literal(`{"seq":`) && number(d, &e.Seq) && d.Literal(`,"sub":`) && number(d, &e.Sub) && d.Literal(`,"epoch":`) && text(d, &e.Epoch) &&
		d.Literal(`,"session_id":`) && text(d, &e.SessionID) && d.Literal(`,"ts":`) && text(d, &e.TS) && d.End() == nil
	from, to := len(head)+len(`,"msg":`), len(data)-1
	if !ok || from > to {
		return e, false
	}
	e.Msg = data[from:to:to]
	return e, true
}

func text(d *jsonwire.Decoder, dst *string) bool {
	var ok bool
	*dst, ok = d.String()
	return ok && d.Err() == nil
}

func number(d *jsonwire.Decoder, dst *uint64) bool {
	start := d.Offset()
	n, ok := d.Int()
	*dst = uint64(n)
	return ok && n >= 0 && !bytes.ContainsAny([]byte(d.Since(start)), ".eE")
}

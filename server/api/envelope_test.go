package api

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

var deltaLines = []string{
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a \"b\" é \u00e9 \ud83d"}},"provider":"claude"}`,
	`{"type":"stream_event","uuid":"u","session_id":"","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":""}},"parent_tool_use_id":"p","api_message_id":"m","provider":"sim"}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":-1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}},"api_message_id":"m","provider":""}`,
}

// TestDecodeEnvelope checks envelopes of deltas and of other messages, and broken ones.
func TestDecodeEnvelope(t *testing.T) {
	for _, msg := range append([]string{`{"type":"error","message":"no"}`, `{"type":"of tomorrow"}`, `null`}, deltaLines...) {
		for _, sub := range []string{`,"sub":4`, "", `,"sub":-1`, `,"sub":1.5`} {
			data := []byte(`{"seq":12` + sub + `,"epoch":"e","session_id":"s-1","ts":"2026-01-02T03:04:05Z","msg":` + msg + `}`)
			var want Envelope
			wantErr := json.Unmarshal(data, &want)
			got, m, err := DecodeEnvelope(new(event.Decoder), data)
			if (err == nil) != (wantErr == nil) && msg != "null" {
				t.Errorf("%s: %v, want %v", data, err, wantErr)
				continue
			}
			if err != nil {
				continue
			}
			plain, err := new(event.Decoder).Decode(want.Msg)
			if !reflect.DeepEqual(got, want) || err != nil || !reflect.DeepEqual(m, plain) {
				t.Errorf("%s gives %+v and %+v, want %+v and %+v, %v", data, got, m, want, plain, err)
			}
		}
	}
	for _, bad := range []string{"", "}", `{"seq":1,"sub":1,"epoch":"e","session_id":"s","ts":"t","msg":}`, `{"seq":1,"sub":1,"epoch":"e","session_id":"s","ts":"t","msg":` + deltaLines[0]} {
		if _, m, err := DecodeEnvelope(new(event.Decoder), []byte(bad)); err == nil {
			t.Errorf("%q gives %+v", bad, m)
		}
	}
}

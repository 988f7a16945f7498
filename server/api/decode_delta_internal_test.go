package api

import (
	"encoding/json"
	"reflect"
	"testing"
)

// slowDecode is Decode without the short way for deltas.
func slowDecode(data []byte) (Message, error) {
	m := &StreamEvent{}
	return m, fill(data, m)
}

var deltaLines = []string{
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a \"b\" é \u00e9 \ud83d"}},"provider":"claude"}`,
	`{"type":"stream_event","uuid":"u","session_id":"","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":""}},"parent_tool_use_id":"p","api_message_id":"m","provider":"sim"}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":-1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}},"api_message_id":"m","provider":""}`,
}

// otherLines begin like a delta and are not one that the short way may read.
var otherLines = []string{
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a","new":1}},"provider":"claude"}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}},"provider":"claude","new":1}`,
	`{"type":"stream_event","uuid":null,"session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}},"provider":"claude"}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3e0,"delta":{"type":"text_delta","text":"a"}},"provider":"claude"}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":7}},"provider":"claude"}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}},"provider":"claude"}}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"signature_delta","signature":"a"}},"provider":"claude"}`,
}

// TestDecodeDeltaFrame checks that the short way gives what the long one gives, and that it
// leaves everything else to it.
func TestDecodeDeltaFrame(t *testing.T) {
	for _, line := range deltaLines {
		want, err := slowDecode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := decodeDeltaFrame(line); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s gives %+v, %v, want %+v", line, got, ok, want)
		}
	}
	for _, line := range otherLines {
		if got, ok := decodeDeltaFrame(line); ok {
			t.Errorf("%s was taken for %+v", line, got)
		}
	}
}

// TestDecodeEnvelope checks envelopes of deltas and of other messages, and broken ones.
func TestDecodeEnvelope(t *testing.T) {
	for _, msg := range append([]string{`{"type":"error","message":"no"}`, `{"type":"of tomorrow"}`, `null`}, deltaLines...) {
		for _, sub := range []string{`,"sub":4`, "", `,"sub":-1`, `,"sub":1.5`} {
			data := []byte(`{"seq":12` + sub + `,"epoch":"e","session_id":"s-1","ts":"2026-01-02T03:04:05Z","msg":` + msg + `}`)
			var want Envelope
			wantErr := json.Unmarshal(data, &want)
			got, m, err := DecodeEnvelope(data)
			if (err == nil) != (wantErr == nil) && msg != "null" {
				t.Errorf("%s: %v, want %v", data, err, wantErr)
				continue
			}
			if err != nil {
				continue
			}
			plain, err := Decode(want.Msg)
			if !reflect.DeepEqual(got, want) || err != nil || !reflect.DeepEqual(m, plain) {
				t.Errorf("%s gives %+v and %+v, want %+v and %+v, %v", data, got, m, want, plain, err)
			}
		}
	}
	for _, bad := range []string{"", "}", `{"seq":1,"sub":1,"epoch":"e","session_id":"s","ts":"t","msg":}`, `{"seq":1,"sub":1,"epoch":"e","session_id":"s","ts":"t","msg":` + deltaLines[0]} {
		if _, m, err := DecodeEnvelope([]byte(bad)); err == nil {
			t.Errorf("%q gives %+v", bad, m)
		}
	}
}

func BenchmarkDecode_delta(b *testing.B) {
	data := []byte(deltaLines[0])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}

// Package engines compares ways to decode the CLI's lines. It is a separate module, so that the
// rejected engines are not dependencies of Parley.
package engines

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/seed7221b0f9/parley/claude"
)

// message has the members that a consumer of a stream reads. Bodies that are rarely used stay raw,
// as in Parley.
type message struct {
	Type            string `json:"type"`
	UUID            string `json:"uuid"`
	SessionID       string `json:"session_id"`
	ParentToolUseID string `json:"parent_tool_use_id"`
	Event           struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Delta struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"delta"`
	} `json:"event"`
	Message struct {
		ID      string `json:"id"`
		Role    string `json:"role"`
		Model   string `json:"model"`
		Content []struct {
			Type      string          `json:"type"`
			Text      string          `json:"text"`
			ID        string          `json:"id"`
			Name      string          `json:"name"`
			ToolUseID string          `json:"tool_use_id"`
			Content   string          `json:"content"`
			Input     json.RawMessage `json:"input"`
		} `json:"content"`
	} `json:"message"`
	ToolUseResult json.RawMessage `json:"tool_use_result"`
}

const ids = `"session_id":"335709b6-5234-418b-a7fc-c538f4dec9a8","uuid":"049bbed1-d0ad-40c9-a1af-f833c5c11d2e"`

// lines returns a small stream: deltas, complete answers, tool results of 4 to 50 KB.
func lines() (all [][]byte, size int64) {
	output := strings.Repeat(`   1\tfunc main() { fmt.Println(\"hello\") }\n`, 1000)
	for i := range 200 {
		var l string
		switch {
		case i%20 == 19:
			n := 4000 + i*46000/200
			l = fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]},"parent_tool_use_id":null,%s,"tool_use_result":{"stdout":"%s"}}`,
				i, cut(output, n/2), ids, cut(output, n/2))
		case i%10 == 9:
			l = fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":10}},"parent_tool_use_id":null,%s}`,
				i, cut(output, 800), ids)
		default:
			l = fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words %d"}},%s,"parent_tool_use_id":null,"api_message_id":"msg_0001"}`, i, ids)
		}
		all = append(all, []byte(l))
		size += int64(len(l))
	}
	return all, size
}

// cut shortens s without splitting an escape.
func cut(s string, n int) string { return strings.TrimRight(s[:min(n, len(s))], `\`) }

func bench(b *testing.B, decode func(line []byte) error) {
	all, size := lines()
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, l := range all {
			if err := decode(l); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N*len(all))/b.Elapsed().Seconds(), "msgs/s")
}

func BenchmarkParley(b *testing.B) {
	bench(b, func(line []byte) error {
		_, err := claude.DecodeMessage(line)
		return err
	})
}

func BenchmarkEncodingJSON(b *testing.B) {
	bench(b, func(line []byte) error { return json.Unmarshal(line, new(message)) })
}

func BenchmarkGoJSONExperiment(b *testing.B) {
	bench(b, func(line []byte) error { return jsonv2.Unmarshal(line, new(message)) })
}

func BenchmarkParleyDelta(b *testing.B) { delta(b, func(l []byte) { _, _ = claude.DecodeMessage(l) }) }
func BenchmarkEncodingJSONDelta(b *testing.B) {
	delta(b, func(l []byte) { _ = json.Unmarshal(l, new(message)) })
}
func BenchmarkJSONExperimentDelta(b *testing.B) {
	delta(b, func(l []byte) { _ = jsonv2.Unmarshal(l, new(message)) })
}

func delta(b *testing.B, decode func([]byte)) {
	all, _ := lines()
	b.ReportAllocs()
	for b.Loop() {
		decode(all[0])
	}
}

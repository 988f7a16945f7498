package api_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// A message of a session arrives in an envelope with its number.
func ExampleDecodeEnvelope() {
	line := []byte(`{"seq":7,"epoch":"e","session_id":"s","ts":"2026-01-01T00:00:00Z","msg":{"type":"notice","severity":"info","text":"hello"}}`)
	e, events, err := api.DecodeEnvelope(new(event.Decoder), line)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Seq, events[0].(*event.Notice).Text)
	// Output: 7 hello
}

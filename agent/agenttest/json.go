package agenttest

import "github.com/seed7221b0f9/parley/agent/event"

// jsonText is the type of JSON texts in events.
type jsonText = event.JSON

// encoded returns v as JSON. The values here can always be encoded.
func encoded(v any) jsonText { return event.Encoded(v) }

package tape

import "encoding/json"

// Line is a line of a recorded JSON-RPC dialogue. Seq orders both directions, T is in seconds.
type Line struct {
	Seq    int             `json:"seq"`
	T      float64         `json:"t"`
	Msg    json.RawMessage `json:"msg"`
	Client bool            `json:"-"`
}

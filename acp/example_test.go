package acp_test

import (
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/acp"
)

// A text block of a prompt.
func ExampleTextBlock() {
	text, err := json.Marshal(acp.TextBlock("hello"))
	fmt.Println(string(text), err)
	// Output: {"type":"text","text":"hello"} <nil>
}

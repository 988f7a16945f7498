package aisdk_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/server/aisdk"
	"github.com/seed7221b0f9/parley/server/parts"
)

func ExampleEncoder() {
	e := aisdk.Encoder{}
	all := e.Begin("turn")
	all = append(all, e.Part(parts.Part{Kind: parts.TextDelta, ID: "m:0", Text: "hi"})...)
	all = append(all, e.Part(parts.Part{Kind: parts.Finish, End: &parts.End{Reason: parts.Stopped}})...)
	for _, part := range all {
		fmt.Println(string(part))
	}
	// Output:
	// {"messageId":"turn","type":"start"}
	// {"delta":"hi","id":"m:0","type":"text-delta"}
	// {"finishReason":"stop","type":"finish"}
}

package agui_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/server/agui"
	"github.com/seed7221b0f9/parley/server/parts"
)

func ExampleEncoder() {
	e := agui.NewEncoder("thread", "run")
	all := e.Begin("")
	all = append(all, e.Part(parts.Part{Kind: parts.TextStart, ID: "m:0"})...)
	all = append(all, e.Part(parts.Part{Kind: parts.Finish, End: &parts.End{Reason: parts.Stopped}})...)
	for _, event := range all {
		fmt.Println(string(event))
	}
	// Output:
	// {"protocolVersion":"1.0","runId":"run","threadId":"thread","type":"RUN_STARTED"}
	// {"messageId":"m:0","role":"assistant","type":"TEXT_MESSAGE_START"}
	// {"messageId":"m:0","type":"TEXT_MESSAGE_END"}
	// {"outcome":{"type":"success"},"runId":"run","threadId":"thread","type":"RUN_FINISHED"}
}

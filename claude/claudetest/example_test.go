package claudetest_test

import (
	"bufio"
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// The fake API streams a reply as the real one does.
func ExampleFakeAPI() {
	api, err := claudetest.NewFakeAPI(claudetest.Replies(claudetest.Say("hello")))
	if err != nil {
		log.Fatal(err)
	}
	defer api.Close()

	// The CLI would ask this when ANTHROPIC_BASE_URL is api.URL().
	request := `{"model":"claude-opus-5-5","max_tokens":1000,"stream":true,"tools":[{"name":"Bash"}],
		"messages":[{"role":"user","content":"Say hello"}]}`
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(api.URL()+"/v1/messages", "application/json", strings.NewReader(request))
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			fmt.Println(name)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("replies left:", api.Unused())
	// Output:
	// message_start
	// content_block_start
	// content_block_delta
	// content_block_stop
	// message_delta
	// message_stop
	// replies left: 0
}

// A script in Go: a rate limit, a turn with a tool, and the answer of a subagent,
// recognized by its system prompt.
func ExampleScript() {
	script := claudetest.Replies(
		claudetest.Fail(429, "rate_limit_error", "slow down").Times(2),
		claudetest.Reply{Blocks: []claudetest.Block{
			claudetest.Thinking("Let me see.").Chunked(4),
			claudetest.Text("I will look."),
			claudetest.ToolUse("Bash", map[string]any{"command": "ls", "description": "list files"}),
		}},
		claudetest.Say("from the helper").When(claudetest.Match{SystemIncludes: "You are a helper"}),
		claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("cut off")}, DropAfter: new(3)},
		claudetest.Say("Done."),
	)
	api, err := claudetest.NewFakeAPI(script)
	if err != nil {
		log.Fatal(err)
	}
	defer api.Close()
	fmt.Println(api.Unused(), "replies")
	// Output: 6 replies
}

// The same format as a file, for scripts that are data.
func ExampleParseScript() {
	script, err := claudetest.ParseScript([]byte(`{"replies":[{"blocks":[{"text":"hello","chunk":2}],"repeat":3}]}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(*script.Replies[0].Blocks[0].Text, script.Replies[0].Repeat)
	_, err = claudetest.ParseScript([]byte(`{"replies":[{"block":[]}]}`))
	fmt.Println(err)
	// Output:
	// hello 3
	// claudetest: script: json: unknown field "block"
}

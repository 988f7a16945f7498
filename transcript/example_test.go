package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"path/filepath"

	"github.com/seed7221b0f9/parley/transcript"
)

// exampleFile is a recorded session in which an agent started another one, which
// started a third.
func exampleFile() *transcript.Session {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "transcripts", "nested", "projects", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		log.Fatal("no recording", err)
	}
	return transcript.File(files[0])
}

// List the sessions of a directory, most recent first.
func ExampleDir_Sessions() {
	ctx := context.Background()
	dir := transcript.Open("") // the directory of the current user's CLI
	for info, err := range dir.Sessions(ctx, transcript.Filter{Dir: ".", Limit: 10}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(info.LastModified.Format("2006-01-02"), info.Summary)
		fmt.Println("  ", info.ResumeCommand())
	}
}

// Read the messages that a resumed session continues with.
func ExampleSession_Conversation() {
	messages, err := exampleFile().Conversation(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range transcript.Join(messages) {
		fmt.Printf("%s: %d blocks in %d lines\n", m.Type, len(m.Blocks()), len(m.Lines))
	}
	// Output:
	// user: 1 blocks in 1 lines
	// assistant: 1 blocks in 1 lines
	// user: 1 blocks in 1 lines
	// assistant: 1 blocks in 1 lines
}

// Read every line of a file; a bad one does not end the iteration.
func ExampleSession_Entries() {
	kinds := map[string]int{}
	for e, err := range exampleFile().Entries(context.Background()) {
		var bad *transcript.LineError
		switch {
		case errors.As(err, &bad):
			fmt.Println("line", bad.Line, "is bad")
		case err != nil:
			log.Fatal(err)
		default:
			kinds[e.Kind()]++
		}
	}
	fmt.Println(kinds["user"], "user lines,", kinds["assistant"], "assistant lines")
	// Output:
	// 2 user lines, 2 assistant lines
}

// Walk the subagents of subagents.
func ExampleSession_Tree() {
	tree, err := exampleFile().Tree(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	var show func(t *transcript.Tree, indent string)
	show = func(t *transcript.Tree, indent string) {
		var walk func(n *transcript.Node)
		walk = func(n *transcript.Node) {
			for _, a := range n.Subagents {
				fmt.Println(indent+a.AgentType, "-", a.Description)
				show(a.Tree, indent+"  ")
			}
			for _, c := range n.Children {
				walk(c)
			}
		}
		for _, r := range t.Roots {
			walk(r)
		}
	}
	show(tree, "")
	// Output:
	// general-purpose - outer
	//   general-purpose - inner
}

// Read the last messages of a session, then the messages before them, without reading more of the
// file than needed.
func ExampleSession_Page() {
	ctx, session := context.Background(), exampleFile()
	q := transcript.PageQuery{Limit: 3}
	for {
		page, err := session.Page(ctx, q)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(page.Messages), "messages")
		if page.More == "" {
			break
		}
		q.From = page.More
	}
	// Output:
	// 3 messages
	// 1 messages
}

// Search the text of all sessions.
func ExampleDir_Search() {
	ctx := context.Background()
	q := transcript.Query{Text: "deadlock", Roles: []transcript.Role{transcript.RoleAssistant}, Hits: 5}
	for hit, err := range transcript.Open("").Search(ctx, q) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(hit.Snippet)
		fmt.Println("  ", hit.Resume)
	}
}

// Fork a session at a message, to continue from there in another way.
func ExampleDir_Fork() {
	ctx, dir := context.Background(), transcript.Open("")
	session, err := dir.Session("350d4477-5c09-4e94-8c8b-afd2616c048e")
	if errors.Is(err, transcript.ErrNoSession) {
		return
	}
	page, err := session.Page(ctx, transcript.PageQuery{Limit: 2})
	if err != nil {
		log.Fatal(err)
	}
	fork, err := dir.Fork(ctx, session.ID, &transcript.ForkOptions{UpTo: page.Messages[0].UUID, Title: "another try"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("claude --resume", fork.ID)
}

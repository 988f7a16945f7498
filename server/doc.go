// Package server serves sessions of coding agents to any number of viewers, over HTTP, WebSocket and server-sent events,
// and as ACP, AG-UI, AI SDK and MCP.
//
// [New] makes a [Server] from agents, a log and a directory; [Server.Serve] serves it on a listener until its context
// ends, and then drains it:
//
//	store, err := eventlog.Open(ctx, &eventlog.Options{Dir: "data/log"})
//	if err != nil {
//		return err
//	}
//	defer store.Close(context.Background())
//	s, err := server.New(ctx, server.Options{
//		Providers:   []agent.Provider{&claudeagent.Provider{}},
//		Store:       store,
//		Dir:         "data/server",
//		Directories: []string{"/src"}, // where sessions may run
//	})
//	if err != nil {
//		return err
//	}
//	listener, err := net.Listen("tcp", "127.0.0.1:7717")
//	if err != nil {
//		return err
//	}
//	fmt.Println("token:", s.Token())
//	return s.Serve(ctx, listener)
//
// Package client calls it from Go. [Methods] lists its methods and [OpenAPI] describes them; docs/reference/methods.md has
// both in words.
//
// # Sessions
//
// A session has one owner, a goroutine that holds its agent, its conversation and its log of numbered messages. Viewers
// read the log: a viewer can neither end nor delay a session. A session whose agent is idle for longer than
// [Options].IdleTimeout keeps its log and loses its process; the next prompt resumes it.
//
// # Durability
//
// An input, a person's answer, a complete message and the end of a turn are on disk before they are
// acknowledged or shown. Deltas are shown at once and saved at an interval (Options.DeltaInterval):
// after a crash, the saved part of an unfinished answer is kept and marked incomplete. Every
// durable message has a number, contiguous from 1; a delta has the number of the message before it
// and a counter. The fold of a snapshot and the later messages equals the fold of everything, and
// deltas have no effect on it once their message is complete.
//
// # After a crash
//
// The running turn is interrupted, and session.continue continues it. The requests of the old agent
// have expired; answering them is a conflict. An input that was passed to the agent is searched in
// the agent's files; if they do not show it, its status is unknown and a person decides. The queue
// is held until a person releases it. No agent is started automatically.
//
// # Access
//
// Every request is checked for its Host, then its Origin, then its token. Tokens have a role: a
// viewer looks, an operator runs sessions and answers requests, an admin manages tokens. A link
// shows one session to its holder. The absence of a person never allows a request.
package server

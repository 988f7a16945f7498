// Package agent defines the interfaces between a server and a coding agent, with the events of
// package agent/event.
//
// A [Provider] starts sessions of one kind of agent: Claude Code, Codex, an agent that speaks ACP,
// the simulated agent. A [Session] is one running agent. Both interfaces are small: they contain
// the features of every agent. Everything else is an optional interface that a provider or a
// session implements if its agent has the feature:
//
//	Provider  Resumer, Catalog, HistoryKeeper, UsageReporter, Witness, LiveFinder,
//	          LiveLister, Follower, Measurer, Sweeper, Simulator, Authenticator, KeyProxied
//	Session   ModelSetter, ModeSetter, ThinkingSetter, EffortSetter, Forker, Rewinder,
//	          Backgrounder, TaskController, ContextReporter, MCPController, Catalog, Titler,
//	          Tuner, Reacher
//
// [CapabilitiesOf] derives the capabilities of a session from its interfaces, so a listed
// capability can be called. A caller that needs a missing feature reports [ErrUnsupported]; an
// implementation never reports success for a call that it cannot perform.
//
// # Events
//
// [Session.Events] yields all events in order, with Header.Provider set. Each sent prompt occurs
// once, as a *event.UserMessage with IsPrompt and the UUID of its [Input]. A request to a person is
// a *event.PermissionRequest or a *event.QuestionRequest; it stays open until [Session.Answer] is
// called or the agent withdraws it, and in both cases the event that resolves it follows. A turn
// ends with a *event.ResultMessage. The iterator ends after the agent, when every open block and
// message has been stopped.
//
// An implementation blocks its agent only on the consumer of Events: an open request does not delay
// other events.
//
// # Contexts
//
// The context of [Provider.Open] and [Resumer.Resume] bounds starting only. The context of a method
// bounds that call. [Session.Close] has its own timeout and returns when the agent's processes have
// exited. All methods may be called from any goroutine.
//
// Package agenttest has an acceptance suite for providers and a scripted provider for
// tests.
package agent

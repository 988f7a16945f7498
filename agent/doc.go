// Package agent describes what a server needs of a coding agent, in the events of
// package ui.
//
// A [Provider] starts sessions of one kind of agent: Claude Code, Codex, an agent that
// speaks ACP, the simulated agent. A [Session] is one running agent. Both interfaces are
// small: they hold what every agent can do. Everything else is an optional interface that
// a provider or a session implements where its agent has the feature:
//
//	Provider  Resumer, Catalog, HistoryKeeper, UsageReporter, Witness, LiveFinder,
//	          LiveLister, Follower, Sweeper, Simulator, Authenticator, KeyProxied
//	Session   ModelSetter, ModeSetter, ThinkingSetter, EffortSetter, Forker, Rewinder,
//	          Backgrounder, TaskController, ContextReporter, MCPController, Catalog, Titler,
//	          Tuner, Reacher
//
// [CapabilitiesOf] derives what a session can do from the interfaces it implements, so a
// capability that is shown is one that can be called. A caller that needs a missing
// feature reports [ErrUnsupported]; no implementation answers a call that it cannot carry
// out with success.
//
// # Events
//
// [Session.Events] yields everything that happens, in order, with Header.Provider set. The
// prompts that were sent are among the events, each once, as a *event.UserMessage with
// IsPrompt and the UUID of its [Input]. A request to a person is a *event.PermissionRequest or
// a *event.QuestionRequest; it stays open until [Session.Answer] was called or the agent
// withdrew it, and either way the event that resolves it follows. A turn ends with a
// *event.ResultMessage. The iterator ends when the agent has ended, after every block and
// message that was open has been stopped.
//
// An implementation never blocks its agent on anything but the consumer of Events: an
// open request does not keep other events from coming.
//
// # Contexts
//
// The context of [Provider.Open] and [Resumer.Resume] bounds starting only. The context of
// a method bounds that call. [Session.Close] has a bound of its own and returns when the
// agent's processes are gone. All methods may be called from any goroutine.
//
// Package agenttest has an acceptance suite for providers and a scripted provider for
// tests.
package agent

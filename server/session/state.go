package session

import "fmt"

// State is the current state of a session, as shown in lists and reported to clients.
type State string

// The states of a session. A table of transitions tests which of them can follow each other.
const (
	Starting       State = "starting"        // its agent is being started or waits for a place
	Idle           State = "idle"            // it waits for input; its agent may be evicted
	Running        State = "running"         // a turn runs
	RequiresAction State = "requires_action" // a turn runs and waits for a person
	Interrupted    State = "interrupted"     // the agent died during a turn; one call continues
	Draining       State = "draining"        // the server stops; the session resumes after it
	Failed         State = "failed"          // the agent could not be started
	Ended          State = "ended"           // it was disconnected; a query starts it again
	LostHost       State = "lost_host"       // another server owns it now
)

// occurrence is a cause of a state change.
type occurrence string

const (
	onStart     occurrence = "start"     // an agent is needed
	onStarted   occurrence = "started"   // the agent has started
	onFailed    occurrence = "failed"    // the agent could not be started
	onSend      occurrence = "send"      // an input is sent to the agent
	onAsk       occurrence = "ask"       // the agent asks a person
	onAnswered  occurrence = "answered"  // no request is open any more
	onResult    occurrence = "result"    // the turn ended
	onDied      occurrence = "died"      // the agent or its server died
	onEvict     occurrence = "evict"     // the agent was ended to make room
	onEnd       occurrence = "end"       // the session was disconnected
	onDrain     occurrence = "drain"     // the server stops
	onLost      occurrence = "lost"      // another server writes the log
	onRecovered occurrence = "recovered" // a server has read the log after a clean stop
)

// transitions is the state machine of a session: the state after an occurrence. Occurrences that
// are not in the table are impossible; see next.
var transitions = map[State]map[occurrence]State{
	Starting: {
		onStart: Starting, onStarted: Idle, onFailed: Failed, onDied: Failed, onEnd: Ended, onDrain: Draining, onLost: LostHost, onRecovered: Idle,
	},
	Idle: {
		onStart: Starting, onStarted: Idle, onSend: Running, onResult: Idle, onDied: Idle, onEvict: Idle, onEnd: Ended,
		onDrain: Draining, onLost: LostHost, onAsk: RequiresAction, onAnswered: Idle, onRecovered: Idle,
	},
	Running: {
		onSend: Running, onAsk: RequiresAction, onAnswered: Running, onResult: Idle, onDied: Interrupted, onEnd: Ended,
		onDrain: Draining, onLost: LostHost,
	},
	RequiresAction: {
		onSend: RequiresAction, onAsk: RequiresAction, onAnswered: Running, onResult: Idle, onDied: Interrupted, onEnd: Ended,
		onDrain: Draining, onLost: LostHost,
	},
	Interrupted: {onStart: Starting, onEnd: Ended, onDrain: Interrupted, onLost: LostHost, onRecovered: Interrupted, onDied: Interrupted},
	Draining:    {onRecovered: Idle, onEvict: Draining, onResult: Draining, onAsk: Draining, onAnswered: Draining, onDied: Interrupted, onEnd: Ended, onLost: LostHost, onDrain: Draining},
	Failed:      {onStart: Starting, onEnd: Ended, onDrain: Failed, onLost: LostHost, onRecovered: Failed, onDied: Failed},
	Ended:       {onStart: Starting, onEvict: Ended, onEnd: Ended, onDrain: Ended, onLost: LostHost, onRecovered: Ended, onDied: Ended},
	LostHost:    {onLost: LostHost, onEvict: LostHost, onDrain: LostHost, onEnd: LostHost, onDied: LostHost},
}

// next returns the state after an occurrence, and an error if it cannot happen in s.
func (s State) next(o occurrence) (State, error) {
	to, ok := transitions[s][o]
	if !ok {
		return s, fmt.Errorf("server: %s in state %s", o, s)
	}
	return to, nil
}

// busy reports whether a turn is running.
func (s State) busy() bool { return s == Running || s == RequiresAction }

// asking returns the state that follows s when the session has open requests to a person, or has no more: only a running turn can
// wait for a person.
func (s State) asking(open bool) State {
	switch {
	case !s.busy():
		return s
	case open:
		return RequiresAction
	}
	return Running
}

// unfinished reports whether a session in this state needs repair if no server has it in memory.
func (s State) unfinished() bool { return s.busy() || s == Starting || s == Draining }

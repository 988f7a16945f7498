package host

import (
	"encoding/json"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// The operations of a request.
const (
	opHello      = "hello"
	opSpawn      = "spawn"
	opAttach     = "attach"
	opList       = "list"
	opCheckpoint = "checkpoint"
	opInput      = "input"
	opSignal     = "signal"
	opCloseInput = "close_input"
	opOrphan     = "orphan"
	opForget     = "forget"
	opStop       = "stop"
	opCall       = "call"   // only through a relay
	opDial       = "dial"   // only through a relay
	opCancel     = "cancel" // of a call or a dial; it has no answer
)

// The signals of a request.
const (
	signalTerminate = "terminate"
	signalKill      = "kill"
)

// request is a request of an owner. Each operation uses some of its members.
type request struct {
	ID      uint64          `json:"id"`
	Op      string          `json:"op"`
	Version int             `json:"version,omitempty"` // hello: the highest version of the owner
	Epoch   uint64          `json:"epoch,omitempty"`   // hello
	Agent   uint32          `json:"agent,omitempty"`
	Window  int64           `json:"window,omitempty"` // spawn, attach: bytes of records that may be sent before a grant
	From    uint64          `json:"from,omitempty"`   // attach: the first number; 0 means all that are kept
	Command *spawn.Command  `json:"command,omitempty"`
	Launch  *Launch         `json:"launch,omitempty"`  // spawn, instead of a command, through a relay
	Options *AgentOptions   `json:"options,omitempty"` // spawn, orphan
	Number  uint64          `json:"number,omitempty"`  // checkpoint
	State   []byte          `json:"state,omitempty"`   // checkpoint
	Input   string          `json:"input,omitempty"`   // input: the id of a line
	Signal  string          `json:"signal,omitempty"`
	Method  string          `json:"method,omitempty"` // call
	Params  json.RawMessage `json:"params,omitempty"` // call
	Call    uint64          `json:"call,omitempty"`   // cancel: the id of the call
}

// answer is the host's answer to a request.
type answer struct {
	ID      uint64     `json:"id"`
	Failure *failure   `json:"error,omitempty"`
	Version int        `json:"version,omitempty"`
	Info    *Info      `json:"host,omitempty"`
	Agent   *Agent     `json:"agent,omitempty"`
	Agents  []Agent    `json:"agents,omitempty"`
	State   []byte     `json:"state,omitempty"`
	Input   *InputInfo `json:"input,omitempty"`

	result []byte // of a call, from frames of its parts
}

// notice is a message of the host to the owner about an agent.
type notice struct {
	Agent uint32     `json:"agent"`
	Input *InputInfo `json:"input,omitempty"`
	Exit  *Exit      `json:"exit,omitempty"`
}

// Info describes a host.
type Info struct {
	// ID distinguishes the host from other hosts of the data directory.
	ID      string
	PID     int
	Started time.Time
	// Epoch is the epoch of the last owner; Owned reports whether it is connected.
	Epoch uint64
	Owned bool
}

// Agent describes an agent of the host.
type Agent struct {
	// Number identifies the agent. It is never reused in the data directory.
	Number uint32
	// Key is the owner's name for the agent; see AgentOptions.
	Key string
	// Path and Dir are those of the command. Arguments and environment are not kept.
	Path, Dir string
	PID       int
	Started   time.Time
	// Kept is the first kept number, Last the last one. Kept is Last+1 if no records are kept.
	Kept, Last uint64
	// Checkpoint is the number of the last checkpoint.
	Checkpoint uint64
	// Spooled is the number of bytes in files; Waits reports whether the agent is blocked because
	// the files have reached their limit or cannot be written.
	Spooled int64
	Waits   bool
	// Memory is the resident memory of the agent and its descendants in bytes, or 0 if it is unknown. It is set
	// only in lists.
	Memory        int64
	OrphanTimeout time.Duration
	// Exit is set if the agent has ended.
	Exit *Exit
}

// AgentOptions configures how the host treats an agent.
type AgentOptions struct {
	// Key is the owner's name for the agent, at most 4 KiB.
	Key string
	// OrphanTimeout is how long the agent runs without an owner; 0 means the host's default.
	OrphanTimeout time.Duration
	// OrphanInput is written to the agent after OrphanTimeout, 30 seconds before the agent is ended; at most 64
	// KiB.
	OrphanInput []byte
	// KeepChildren spares the agent's descendants when it exits. It disables the supervisor.
	KeepChildren bool
}

// InputState is the state of a line to an agent.
type InputState string

// The states of a line to an agent.
const (
	// InputUnknown: the host has no line with this id, or a checkpoint has covered it.
	InputUnknown InputState = "unknown"
	// InputQueued: the line is in the sequence and will be written when the agent reads.
	InputQueued InputState = "queued"
	// InputWritten: the line was written to the agent's input.
	InputWritten InputState = "written"
	// InputDropped: the line did not reach the agent completely.
	InputDropped InputState = "lost"
)

// InputInfo is the host's information about a line to an agent.
type InputInfo struct {
	ID     string
	Number uint64 // 0 if unknown
	State  InputState
	// Refused is the reason why the policy of another machine has dropped the line, or "".
	Refused string `json:",omitempty"`
	// NotKept is the reason why the host could not store the line, or "". Such a line is not in the
	// sequence.
	NotKept string `json:",omitempty"`
}

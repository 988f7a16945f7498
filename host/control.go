package host

import (
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
)

// The signals of a request.
const (
	signalTerminate = "terminate"
	signalKill      = "kill"
)

// request is what an owner asks. Each operation uses a part of it.
type request struct {
	ID      uint64         `json:"id"`
	Op      string         `json:"op"`
	Version int            `json:"version,omitempty"` // hello: the highest that the owner speaks
	Epoch   uint64         `json:"epoch,omitempty"`   // hello
	Agent   uint32         `json:"agent,omitempty"`
	Window  int64          `json:"window,omitempty"` // spawn, attach: bytes of records that may be sent before a grant
	From    uint64         `json:"from,omitempty"`   // attach: the first number; 0 for all that are kept
	Command *spawn.Command `json:"command,omitempty"`
	Options *AgentOptions  `json:"options,omitempty"` // spawn, orphan
	Number  uint64         `json:"number,omitempty"`  // checkpoint
	State   []byte         `json:"state,omitempty"`   // checkpoint
	Input   string         `json:"input,omitempty"`   // input: the id of a line
	Signal  string         `json:"signal,omitempty"`
}

// answer is what the host answers to a request.
type answer struct {
	ID      uint64     `json:"id"`
	Failure *failure   `json:"error,omitempty"`
	Version int        `json:"version,omitempty"`
	Info    *Info      `json:"host,omitempty"`
	Agent   *Agent     `json:"agent,omitempty"`
	Agents  []Agent    `json:"agents,omitempty"`
	State   []byte     `json:"state,omitempty"`
	Input   *InputInfo `json:"input,omitempty"`
}

// notice is what the host tells the owner of an agent.
type notice struct {
	Agent uint32     `json:"agent"`
	Input *InputInfo `json:"input,omitempty"`
	Exit  *Exit      `json:"exit,omitempty"`
}

// Info describes a host.
type Info struct {
	// ID tells the host from others that the data directory has had.
	ID      string
	PID     int
	Started time.Time
	// Epoch is that of the last owner, Owned whether it is connected.
	Epoch uint64
	Owned bool
}

// Agent describes an agent of the host.
type Agent struct {
	// Number names the agent. It is not used again in the data directory.
	Number uint32
	// Key is the owner's own name for the agent, see AgentOptions.
	Key string
	// Path and Dir are those of the command. Arguments and environment are not kept.
	Path, Dir string
	PID       int
	Started   time.Time
	// Kept is the first number that is kept, Last the last one. Kept is Last+1 when nothing is.
	Kept, Last uint64
	// Checkpoint is the number of the last checkpoint.
	Checkpoint uint64
	// Spooled is how many bytes are kept in files, Waits whether the agent waits because they have reached their
	// limit or cannot be written.
	Spooled int64
	Waits   bool
	// Memory is the resident memory of the agent and of what it started in bytes, 0 if it is not known. It is set
	// in lists.
	Memory        int64
	OrphanTimeout time.Duration
	// Exit is set when the agent has ended.
	Exit *Exit
}

// AgentOptions are how the host treats an agent.
type AgentOptions struct {
	// Key is any name that the owner will know the agent by, at most 4 KiB.
	Key string
	// OrphanTimeout is how long the agent runs without an owner; 0 means that of the host.
	OrphanTimeout time.Duration
	// OrphanInput is written to the agent when that time is over, 30 seconds before it is ended; at most 64 KiB.
	OrphanInput []byte
	// KeepChildren leaves alone what the agent has started when it exits. There is no supervisor then.
	KeepChildren bool
}

// InputState is what became of a line to an agent.
type InputState string

// The states of a line to an agent.
const (
	// InputUnknown: the host has no line with this id, or a checkpoint has covered it.
	InputUnknown InputState = "unknown"
	// InputQueued: the line is in the sequence and is written when the agent reads.
	InputQueued InputState = "queued"
	// InputWritten: the line is in the agent's input.
	InputWritten InputState = "written"
	// InputDropped: the line has not reached the agent, or not as a whole.
	InputDropped InputState = "lost"
)

// InputInfo is what the host knows of a line to an agent.
type InputInfo struct {
	ID     string
	Number uint64 // 0 if it is not known
	State  InputState
}

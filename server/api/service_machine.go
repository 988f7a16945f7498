package api

// The states of a machine.
const (
	MachineReachable   = "reachable"
	MachineUnreachable = "unreachable"
)

// Machine is a machine that has joined the server since its start, to run agents.
type Machine struct {
	Name        string   `json:"name"`
	State       string   `json:"state"` // reachable, unreachable
	Since       string   `json:"since"` // the time of the last change of State
	System      string   `json:"system,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	Agents      []string `json:"agents"`
	Directories []string `json:"directories"` // below which sessions can run
	Slots       int64    `json:"slots,omitempty"`
	MaxMode     string   `json:"max_mode,omitempty"` // the permission mode that no session exceeds
	Box         string   `json:"box,omitempty"`
	Token       string   `json:"token,omitempty"` // the id of its token; tokens.revoke shuts the machine out
}

// MachinesListResult lists the machines in the order of their names.
type MachinesListResult struct {
	Machines []Machine `json:"machines"`
}

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

// The states of a server of a cluster.
const (
	NodeUp       = "up"
	NodeDraining = "draining" // it gives its sessions to the others
	NodeDrained  = "drained"  // it has given all away
)

// Node is a server of a cluster.
type Node struct {
	Name     string `json:"name"`              // in the cluster
	Machine  string `json:"machine"`           // the name of its machine
	Address  string `json:"address,omitempty"` // where clients reach it
	Version  string `json:"version"`
	State    string `json:"state"`             // up, draining, drained
	Started  string `json:"started"`           // when it joined the cluster
	Seen     string `json:"seen"`              // when it reported last
	Sessions int64  `json:"sessions"`          // that it owns
	Hosts    int64  `json:"hosts"`             // hosts and joined machines that it owns
	Serving  bool   `json:"serving,omitempty"` // it has answered this call
}

// NodesListResult lists the servers that run, in the order of their machines and names.
type NodesListResult struct {
	Nodes []Node `json:"nodes"`
}

// NodesForgetParams names a machine that is gone.
type NodesForgetParams struct {
	Machine string `json:"machine"`
}

// NodesForgetResult has the number of hosts on the machine.
type NodesForgetResult struct {
	Hosts int64 `json:"hosts"`
}

// NodesDrainParams names a server of the cluster.
type NodesDrainParams struct {
	Name string `json:"name"`
}

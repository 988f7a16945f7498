package message

// ElicitationAction is the answer to a question of an MCP server. The set is
// open.
type ElicitationAction string

// The answers that are known.
const (
	ElicitationAccept  ElicitationAction = "accept"
	ElicitationDecline ElicitationAction = "decline" // the user said no
	ElicitationCancel  ElicitationAction = "cancel"  // the user said nothing
)

// ElicitationMode says how a question of an MCP server is put. The set is open.
type ElicitationMode string

// The modes that are known.
const (
	ElicitationForm ElicitationMode = "form" // the answer has the fields of a schema
	ElicitationURL  ElicitationMode = "url"  // the user is sent to an address
)

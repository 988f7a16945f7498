package message

// ElicitationAction is the kind of answer that a user gave to a question of an MCP server. The
// set is open: a newer CLI may send values that have no constant here.
type ElicitationAction string

// The answers that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	ElicitationAccept  ElicitationAction = "accept"
	ElicitationDecline ElicitationAction = "decline" // the user refused to answer
	ElicitationCancel  ElicitationAction = "cancel"  // the user dismissed the question
)

// ElicitationMode is the way in which an MCP server asks the user. The set is open: a newer CLI
// may send values that have no constant here.
type ElicitationMode string

// The modes that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	ElicitationForm ElicitationMode = "form" // the answer has the fields of a schema
	ElicitationURL  ElicitationMode = "url"  // the user is sent to an address
)

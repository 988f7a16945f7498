package claude

import (
	"context"
	"errors"
	"slices"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// UserDialogRequest is a dialog that the CLI asks to show, of one of the kinds in
// [Options.SupportedDialogKinds]. It is read-only.
type UserDialogRequest struct {
	DialogKind string       `json:"dialog_kind"`
	Payload    message.JSON `json:"payload"` // an object with a shape that depends on the kind
	// ToolUseID is the id of the call that the dialog belongs to, if any.
	ToolUseID string `json:"tool_use_id"`
	// RequestID is the argument for [Client.AnswerUserDialog].
	RequestID string `json:"-"`

	raw message.JSON
}

// Raw returns the request as the CLI sent it, including members that have no field in this
// type.
func (d *UserDialogRequest) Raw() message.JSON { return d.raw }

// UserDialogResult answers a [UserDialogRequest]: Result is the user's choice, a JSON
// value with a shape that depends on the kind; Cancelled means that the user dismissed the
// dialog, and the CLI uses its default. One of them must be set.
type UserDialogResult struct {
	Result    message.JSON
	Cancelled bool
}

// userDialog answers dialogs of the declared kinds. It leaves other kinds unanswered:
// another host may know them, and any answer, even an error, would count as that host's.
func (r *responder) userDialog(ctx context.Context, req control.Request) ([]byte, error) {
	d := new(UserDialogRequest)
	_ = jsonwire.Unmarshal(req.Body, d) // cannot fail; members of other types stay in Raw
	d.RequestID, d.raw = req.ID, message.JSON(req.Body)
	if r.launch.OnUserDialog == nil || !slices.Contains(r.launch.SupportedDialogKinds, d.DialogKind) {
		return nil, control.ErrNoAnswer
	}
	return answerNowOrLater(ctx, r, req, encodeDialog, func() (*UserDialogResult, error) { return r.launch.OnUserDialog(ctx, d) })
}

// encodeDialog returns the answer of r in the CLI's form.
func encodeDialog(r *UserDialogResult) ([]byte, error) {
	switch {
	case r == nil || r.Result == "" && !r.Cancelled:
		return nil, errors.New("claude: OnUserDialog gave no answer")
	case r.Result != "" && r.Cancelled:
		return nil, errors.New("claude: UserDialogResult has a Result and is Cancelled")
	case r.Cancelled:
		return []byte(`{"behavior":"cancelled"}`), nil
	case jsonwire.NewDecoder(string(r.Result)).Kind() == 'n' || !validJSON(r.Result):
		return nil, errors.New("claude: UserDialogResult.Result is null or not JSON")
	}
	return jsonwire.Marshal(map[string]any{"behavior": "completed", "result": r.Result})
}

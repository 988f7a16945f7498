package claude

import (
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// OnFailureError is returned when hooks with hook.OnFailure [hook.Block] would not block: the
// CLI does not support the option, or serves an already running session that did not accept
// the hooks. It matches [ErrUnsupported].
type OnFailureError struct {
	Known   bool // the CLI supports the option
	Applied bool // the CLI accepted the hooks
}

func (e *OnFailureError) Error() string {
	if !e.Known {
		return "claude: the CLI does not know OnFailure: Block, so that a hook that fails would not block"
	}
	return "claude: the CLI did not take the hooks, so that one with OnFailure: Block would never run"
}

// Is reports whether target is [ErrUnsupported], which callers can test for instead of this
// type.
func (e *OnFailureError) Is(target error) bool { return target == ErrUnsupported }

// hooksRefused returns the reason why the answer to initialize is not sufficient for the
// hooks, or nil.
func hooksRefused(e control.Ended, t *hook.Table) error {
	if !t.Blocks {
		return nil
	}
	var info struct {
		HooksApplied           *bool `json:"hooks_applied"`
		HookOnFailureSupported bool  `json:"hook_on_failure_supported"`
	}
	answer, err := e.Outcome()
	if err != nil {
		return err
	}
	// An invalid answer does not confirm that hooks block.
	_ = jsonwire.Unmarshal(answer.Body, &info)
	refused := &OnFailureError{Known: info.HookOnFailureSupported, Applied: info.HooksApplied == nil || *info.HooksApplied}
	if refused.Known && refused.Applied {
		return nil
	}
	return refused
}

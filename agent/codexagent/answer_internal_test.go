package codexagent

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/ui"
)

// An answer fits requests of its own kind and no others: an allow never answers a question.
func TestFits(t *testing.T) {
	kinds := []string{ui.PermissionTool, ui.PermissionProfile, ui.QuestionAsk, ui.QuestionElicitation, "new"}
	for _, tt := range []struct {
		answer agent.Answer
		fits   map[string]bool
	}{
		{&agent.PermissionAnswer{Allow: true}, map[string]bool{ui.PermissionTool: true, ui.PermissionProfile: true}},
		{&agent.QuestionAnswer{}, map[string]bool{ui.QuestionAsk: true}},
		{&agent.ElicitationAnswer{}, map[string]bool{ui.QuestionElicitation: true}},
		{&agent.PlanAnswer{}, nil},
	} {
		for _, kind := range kinds {
			if got := fits(kind, tt.answer); got != tt.fits[kind] {
				t.Errorf("a %T answers %s: %v", tt.answer, kind, got)
			}
		}
	}
}

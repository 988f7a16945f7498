package agentkit

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// TestFits checks that an answer fits only requests of its kind, so that an allow never answers a
// question.
func TestFits(t *testing.T) {
	kinds := []string{event.PermissionTool, event.PermissionProfile, event.PermissionPlan, event.QuestionAsk, event.QuestionElicitation, "new"}
	for _, tt := range []struct {
		answer agent.Answer
		fits   map[string]bool
	}{
		{&agent.PermissionAnswer{Allow: true}, map[string]bool{event.PermissionTool: true, event.PermissionProfile: true}},
		{&agent.QuestionAnswer{}, map[string]bool{event.QuestionAsk: true}},
		{&agent.ElicitationAnswer{}, map[string]bool{event.QuestionElicitation: true}},
		{&agent.PlanAnswer{}, map[string]bool{event.PermissionPlan: true}},
		{nil, nil},
	} {
		for _, kind := range kinds {
			if got := fits(kind, tt.answer); got != tt.fits[kind] {
				t.Errorf("a %T answers %s: %v", tt.answer, kind, got)
			}
		}
	}
}

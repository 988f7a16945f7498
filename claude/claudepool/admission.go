package claudepool

import (
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/admission"
)

// Admission bounds how many CLIs run at once, fairly among tenants; [claude.Options] takes one. It
// may be shared by everything in a program.
//
// Acquire waits for places and returns the function that releases them, TryAcquire never waits,
// State returns a snapshot, and Close ends the waiting with [claude.ErrClosed].
type Admission = admission.Admission

// AdmissionWaiting is a caller that waits for places of an [Admission].
type AdmissionWaiting = admission.Waiting

// AdmissionState is a snapshot of an [Admission]: its places, those that are held, and who waits.
type AdmissionState = admission.State

// NewAdmission returns an Admission with this number of places. Fewer than one count as one.
func NewAdmission(places int64) *Admission { return admission.New(places, claude.ErrClosed, nil) }

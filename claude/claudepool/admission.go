package claudepool

import (
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/admission"
)

// Admission limits the number of concurrent CLIs, fairly among tenants; see [claude.Options]. A
// program may share one between all its sessions and pools.
//
// Acquire waits for places and returns the function that releases them, TryAcquire never waits,
// State returns a snapshot, and Close makes waiting calls return [claude.ErrClosed].
type Admission = admission.Admission

// AdmissionWaiting is a caller waiting for places of an [Admission].
type AdmissionWaiting = admission.Waiting

// AdmissionState is a snapshot of an [Admission]: its places, the held ones, and the waiting
// callers.
type AdmissionState = admission.State

// NewAdmission returns an Admission with this number of places. Values below 1 mean 1.
func NewAdmission(places int64) *Admission { return admission.New(places, claude.ErrClosed, nil) }

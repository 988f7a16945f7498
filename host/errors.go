package host

import (
	"errors"
	"fmt"
)

var (
	// ErrFenced is returned when an owner with a higher epoch has taken over, now or before.
	ErrFenced = errors.New("host: another owner has a higher epoch")
	// ErrLinkLost is returned by all calls on a [Link] that has ended, and on its processes. The agents
	// continue.
	ErrLinkLost = errors.New("host: the connection to the host has ended")
	// ErrNoAgent is returned for the number of an agent that the host does not know, or has forgotten.
	ErrNoAgent = errors.New("host: no such agent")
	// ErrGone is returned for a request of lines that a checkpoint has covered.
	ErrGone = errors.New("host: the lines are covered by a checkpoint")
	// ErrInputClosed is returned for a line to an agent whose input is closed, or that has ended.
	ErrInputClosed = errors.New("host: the input of the agent is closed")
	// ErrNotKept is returned for a line to an agent that the host could not store, because its disk is full or fails. The agent does not
	// get the line.
	ErrNotKept = errors.New("host: the line cannot be stored")
	// ErrRunning is returned if the data directory already has a host.
	ErrRunning = errors.New("host: a host runs for this data directory")
	// ErrNotRunning is returned if the data directory has no host.
	ErrNotRunning = errors.New("host: no host runs for this data directory")
	// ErrVersion is returned if the host and this program have no common version of the protocol.
	ErrVersion = errors.New("host: unknown version of the protocol")
	// ErrRefused is returned for a request that the host refuses, with its reason.
	ErrRefused = errors.New("host: refused")
)

// codes are the errors with a name in the protocol.
var codes = map[string]error{
	"fenced": ErrFenced, "no_agent": ErrNoAgent, "gone": ErrGone, "input_closed": ErrInputClosed, "version": ErrVersion,
}

// failure is an error in an answer.
type failure struct {
	Code  string `json:"code,omitempty"`
	Text  string `json:"text"`
	Path  string `json:"path,omitempty"` // this and the next three: of a program that could not be started
	Dir   string `json:"dir,omitempty"`
	Start string `json:"start,omitempty"`
	Errno int    `json:"errno,omitempty"`
}

// failureOf encodes an error for the other side.
func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error()}
	for code, known := range codes {
		if errors.Is(err, known) {
			f.Code = code
		}
	}
	f.fromStart(err)
	return f
}

// error decodes the error of the other side.
func (f *failure) error() error {
	if f == nil {
		return nil
	}
	if err := f.startError(); err != nil {
		return err
	}
	if known := codes[f.Code]; known != nil {
		return known
	}
	return fmt.Errorf("%w: %s", ErrRefused, f.Text)
}

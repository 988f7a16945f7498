package join

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

var (
	// ErrConfig is returned for an invalid configuration.
	ErrConfig = errors.New("join: invalid configuration")
	// ErrJoined is returned if another process has joined the server with the same data directory.
	ErrJoined = errors.New("join: another process has joined this server with the same data directory")
	// ErrUnresponsive is the error of a link whose peer does not answer a ping in time.
	ErrUnresponsive = errors.New("join: the server does not answer")
)

// StatusError is the HTTP response of a server that does not open a link.
type StatusError struct {
	Status  int
	Message string // the server's message, or ""
}

func (e *StatusError) Error() string {
	text := e.Message
	if text == "" {
		text = strings.ToLower(http.StatusText(e.Status))
	}
	return fmt.Sprintf("the server answers %d: %s", e.Status, text)
}

// Permanent reports whether further attempts with the same token are useless.
func (e *StatusError) Permanent() bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
}

// maxProblem limits the size of an error response in bytes.
const maxProblem = 4 << 10

// statusError reads the error response of a server: a message in JSON, or a short text.
func statusError(resp *http.Response) *StatusError {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem)) // without a body the error has only the status
	e := &StatusError{Status: resp.StatusCode}
	var problem struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Detail string `json:"detail"`
		Title  string `json:"title"`
	}
	if json.Unmarshal(body, &problem) == nil {
		for _, text := range []string{problem.Error.Message, problem.Detail, problem.Title} {
			if e.Message == "" {
				e.Message = text
			}
		}
	}
	return e
}

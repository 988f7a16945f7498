// Package export writes sessions in forms to keep and to share: Markdown, a self-contained HTML
// file, JSON.
//
// It exports the conversation that [transcript.Session.Conversation] returns, with the
// conversations of subagents inside the calls that started them. With Options.Redact it removes
// secrets and personal data before any other step.
package export

import (
	"context"
	"fmt"
	"io"

	"github.com/seed7221b0f9/parley/transcript"
)

// Format is an output format of [Write].
type Format string

// The formats that [Write] supports. The command uses the same names.
const (
	Markdown Format = "markdown"
	HTML     Format = "html" // one file without external resources and scripts
	JSON     Format = "json" // an object: session, messages, subagents
)

// Formats lists all formats in display order. It must not be modified.
var Formats = []Format{Markdown, HTML, JSON}

// Extension returns the file name extension of this format, with the dot: .md, .html or .json.
func (f Format) Extension() string {
	if f == Markdown {
		return ".md"
	}
	return "." + string(f)
}

// Options configures an export. A nil pointer is the zero value, which exports the whole
// conversation.
type Options struct {
	System      bool // include the CLI's notes: compactions, slash commands, errors of the API
	NoThinking  bool // omit thinking
	NoTools     bool // omit tools and their results
	NoSubagents bool // omit the conversations of subagents
	// Redact removes secrets and personal data: keys, tokens, credentials, addresses, home
	// directories. It recognizes them by their shape, by the names before them, and by Secrets.
	Redact  bool
	Secrets []string
}

// contextWriter writes until its context ends and then returns the context's error.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

// Write writes p unless the context has ended.
func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// Write writes a session in a format. It writes no output if the session cannot be read, and stops
// when ctx ends. Memory and time are linear in the size of the session: a text that is too large or
// too complex to render as HTML is written as plain text, and code that takes the highlighter too
// long is not highlighted.
func Write(ctx context.Context, w io.Writer, s *transcript.Session, format Format, opts *Options) error {
	if opts == nil {
		opts = &Options{}
	}
	doc, err := newDocument(ctx, s, opts)
	if err != nil {
		return err
	}
	w = contextWriter{ctx, w}
	switch format {
	case Markdown:
		err = doc.writeMarkdown(w)
	case HTML:
		err = doc.writeHTML(w)
	case JSON:
		err = doc.writeJSON(w)
	default:
		return fmt.Errorf("export: no such format: %s", format)
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// Package export writes sessions for people and programs to keep and to pass on:
// Markdown, one file of HTML that loads nothing, JSON.
//
// What is exported is the conversation, as [transcript.Session.Conversation] gives
// it, with the conversations of subagents inside the calls that started them. With
// Options.Redact secrets and personal data are taken out before anything else is
// done.
package export

import (
	"context"
	"fmt"
	"io"

	"github.com/seed7221b0f9/parley/transcript"
)

// Format is a form in which a session is written: for people, for browsers, or for programs.
type Format string

// The formats in which [Write] can write a session. Their names are also those that the command
// uses.
const (
	Markdown Format = "markdown"
	HTML     Format = "html" // one file, nothing is loaded from elsewhere, no script
	JSON     Format = "json" // an object: session, messages, subagents
)

// Formats lists all formats, in the order in which they are shown to users. It must not be
// changed.
var Formats = []Format{Markdown, HTML, JSON}

// Extension returns the ending of the names of files in this format, with the dot: .md, .html
// or .json.
func (f Format) Extension() string {
	if f == Markdown {
		return ".md"
	}
	return "." + string(f)
}

// Options configures what is exported. A nil pointer stands for the zero value, which exports
// the whole conversation.
type Options struct {
	System      bool // also the CLI's own notes: compactions, slash commands, errors of the API
	NoThinking  bool // without what the model thought
	NoTools     bool // without tools and their results
	NoSubagents bool // without the conversations of subagents
	// Redact takes secrets and personal data out: keys, tokens, credentials,
	// addresses, home directories. It knows them by their shape and by the names
	// before them, and Secrets besides.
	Redact  bool
	Secrets []string
}

// contextWriter writes until its context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

// Write writes p, unless the context has ended.
func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// Write writes a session in a format. Nothing is written if the session cannot be
// read, and no more once ctx has ended. The memory and the time that it takes grow with
// the size of the session, whatever is in it: a text that is too large or too involved
// to be rendered in HTML is shown as it is, code that takes the highlighter too long
// is not coloured.
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

package claudetest

import rules "github.com/seed7221b0f9/parley/internal/redact"

// Redacted is the text that stands in the place of what a [Redactor] has taken out.
const Redacted = rules.Redacted

// Redactor takes secrets and personal data out of text: keys of APIs and clouds,
// tokens, private keys, credentials in URLs and headers, whatever is assigned to
// a name that says secret, password, token or key, e-mail addresses, and home
// directories. It knows them by their shape, and some by the name before them; it cannot know a
// secret that looks like any word and has no such name, unless it was added.
//
// What it has redacted it leaves alone the next time. Its methods may be called
// from any goroutine.
type Redactor struct{ own *rules.Redactor }

// NewRedactor is a redactor that also knows these secrets, and the values of this
// process's own variables whose names tell that they are secret.
func NewRedactor(secrets ...string) *Redactor { return &Redactor{rules.New(secrets...)} }

// Text returns a text with its secrets replaced by [Redacted]. It does not parse the text as
// JSON.
func (r *Redactor) Text(s string) string { return r.own.Text(s) }

// JSON redacts the strings in a JSON value and leaves every other byte as it is,
// so that the outcome is JSON too. What is not JSON is redacted as text.
func (r *Redactor) JSON(value []byte) []byte { return r.own.JSON(value) }

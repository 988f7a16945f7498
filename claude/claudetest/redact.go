package claudetest

import rules "github.com/seed7221b0f9/parley/internal/redact"

// Redacted is the text with which a [Redactor] replaces secrets.
const Redacted = rules.Redacted

// Redactor removes secrets and personal data from text: keys of APIs and clouds, tokens,
// private keys, credentials in URLs and headers, values assigned to a name that contains
// secret, password, token or key, e-mail addresses, and home directories. It recognizes them by
// their shape, and some by the name before them. It cannot recognize a secret that looks like
// an ordinary word and has no such name, unless it was passed to [NewRedactor].
//
// It does not change redacted text again. Its methods are safe for concurrent use.
type Redactor struct{ own *rules.Redactor }

// NewRedactor returns a redactor that also knows these secrets, and the values of environment
// variables of this process with names that indicate a secret.
func NewRedactor(secrets ...string) *Redactor { return &Redactor{rules.New(secrets...)} }

// Text returns a text with its secrets replaced by [Redacted]. It does not parse the text as
// JSON.
func (r *Redactor) Text(s string) string { return r.own.Text(s) }

// JSON redacts the strings in a JSON value and leaves every other byte unchanged, so that the
// result is valid JSON. It treats invalid JSON as text.
func (r *Redactor) JSON(value []byte) []byte { return r.own.JSON(value) }

package export

import (
	"encoding/json"
	"io"

	"github.com/seed7221b0f9/parley/transcript"
)

// writeJSON writes all messages completely: options that omit parts for people do not apply, except
// Redact. The document is an object: sessionId, session (the info of the session), messages in the
// official SDK's form, and subagents, each with agentId, meta and messages. It is written message
// by message.
func (d *document) writeJSON(w io.Writer) error {
	j := &jsonWriter{doc: d, w: w}
	j.text(`{"sessionId":`)
	j.value(d.ID)
	if len(d.Info) > 0 {
		j.text(`,"session":`)
		j.clean(d.Info)
	}
	j.text(`,"messages":`)
	j.messages(d.messages)
	for i, a := range d.agents {
		if i == 0 {
			j.text(`,"subagents":[`)
		} else {
			j.text(`,`)
		}
		j.text(`{"agentId":`)
		j.value(a.ID)
		if a.Meta != "" {
			j.text(`,"meta":`)
			j.value(a.Meta)
		}
		j.text(`,"messages":`)
		j.messages(a.messages)
		j.text(`}`)
	}
	if len(d.agents) > 0 {
		j.text(`]`)
	}
	j.text("}\n")
	return j.err
}

// jsonWriter writes parts of a document and removes secrets.
type jsonWriter struct {
	doc *document
	w   io.Writer
	err error
}

func (j *jsonWriter) text(s string) {
	if j.err == nil {
		_, j.err = io.WriteString(j.w, s)
	}
}

func (j *jsonWriter) clean(text []byte) {
	if j.err == nil {
		_, j.err = j.w.Write(j.doc.cleanJSON(text))
	}
}

func (j *jsonWriter) value(v any) {
	if j.err != nil {
		return
	}
	text, err := json.Marshal(v)
	if j.err = err; err == nil {
		j.clean(text)
	}
}

func (j *jsonWriter) messages(list []*transcript.Message) {
	j.text(`[`)
	for i, m := range list {
		if i > 0 {
			j.text(`,`)
		}
		j.value(m)
		if j.err != nil {
			return
		}
	}
	j.text(`]`)
}

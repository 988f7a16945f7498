package transcript

import (
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// object is a JSON object that preserves the order and the text of its members, so that a copy of a
// line differs only where it was changed.
type object struct {
	names  []string
	values map[string]string // JSON texts
}

func parseObject(text string) *object {
	o := &object{values: map[string]string{}}
	d := jsonwire.NewDecoder(text)
	if d.Kind() != '{' {
		return o
	}
	for m := d.Members(); m.Next(); {
		name := m.Key
		o.set(name, d.Text())
	}
	return o
}

// set changes a member in place, or adds it at the end.
func (o *object) set(name, text string) {
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = text
}

func (o *object) setString(name, s string) { o.set(name, quote(s)) }

func (o *object) remove(names ...string) {
	for _, name := range names {
		delete(o.values, name)
	}
	o.names = slices.DeleteFunc(o.names, func(name string) bool { return !o.has(name) })
}

// has reports whether the object has the member.
func (o *object) has(name string) bool {
	_, ok := o.values[name]
	return ok
}

// text returns the object as one line.
func (o *object) text() string {
	var b strings.Builder
	b.WriteByte('{')
	for _, name := range o.names {
		value := o.values[name]
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(quote(name))
		b.WriteByte(':')
		b.WriteString(value)
	}
	b.WriteByte('}')
	return b.String()
}

// quote returns the JSON of a string.
func quote(s string) string {
	text, err := encode(s)
	if err != nil {
		return `""` // cannot happen for a string
	}
	return string(text)
}

// array returns the JSON of an array with these elements, which are JSON texts.
func array(texts []string) string { return "[" + strings.Join(texts, ",") + "]" }

// elements returns the JSON texts of the elements of an array, or nil if the text is not an array.
func elements(text string) []string {
	d := jsonwire.NewDecoder(text)
	if d.Kind() != '[' {
		return nil
	}
	out := []string{}
	for e := d.Elements(); e.Next(); {
		out = append(out, d.Text())
	}
	return out
}

package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// The lines that end a form while it is filled in. To enter such a text, put a space before it.
const (
	declineWord = "/n"
	cancelWord  = "/c"
)

// field is a property of a form's schema.
type field struct {
	name        string
	required    bool
	Type        string
	Title       string
	Description string
	Default     json.RawMessage
	Format      string
	MinLength   int
	MaxLength   *int
	Minimum     *float64
	Maximum     *float64
	MinItems    int
	MaxItems    *int
	fieldValues
	Items fieldValues // of an array
}

// fieldValues are the allowed values of a field, in one of the forms of a schema.
type fieldValues struct {
	Enum, EnumNames []string
	OneOf, AnyOf    []struct{ Const, Title, Description string }
}

// formFields returns the fields of a form in the order of its schema.
func formFields(schema event.JSON) (fields []field, err error) {
	var object struct {
		Properties event.JSON
		Required   []string
	}
	if err := schema.Decode(&object); err != nil || object.Properties == "" {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(object.Properties)))
	_, err = d.Token()
	for err == nil && d.More() {
		name, _ := d.Token() // Decode returns its error
		f := field{name: fmt.Sprint(name), required: slices.Contains(object.Required, fmt.Sprint(name))}
		err = d.Decode(&f)
		fields = append(fields, f)
	}
	return fields, err
}

// options returns the values of a field as options of a question, and the value of each.
func (f *field) options() (list []event.QuestionOption, values []string) {
	from := f.fieldValues
	if f.Type == "array" {
		from = f.Items
	}
	for i, value := range from.Enum {
		label := value
		if i < len(from.EnumNames) {
			label = from.EnumNames[i]
		}
		list, values = append(list, event.QuestionOption{Label: label}), append(values, value)
	}
	for _, one := range slices.Concat(from.OneOf, from.AnyOf) {
		list = append(list, event.QuestionOption{Label: cmp.Or(one.Title, one.Const), Description: one.Description})
		values = append(values, one.Const)
	}
	return list, values
}

// lines describes a field and how to fill it in.
func (f *field) lines() []string {
	var lines []string
	if f.Description != "" {
		lines = append(lines, f.Description)
	}
	how := map[string]string{"boolean": "y yes · n no", "integer": "a whole number", "number": "a number", "array": "numbers such as 1,3"}[f.Type]
	list, _ := f.options()
	lines = append(lines, optionLines(list)...)
	if len(list) > 0 && f.Type != "array" {
		how = "a number"
	}
	if how = cmp.Or(how, "a text"); f.Format != "" {
		how += " (" + f.Format + ")"
	}
	switch {
	case f.Default != nil:
		how += " · " + skipWord + " takes " + string(f.Default)
	case !f.required:
		how += " · " + skipWord + " skips"
	}
	return append(lines, how+" · "+declineWord+" declines · "+cancelWord+" cancels")
}

// value returns the value of a line. ok is false for a line that the schema does not allow.
func (f *field) value(text string) (v any, ok bool) {
	text = strings.TrimSpace(text)
	list, values := f.options()
	if len(list) > 0 {
		chosen := picked(list, values, text)
		if f.Type == "array" {
			return chosen, len(chosen) > 0 && len(chosen) >= f.MinItems && (f.MaxItems == nil || len(chosen) <= *f.MaxItems)
		}
		return slices.Concat(chosen, []string{""})[0], len(chosen) == 1
	}
	switch f.Type {
	case "boolean":
		answer, _ := yesNo(text)
		return answer == "y", answer == "y" || answer == "n"
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil && f.inRange(float64(n))
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		finite := !math.IsNaN(n) && !math.IsInf(n, 0) // JSON has no other numbers
		return n, err == nil && finite && f.inRange(n)
	}
	n := utf8.RuneCountInString(text)
	return text, n >= f.MinLength && (f.MaxLength == nil || n <= *f.MaxLength) && wellFormed(f.Format, text)
}

func (f *field) inRange(n float64) bool {
	return (f.Minimum == nil || n >= *f.Minimum) && (f.Maximum == nil || n <= *f.Maximum)
}

// picked returns the values that a line names by number, or one by its label. It returns nil for
// any other line.
func picked(list []event.QuestionOption, values []string, text string) (chosen []string) {
	if i := slices.IndexFunc(list, func(o event.QuestionOption) bool { return strings.EqualFold(o.Label, text) }); i >= 0 {
		return values[i : i+1]
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(values) {
			return nil
		}
		chosen = append(chosen, values[n-1])
	}
	return chosen
}

// wellFormed reports whether a text has a format of a schema. It accepts all texts for an unknown
// format.
func wellFormed(format, text string) bool {
	var err error
	switch format {
	case "email":
		_, err = mail.ParseAddress(text)
	case "uri":
		u, parsed := url.Parse(text)
		return parsed == nil && u.Scheme != ""
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	}
	return err == nil
}

// form asks for an MCP server: first whether to fill in the form, so that the next line of a
// program does not become a value, and then for each field.
type form struct {
	c      *loop
	q      *event.QuestionRequest
	fields []field
	next   int // -1 before the first field
	values map[string]any
}

func (f *form) show() {
	if f.next < 0 {
		f.c.put(questionLine(f.q), "a form with "+term.Plural(int64(len(f.fields)), "field")+" · y fills it in · n declines · c cancels")
		return
	}
	one := &f.fields[f.next]
	f.c.put(cmp.Or(one.Title, one.name), one.lines()...)
}

func (f *form) answer(text string) (agent.Answer, bool) {
	word := strings.TrimRight(text, " \t\n")
	if f.next < 0 {
		yes, _ := yesNo(text)
		word = map[string]string{"y": "y", "n": declineWord}[yes]
		if c := strings.ToLower(strings.TrimSpace(text)); c == "c" || c == "cancel" {
			word = cancelWord
		}
	}
	switch {
	case word == declineWord:
		return noAnswer(f.q), true
	case word == cancelWord:
		return &agent.ElicitationAnswer{Action: "cancel"}, true
	case f.next < 0 && word != "y", f.next >= 0 && !f.fill(strings.TrimSpace(text)):
		return nil, false
	}
	if f.next++; f.next < len(f.fields) {
		f.show()
		return nil, true
	}
	f.next = -1 // asked again if the answer is refused
	raw, err := json.Marshal(f.values)
	if err != nil { // a default that is not JSON, which cannot occur
		return noAnswer(f.q), true
	}
	return &agent.ElicitationAnswer{Action: "accept", Content: raw}, true
}

// fill fills in the next field, and reports whether the line was valid for it.
func (f *form) fill(text string) bool {
	one := &f.fields[f.next]
	switch {
	case text == skipWord && one.Default != nil:
		f.values[one.name] = one.Default
		return true
	case text == skipWord && !one.required:
		return true
	}
	v, ok := one.value(text)
	if ok {
		f.values[one.name] = v
	}
	return ok
}

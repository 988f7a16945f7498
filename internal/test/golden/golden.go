// Package golden compares results for recordings with files that were reviewed once. It is test support.
package golden

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Parts are texts by name, such as one for each recording.
type Parts map[string]string

// Check compares with a golden file, or writes it. The file must have exactly these parts.
func (p Parts) Check(tb testing.TB, path string, update bool) {
	tb.Helper()
	if update {
		var out strings.Builder
		for _, name := range slices.Sorted(maps.Keys(p)) {
			fmt.Fprintf(&out, "== %s\n%s", name, p[name])
		}
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	left := maps.Clone(p)
	for part := range strings.SplitSeq(strings.TrimPrefix(string(text), "== "), "\n== ") {
		name, want, _ := strings.Cut(part, "\n")
		if diff := cmp.Diff(strings.Split(strings.TrimSpace(want), "\n"), strings.Split(strings.TrimSpace(p[name]), "\n")); diff != "" {
			tb.Errorf("%s of %s (-want +got); with -update it is written:\n%s", name, path, diff)
		}
		delete(left, name)
	}
	for name := range left {
		tb.Errorf("%s is not in %s; with -update it is written", name, path)
	}
}

// Line returns a line of a part: a label and a value as JSON. A long value is cut and gets a hash.
func Line(tb testing.TB, what string, v any) string {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatalf("%s: %v", what, err)
	}
	if len(text) > 400 {
		text = fmt.Appendf(text[:300:300], "… %x", sha256.Sum256(text))[:340]
	}
	return what + " " + strings.ToValidUTF8(string(text), "?") + "\n"
}

// Forms is the set of line forms seen so far.
type Forms map[string]bool

// Fresh adds the forms of the lines of a text and reports whether one is new. A recording without a new form adds no information to a golden file.
func (f Forms) Fresh(text string) bool {
	before := len(f)
	for line := range strings.Lines(text) {
		f[form(line)] = true
	}
	return len(f) > before
}

// form returns a line without its values: the label and the names in it.
func form(line string) string {
	kind, text, _ := strings.Cut(line, " ")
	var words []string
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 && len(part) < 24 && !strings.ContainsAny(part, " /0123456789.\\") {
			words = append(words, part)
		}
	}
	return kind + strings.Join(words, " ")
}

// Fill sets every exported field of a value to a distinct value: a text is the name of the field, and a list has one element. own fills JSON and returns false for other types.
func Fill(v reflect.Value, name string, own func(v reflect.Value, name string) bool) {
	if own(v, name) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Int64, reflect.Int:
		v.SetInt(int64(len(name)) + int64(name[0])<<8)
	case reflect.Float64:
		v.SetFloat(0.25 * float64(len(name)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		Fill(v.Index(0), name, own)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		Fill(v.Elem(), name, own)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				Fill(v.Field(i), v.Type().Field(i).Name, own)
			}
		}
	}
}

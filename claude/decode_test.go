package claude_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// leftToRaw lists all members without a typed field. A path is a message's kind and the keys
// below it, [] for any element of an array.
var leftToRaw = []string{
	// Types and members made up by recordings of unknown data.
	"future_message.x",
	"system/partial_last_line.ok",
}

// inventedTypes are types made up by recordings; every other type of the project's corpus has
// a Go type.
var inventedTypes = []string{"future_message", "system/partial_last_line"}

// TestDecode decodes every line of every recording and compares the typed fields with a plain
// decoding into maps, and the messages with those of the official SDK.
func TestDecode(t *testing.T) {
	names := scenarios(t)
	for i := 0; i < len(names); i += short.Every(6) { // TestRecordings decodes the others too
		name := names[i]
		t.Run(name, func(t *testing.T) {
			rec, err := readRecording(filepath.Join(corpus(t), name), nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range stdoutLines(t, name) {
				checkLine(t, i+1, line)
			}
			if err := checkOutput(rec); err != nil {
				t.Error(err)
			}
		})
	}
}

func checkLine(t *testing.T, n int, line string) {
	m, err := message.Decode([]byte(line))
	if !json.Valid([]byte(line)) {
		if err == nil {
			t.Errorf("line %d: no error for %.80q", n, line)
		}
		return
	}
	if err != nil {
		t.Errorf("line %d: %v", n, err)
		return
	}
	checkKnown(t, n, m)
	checkEncode(t, n, m, line)
	var plain map[string]any
	if err := json.Unmarshal([]byte(line), &plain); err != nil {
		t.Fatal(err)
	}
	c := comparer{t: t, line: n}
	c.object(message.Kind(m), reflect.ValueOf(m).Elem(), plain, "type")
}

func checkKnown(t *testing.T, n int, m message.Message) {
	kind := message.Kind(m)
	switch m.(type) {
	case *message.Unknown, *message.System:
		if slices.Contains(inventedTypes, kind) {
			return
		}
		if otherCorpus() {
			t.Logf("line %d: type %s is not known", n, kind)
		} else {
			t.Errorf("line %d: type %s is not known", n, kind)
		}
	}
}

func checkEncode(t *testing.T, n int, m message.Message, line string) {
	if got, err := message.Encode(m); err != nil || string(got) != line {
		t.Errorf("line %d: Encode: %v\ngot  %.200s\nwant %.200s", n, err, got, line)
	}
	if got := string(m.Raw()); got != line {
		t.Errorf("line %d: Raw is not the line", n)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil || strings.TrimSuffix(b.String(), "\n") != compact(line) {
		t.Errorf("line %d: json: %v\ngot  %.200s", n, err, b.String())
	}
}

func compact(line string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(line)) != nil {
		return line
	}
	return b.String()
}

// comparer compares typed values with plain ones.
type comparer struct {
	t    *testing.T
	line int
}

var (
	jsonType    = reflect.TypeFor[message.JSON]()
	contentType = reflect.TypeFor[message.Content]()
)

// object compares the members of an object; implied are keys that follow from the Go type.
func (c comparer) object(path string, v reflect.Value, plain map[string]any, implied ...string) {
	fields := fieldsByTag(v)
	for key, want := range plain {
		at := path + "." + key
		f, ok := fields[key]
		switch {
		case ok:
			c.value(at, f, want)
		case slices.Contains(implied, key), slices.Contains(leftToRaw, at):
		case otherCorpus():
			c.t.Logf("line %d: %s is reached by no field: %.100v", c.line, at, want)
		default:
			c.t.Errorf("line %d: %s is reached by no field: %.100v", c.line, at, want)
		}
	}
}

func (c comparer) value(path string, v reflect.Value, want any) {
	if v.Type() == contentType {
		c.content(path, v.Interface().(message.Content), want)
		return
	}
	if v.Type() == jsonType {
		c.equal(path, v.Interface().(message.JSON).Value(), want)
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		c.pointer(path, v, want)
	case reflect.Struct:
		obj, ok := want.(map[string]any)
		if !ok {
			c.fail(path, v, want)
			return
		}
		c.object(path, v, obj)
	case reflect.Slice:
		c.slice(path, v, want)
	case reflect.Map:
		c.mapping(path, v, want)
	case reflect.Int64:
		c.equal(path, number(v.Int()), want)
	case reflect.Float64:
		c.equal(path, number(v.Float()), want)
	case reflect.String:
		c.equal(path, v.String(), want)
	case reflect.Bool:
		c.equal(path, v.Bool(), want)
	default:
		c.fail(path, v, want)
	}
}

func number[N int64 | float64](n N) any { return float64(n) }

// equal treats null like the zero value: the Go types do not distinguish them where they mean
// the same on the wire.
func (c comparer) equal(path string, got, want any) {
	if want == nil && (got == nil || reflect.ValueOf(got).IsZero()) {
		return
	}
	if !reflect.DeepEqual(got, want) {
		c.t.Errorf("line %d: %s: got %.100v, want %.100v", c.line, path, got, want)
	}
}

func (c comparer) fail(path string, v reflect.Value, want any) {
	c.t.Errorf("line %d: %s: a %s cannot hold %.100v", c.line, path, v.Type(), want)
}

func (c comparer) pointer(path string, v reflect.Value, want any) {
	if v.IsNil() || want == nil {
		if !v.IsNil() || want != nil {
			c.fail(path, v, want)
		}
		return
	}
	elem := v.Elem()
	if v.Kind() == reflect.Interface { // a union: the variant is the type
		obj, ok := want.(map[string]any)
		if !ok {
			c.fail(path, v, want)
			return
		}
		if _, unknown := v.Interface().(*message.UnknownBlock); unknown {
			c.equal(path, v.Interface().(*message.UnknownBlock).JSON.Value(), want)
			return
		}
		c.object(fmt.Sprintf("%s<%v>", path, obj["type"]), elem.Elem(), obj, "type")
		return
	}
	c.value(path, elem, want)
}

func (c comparer) slice(path string, v reflect.Value, want any) {
	list, ok := want.([]any)
	if want == nil && v.IsNil() {
		return
	}
	if !ok || len(list) != v.Len() || v.IsNil() {
		c.fail(path, v, want)
		return
	}
	for i, w := range list {
		c.value(path+"[]", v.Index(i), w)
	}
}

func (c comparer) mapping(path string, v reflect.Value, want any) {
	obj, ok := want.(map[string]any)
	if !ok || len(obj) != v.Len() {
		c.fail(path, v, want)
		return
	}
	for key, w := range obj {
		c.value(path+"[]", v.MapIndex(reflect.ValueOf(key)), w)
	}
}

func (c comparer) content(path string, got message.Content, want any) {
	if s, ok := want.(string); ok {
		if !got.IsText() && s != "" {
			c.t.Errorf("line %d: %s is a string", c.line, path)
		}
		c.equal(path, got.String(), s)
		return
	}
	c.slice(path, reflect.ValueOf(got.Blocks()), want)
}

// fieldsByTag maps wire names to the fields of a struct, embedded ones included.
func fieldsByTag(v reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			fields[name] = v.FieldByIndex(f.Index)
		}
	}
	return fields
}

package message

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the expected files of TestMarshal")

// json.Marshal, and Encode for messages, write every type of the decode tables, empty and
// with all fields set, as recorded in testdata/marshal.txt.
func TestMarshal(t *testing.T) {
	file := filepath.Join("testdata", "marshal.txt")
	got := strings.Join(marshalled(t), "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(lines) || line != lines[i] {
			t.Fatalf("line %d is\n%s\nwant\n%s", i+1, line, append(lines, "")[min(i, len(lines))])
		}
	}
	if got != string(want) {
		t.Error("there are lines too few")
	}
}

func marshalled(t *testing.T) (lines []string) {
	t.Helper()
	for kind, v := range marshalledTypes() {
		filled := reflect.New(reflect.TypeOf(v).Elem())
		setAll(filled.Elem(), 0)
		for name, v := range map[string]any{"empty": v, "filled": filled.Interface()} {
			text, err := json.Marshal(v)
			lines = append(lines, fmt.Sprintf("%s %s: %s %v", kind, name, text, err != nil))
			if m, ok := v.(Message); ok {
				text, err := Encode(m)
				lines = append(lines, fmt.Sprintf("%s %s, Encode: %s %v", kind, name, text, err != nil))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// marshalledTypes returns a new value of each type in the decode tables, and of the types
// for unknown values.
func marshalledTypes() map[string]any {
	all := map[string]any{"system/*": new(System), "*": new(Unknown), "block *": new(UnknownBlock),
		"event *": new(UnknownEvent), "delta *": new(UnknownDelta)}
	for kind, create := range messageTypes {
		all[kind] = create()
	}
	for kind, create := range blockTypes {
		all["block "+kind] = create()
	}
	for kind, create := range eventTypes {
		all["event "+kind] = create()
	}
	for kind, create := range deltaTypes {
		all["delta "+kind] = create()
	}
	return all
}

// setAll sets every field to a value other than its zero value.
func setAll(v reflect.Value, depth int) {
	if depth > 6 || !v.CanSet() {
		return
	}
	switch v.Interface().(type) {
	case JSON:
		v.SetString(`{"k": [1, "<&>"]}`)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("a <b> & \u2028 \"c\"")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(1e21)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAll(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setAll(v.Index(0), depth+1)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		setAll(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k").Convert(v.Type().Key()), value)
	case reflect.Struct:
		for i := range v.NumField() {
			setAll(v.Field(i), depth+1)
		}
	case reflect.Interface:
		setInterface(v)
	}
}

func setInterface(v reflect.Value) {
	for _, some := range []any{&Text{Text: "<t>"}, &Ping{}, &TextDelta{Text: "<t>"}, "<any>"} {
		if reflect.TypeOf(some).AssignableTo(v.Type()) {
			v.Set(reflect.ValueOf(some))
			return
		}
	}
}

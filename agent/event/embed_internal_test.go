package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// fillStrings sets every string and JSON text below v to a part of line, and creates lists,
// pointers and maps with one element.
func fillStrings(v reflect.Value, line string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(line[3:10])
		if v.Type() == jsonType {
			v.SetString(line[2:11]) // with the quotes
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillStrings(v.Elem(), line)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("1"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillStrings(v.Index(0), line)
	case reflect.Map:
		v.Set(reflect.ValueOf(Extra{line[3:10]: json.RawMessage(line[2:11])}))
	case reflect.Struct:
		for i := range v.NumField() {
			fillStrings(v.Field(i), line)
		}
	}
}

// shared returns the strings below v that are parts of line.
func shared(v reflect.Value, line string) (found []string) {
	at := func(p unsafe.Pointer, what string) {
		from := uintptr(unsafe.Pointer(unsafe.StringData(line)))
		if p := uintptr(p); from <= p && p < from+uintptr(len(line)) {
			found = append(found, what)
		}
	}
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.String:
			if s := v.String(); s != "" {
				at(unsafe.Pointer(unsafe.StringData(s)), path)
			}
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem(), path)
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i), path)
			}
		case reflect.Map:
			for _, k := range v.MapKeys() {
				walk(k, path)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		}
	}
	walk(v, v.Type().Elem().Name())
	return found
}

// TestKeep_copies checks that the kept copy of an event does not keep its line in memory, and has the same message.
func TestKeep_copies(t *testing.T) {
	line := strings.Clone(`a "1234567" b` + strings.Repeat("x", 1000))
	check := func(name string, ev, kept Event) {
		if len(shared(reflect.ValueOf(ev), line)) == 0 {
			t.Errorf("%s: the event is not made of the line, so the test shows nothing", name)
		}
		if found := shared(reflect.ValueOf(kept), line); len(found) > 0 {
			t.Errorf("%s: parts of the line are kept: %v", name, found)
		}
		want, err := marshalEvent(ev)
		if err != nil {
			t.Fatalf("name is %v, err is %v; want err == nil", name, err)
		}
		if got, err := marshalEvent(kept); err != nil || string(got) != string(want) {
			t.Errorf("%s: kept %s, %v, want %s", name, got, err, want)
		}
	}
	for name, create := range events {
		ev := create()
		fillStrings(reflect.ValueOf(ev).Elem(), line)
		kept := create()
		data, err := marshalEvent(ev)
		if err == nil {
			err = unmarshalEvent(data, kept)
		}
		if err != nil {
			t.Fatalf("name is %v, err is %v; want err == nil", name, err)
		}
		check(name, ev, kept)
	}
	user := &UserMessage{}
	fillStrings(reflect.ValueOf(user).Elem(), line)
	user.Blocks = nil
	check("user", user, keep(user))
	check("user, later", user, over(keep(user), user))
	assistant := &AssistantMessage{}
	fillStrings(reflect.ValueOf(assistant).Elem(), line)
	assistant.Blocks = nil
	check("assistant", assistant, keep(assistant))
}

// TestConversation_version checks that a state of another version is rejected.
func TestConversation_version(t *testing.T) {
	var c Conversation
	c.Apply(&SessionState{State: "idle"})
	data, err := json.Marshal(&c)
	if err != nil || json.Unmarshal(data, new(Conversation)) != nil {
		t.Fatalf("%s, %v; want err == nil and json.Unmarshal(data, new(Conversation)) == nil", data, err)
	}
	for _, version := range []string{"", `"version":1,`, `"version":3,`} {
		old := strings.Replace(string(data), fmt.Sprintf(`"version":%d,`, ConversationVersion), version, 1)
		if err := json.Unmarshal([]byte(old), new(Conversation)); !errors.Is(err, ErrVersion) {
			t.Errorf("%s: %v; want errors.Is(err, ErrVersion)", old, err)
		}
	}
}

// TestOver_names checks that events with ever new member names do not let the conversation grow without limit.
func TestOver_names(t *testing.T) {
	var c Conversation
	for i := range 2 * maxMembers {
		tokens := int64(i)
		c.Apply(&Usage{Header: Header{Extra: Extra{fmt.Sprint("x", i): json.RawMessage("1")}}, InputTokens: &tokens})
	}
	if n := len(c.Usage.Extra); n < maxMembers/2 || n > maxMembers {
		t.Errorf("the usage has %d members without a field", n)
	}
	if n := *c.Usage.InputTokens; n != 2*maxMembers-1 {
		t.Errorf("the usage is that of event %d", n)
	}
}

// TestClean checks that clean and compact return the same text for every input.
func TestClean(t *testing.T) {
	for _, text := range []JSON{
		`"x"`, `"a b"`, `"\" "`, `"\\"`, ` "x"`, `"x" `, `"x" ,`, `["a" ,1]`, `["a","b c"]`, `{"a":{"b":[1,true,null]}}`, `{"a" :1}`, "{\"a\":1\n}",
		`[1,]`, `"open`, `"\`, `"\"`, `x`, `{}x`, "\"\t\"", `-0.5e3`, `1 2`,
	} {
		if got, want := clean(text), compact([]byte(text)); got != want {
			t.Errorf("clean(%q) is %q, want %q", text, got, want)
		}
	}
}

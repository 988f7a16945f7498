package jsonwire_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

type common struct {
	A    string `json:"a"`
	Deep int    `json:"deep,omitempty"`
	Both string `json:"both"`
}

type hidden struct{ Never string }

type pointed struct{ n int }

// MarshalJSON is called through the pointer only.
func (p *pointed) MarshalJSON() ([]byte, error) { return []byte(`"by pointer"`), nil }

type members struct {
	common
	hidden `json:"-"`
	Named  common `json:"named"`
	Both   string `json:"both"`
	NoTag  bool
	Left   string `json:"-"`
	//lint:ignore SA5008 the test is about the tag
	Dash      string `json:"-,"`
	own       string
	List      []string       `json:"list,omitempty"`
	Array     [1]int         `json:"array,omitempty"`
	Map       map[string]int `json:"map,omitempty"`
	Null      []string       `json:"null"`
	Struct    common         `json:"struct,omitempty"`
	Time      time.Time      `json:"time,omitzero"`
	Zero      common         `json:"zero,omitzero"`
	Any       any            `json:"any,omitempty"`
	Pointer   *int           `json:"pointer,omitempty"`
	Float     float64        `json:"float,omitempty"`
	ByPointer pointed        `json:"by_pointer"`
}

// encoding/json is the reference: members has no methods.
func TestAppendMembers(t *testing.T) {
	for name, v := range map[string]*members{
		"empty": {},
		"full": {common: common{"<a>", 1, "inner"}, hidden: hidden{"n"}, Named: common{A: "x"}, Both: "members", NoTag: true, Left: "l", Dash: "d",
			own: "o", List: []string{""}, Array: [1]int{1}, Map: map[string]int{"k": 0}, Null: []string{}, Struct: common{A: "s"},
			Time: time.Unix(0, 0).UTC(), Zero: common{A: "z"}, Any: 0, Pointer: new(0), Float: 1e21, ByPointer: pointed{1}},
		"empty lists": {List: []string{}, Map: map[string]int{}, Any: []int(nil)},
	} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		got, err := jsonwire.AppendMembers([]byte("{"), v)
		if got := string(got) + "}\n"; err != nil || got != want.String() {
			t.Errorf("%s: %v\n%swant\n%s", name, err, got, want.String())
		}
	}
	got, err := jsonwire.AppendMembers([]byte(`{"type":"x"`), &common{A: "a"})
	if err != nil || string(got) != `{"type":"x","a":"a","both":""` {
		t.Errorf("%s, %v; want err == nil and string(got) == `{\"type\":\"x\",\"a\":\"a\",\"both\":\"\"`", got, err)
	}
	if _, err := jsonwire.AppendMembers(nil, &struct{ F func() }{}); err == nil {
		t.Error("a function was written")
	}
}

package jsonwire_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// anyOf decodes the next value like encoding/json fills an empty interface.
func anyOf(d *jsonwire.Decoder) any {
	switch d.Kind() {
	case '"':
		s, _ := d.String()
		return s
	case '{':
		obj := map[string]any{}
		for m := d.Members(); m.Next(); {
			key := m.Key
			obj[key] = anyOf(d)
		}
		return obj
	case '[':
		arr := []any{}
		for e := d.Elements(); e.Next(); {
			arr = append(arr, anyOf(d))
		}
		return arr
	case 't', 'f':
		b, _ := d.Bool()
		return b
	case '0':
		f, ok := d.Float()
		if !ok {
			return math.Inf(1)
		}
		return f
	default:
		d.Skip()
		return nil
	}
}

var seeds = []string{
	`{"type":"assistant","message":{"content":[{"type":"text","text":"hi \"there\"\n"}]}}`,
	`{"a":1,"b":-2.5e-3,"c":[true,false,null],"d":{"e":{}}}`,
	`{"a":"\ud83d\ude00\u00e9\ud800","b":"` + "\xff\xfe é 漢字 \u2028" + `"}`,
	`{"x":"\u123"}`, `{"x":"\q"}`, "{\"x\":\"\x01\"}", `{"x":01}`, `{"x":1.}`, `{"x":1e}`, `{"x":-}`,
	`[1,]`, `{"a":1,}`, `{,}`, `[1 2]`, `{"a" 1}`, `{"a":1 "b":2}`, `{a:1}`, `"`, ``, ` `, `nul`, `truex`, `{} {}`,
	`[[[[[[]]]]]]`, `"12345678"`, `"1234567\"89"`, `"` + strings.Repeat("é", 40) + `"`, `1e400`, `-0`, `0`, `[`, `{"a":`,
	"\ufeff{}", `{"a":1,"a":2}`, "\"\x7f\"", `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`, `"\/\b\f\r\t"`,
}

func FuzzOracle(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := string(data)
		if got, want := jsonwire.Valid(s), json.Valid(data); got != want {
			t.Fatalf("Valid(%q) = %v, encoding/json says %v", s, got, want)
		}
		d := jsonwire.NewDecoder(s)
		got := anyOf(d)
		err := d.End()
		var want any
		wantErr := json.Unmarshal(data, &want)
		if !json.Valid(data) {
			if err == nil {
				t.Fatalf("no error for %q, encoding/json says %v", s, wantErr)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v, encoding/json takes it", s, err)
		}
		if wantErr != nil { // a number out of range: valid, but not a float64
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q:\n%s; want reflect.DeepEqual(got, want)", s, cmp.Diff(want, got))
		}
	})
}

type inner struct {
	Name string `json:"name"`
}

type embedded struct {
	UUID string `json:"uuid"`
}

type text string

var _ = jsonwire.RegisterText[text]()

type outer struct {
	embedded
	S    string           `json:"s"`
	N    int64            `json:"n"`
	F    float64          `json:"f"`
	B    bool             `json:"b"`
	P    *int64           `json:"p"`
	L    []inner          `json:"l"`
	M    map[string]inner `json:"m"`
	In   *inner           `json:"in"`
	Raw  text             `json:"raw"`
	Skip string           `json:"-"`
}

func TestUnmarshal(t *testing.T) {
	const s = ` { "uuid":"u","s":"a\tb","n":12,"f":0.5,"b":true,"p":0,"l":[{"name":"x"},{"name":"y"}],
		"m":{"k":{"name":"z"}},"in":{"name":"w","S":"wrong case"},"raw": {"q": [1, 2]} ,"S":"wrong case","-":"no","new":{"a":1}} `
	var got outer
	if err := jsonwire.Unmarshal(s, &got); err != nil {
		t.Fatal(err)
	}
	want := outer{embedded: embedded{"u"}, S: "a\tb", N: 12, F: 0.5, B: true, P: new(int64), L: []inner{{"x"}, {"y"}},
		M: map[string]inner{"k": {"z"}}, In: &inner{"w"}, Raw: `{"q": [1, 2]}`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A surrogate pair is one rune, also at the end.
func TestUnmarshal_surrogates(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud83c\udf89"`:       "🎉",
		`"a\uD83C\uDF89b"`:     "a🎉b",
		`"\ud83c"`:             "\uFFFD",
		`"\ud83c\ud83c"`:       "\uFFFD\uFFFD",
		`"\ud83c\u0041"`:       "\uFFFDA",
		`"\udf89\ud83c\udf89"`: "\uFFFD🎉",
	} {
		var got struct {
			S string `json:"s"`
		}
		if err := jsonwire.Unmarshal(`{"s":`+text+`}`, &got); err != nil || got.S != want {
			t.Errorf("%s: %q, %v, want %q", text, got.S, err, want)
		}
	}
}

func TestUnmarshal_mismatchLeavesZero(t *testing.T) {
	var got outer
	const s = `{"s":1,"n":"x","f":"y","b":3,"p":null,"l":{"a":1},"m":[1],"in":"no","uuid":["u"]}`
	if err := jsonwire.Unmarshal(s, &got); err != nil {
		t.Fatal(err)
	}
	if want := (outer{In: &inner{}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestUnmarshal_numbers(t *testing.T) {
	tests := []struct {
		text string
		want int64
	}{{"7", 7}, {"-7", -7}, {"1e3", 1000}, {"12.0", 12}, {"12.5", 0}, {"9223372036854775807", math.MaxInt64}, {"1e30", 0}}
	for _, tt := range tests {
		var got struct {
			N int64 `json:"n"`
		}
		if err := jsonwire.Unmarshal(`{"n":`+tt.text+`}`, &got); err != nil || got.N != tt.want {
			t.Errorf("%s: got %d, %v; want %d", tt.text, got.N, err, tt.want)
		}
	}
	for text, want := range map[string]int32{"2147483647": math.MaxInt32, "2147483648": 0, "-2147483649": 0} {
		var got struct {
			N int32 `json:"n"`
		}
		if err := jsonwire.Unmarshal(`{"n":`+text+`}`, &got); err != nil || got.N != want {
			t.Errorf("%s in 32 bits: got %d, %v; want %d", text, got.N, err, want)
		}
	}
}

func TestSubstrings(t *testing.T) {
	line := strings.Clone(`{"s":"plain text without escapes","l":[]}`)
	var got outer
	allocs := testing.AllocsPerRun(100, func() {
		got = outer{}
		d := jsonwire.NewDecoder(line)
		d.Into(&got)
	})
	if got.S != "plain text without escapes" || got.L == nil {
		t.Fatalf("got %+v", got)
	}
	if allocs > 3 { // decoder, the pointer handed over, the empty slice
		t.Errorf("%v allocations: the string was copied", allocs)
	}
}

func TestPeek(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{"type":"a"}`, "a"},
		{`{"x":{"type":"inner"},"y":["type"],"type":"a"}`, "a"},
		{`{"Type":"wrong case"}`, ""},
		{`{"type":1}`, ""},
		{`{"type":1,"type":"a"}`, ""},
		{`{"x":1,"type":"first","type":"second"}`, "first"},
		{`["type"]`, ""},
		{`{"x":`, ""},
	}
	for _, tt := range tests {
		d := jsonwire.NewDecoder(tt.text)
		if got := d.Peek("type"); got != tt.want {
			t.Errorf("Peek(%s) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestDepth(t *testing.T) {
	for _, n := range []int{9999, 10000, 10001} {
		s := strings.Repeat("[", n) + strings.Repeat("]", n)
		if got, want := jsonwire.Valid(s), json.Valid([]byte(s)); got != want {
			t.Errorf("depth %d: got %v, want %v", n, got, want)
		}
	}
	if beside := "[" + strings.Repeat(`[],{"a":[]},`, 10000) + "0]"; !jsonwire.Valid(beside) {
		t.Error("values beside each other count as nested")
	}
}

func TestSyntaxError_offset(t *testing.T) {
	err := jsonwire.Unmarshal(`{"a":1,"b":tru}`, &outer{})
	se, ok := err.(*jsonwire.SyntaxError)
	if !ok || se.Offset != 11 {
		t.Errorf("got %v", err)
	}
}

func BenchmarkSkip(b *testing.B) {
	for name, unit := range map[string]string{"ascii": "some words of text, ", "escaped": `a \"quoted\" word\n `, "cjk": "一些文字"} {
		line := `{"type":"x","text":"` + strings.Repeat(unit, 20000/len(unit)) + `"}`
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if !jsonwire.Valid(line) {
					b.Fatal("invalid")
				}
			}
		})
	}
}

func BenchmarkValidStd(b *testing.B) {
	line := []byte(`{"type":"x","text":"` + strings.Repeat("some words of text, ", 1000) + `"}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if !json.Valid(bytes.Clone(line)) {
			b.Fatal("invalid")
		}
	}
}

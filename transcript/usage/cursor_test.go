package usage

import (
	"encoding/json"
	"testing"
)

func TestJudge(t *testing.T) {
	for head, want := range map[string]verdict{
		`{"type":"assistant"`:                                      useful,
		`{"type":"cost-state","sess`:                               useful,
		`{"type":"progress",`:                                      useful,
		`{"type":"user","message":{`:                               useless,
		`{"type":"api-request-shape","s`:                           useless,
		`{"type":"assis`:                                           unclear,
		`{"parentUuid":nu`:                                         unclear,
		`{"parentUuid":"x","isSidechain"`:                          unclear,
		`{"parentUuid":null,"isSidechain":false,"attachment":{"ty`: useless,
		`{"parentUuid":null,"isSidechain":false,"promptId":"p","type":"user","m`:            useless,
		`{"parentUuid":null,"isSidechain":false,"message":{"id":"m","role":"assistant","m`:  useful,
		`{"parentUuid":null,"message":{"role":"user","content":"x`:                          useless,
		`{"parentUuid":null,"message":{"id":"m","model":"x`:                                 unclear,
		`{"parentUuid":null,"message":{"content":[{"type`:                                   useful,
		`{"snapshot":{"a":1},"ty`:                                                           useful,
		`{"parentUuid":null,"isSidechain":false,"type":"system","subtype":"compact_boundar`: useless,
		`{"parentUuid":null,"type":"system","subtype":"compact_boundary","content"`:         compaction,
		``:                    unclear,
		`{ "type" : "user" }`: useless,
	} {
		if got := judge([]byte(head)); got != want {
			t.Errorf("%s: %d, want %d", head, got, want)
		}
	}
}

// FuzzParse compares the line reader with encoding/json: every object is read with the same
// numbers, and a cut-off object is rejected.
func FuzzParse(f *testing.F) {
	f.Add([]byte(line(nil)))
	f.Add([]byte(line(fields{"usage.cache_creation": map[string]any{"ephemeral_5m_input_tokens": 7}, "usage.input_tokens": 1.5, "message.id": `a"\`})))
	f.Add([]byte(`{"type":"assistant","message":{"usage":{"input_tokens":-1,"output_tokens":1e3}},"x":[{"]":"}"}]}`))
	f.Add([]byte(` { "type" : "progress" , "data" : { "message" : {} } } `))
	f.Fuzz(func(t *testing.T, text []byte) {
		judge(text)
		var e entryLine
		var object map[string]json.RawMessage
		valid := json.Unmarshal(text, &object) == nil && object != nil
		if read := e.parse(text); valid && !read {
			t.Fatalf("%s is an object and was not read", text)
		}
		if !valid {
			return
		}
		for i := range text {
			if i > 0 && !json.Valid(text[:i]) && e.parse(text[:i]) {
				t.Fatalf("%s was read, cut off", text[:i])
			}
		}
	})
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]int64{
		`5`: 5, `0`: 0, ` 12 `: 12, `1.5`: 0, `1e3`: 0, `-1`: 0, `"7"`: 0, `null`: 0, `{}`: 0, `99999999999999999999999`: 0, `4503599627370496`: 4503599627370496,
	} {
		c := cursor{b: []byte(text + ",")}
		if got := c.int(); got != want || c.broken || c.peek() != ',' {
			t.Errorf("%s: %d, broken %t", text, got, c.broken)
		}
	}
}

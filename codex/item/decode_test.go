package item_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
)

// TestDecode decodes every line of every recording: all named types are known, encoding returns the
// same bytes, and each typed field equals the result of a walk over the JSON with encoding/json.
func TestDecode(t *testing.T) {
	census := map[string]int{}
	for _, r := range codexrec.All(t) {
		t.Run(r.Title(), func(t *testing.T) {
			for _, l := range r.Lines(t) {
				var bad []string
				if l.Client {
					bad = checkClient(census, l.Msg)
				} else {
					bad = checkServer(census, l.Msg)
				}
				for _, s := range bad {
					t.Errorf("line %d: %s", l.Seq, s)
				}
			}
		})
	}
	for _, k := range slices.Sorted(maps.Keys(census)) {
		t.Logf("%5d %s", census[k], k)
	}
	if os.Getenv(codexrec.Variable) == "" && (census["notification turn/completed"] == 0 || census["item agentMessage"] == 0) {
		t.Error("the corpus has no turn")
	}
}

func checkClient(census map[string]int, msg []byte) []string {
	l, err := item.DecodeClient(msg)
	if err != nil {
		census["client: not a message"]++
		return nil // protocol_errors has such lines on purpose
	}
	if c, ok := l.(*item.Call); ok {
		census["call "+c.Method]++
	}
	return sameBytes(l.Raw(), msg)
}

func checkServer(census map[string]int, msg []byte) []string {
	l, err := item.DecodeServer(msg)
	if err != nil {
		return []string{err.Error()}
	}
	bad := sameBytes(l.Raw(), msg)
	var line struct {
		Method string
		Params any
		Result any
	}
	if err := json.Unmarshal(msg, &line); err != nil {
		return []string{err.Error()}
	}
	w := &walk{census: census}
	switch l := l.(type) {
	case item.Notification:
		census["notification "+line.Method]++
		if _, unknown := l.(*item.UnknownNotification); unknown {
			if !unnamed.MatchString(line.Method) {
				bad = append(bad, "unknown notification "+line.Method)
			}
			return bad
		}
		if item.Method(l) != line.Method {
			bad = append(bad, "the method is "+item.Method(l))
		}
		out, err := item.EncodeNotification(l)
		if err != nil {
			bad = append(bad, err.Error())
		}
		bad = append(bad, sameBytes(out, msg)...)
		w.value("", reflect.ValueOf(l), line.Params)
	case item.Request:
		census["request "+line.Method]++
		if _, unknown := l.(*item.UnknownRequest); unknown {
			return append(bad, "unknown request "+line.Method)
		}
		w.value("", reflect.ValueOf(l), line.Params)
	case *item.Response:
		census["response"]++
		bad = append(bad, w.result(l, line.Result)...)
	}
	return append(bad, w.bad...)
}

// unnamed matches the notifications that the package intentionally leaves unknown: parts of the
// server that are not related to a conversation.
var unnamed = regexp.MustCompile(`^(thread/(realtime|environment|prediction)/|(command/exec|process|fs|app|project|fuzzyFileSearch|windows|windowsSandbox|externalAgentConfig|mcpServer/event|account/gatewayOAuth)/)`)

// unnamedMembers are members on the wire that the types leave in Raw.
var unnamedMembers = regexp.MustCompile(`^/?thread/(environments|extra|section|sectionEnteredAt|projectId|daybreakEnabled)$|` +
	`^/threadSettings/(activePermissionProfile|multiAgentMode|personality)$`)

func sameBytes(got, want []byte) []string {
	if !bytes.Equal(got, want) {
		return []string{fmt.Sprintf("encoded as %.200s\nwant %.200s", got, want)}
	}
	return nil
}

// walk compares Go values with the result of encoding/json.
type walk struct {
	census map[string]int
	bad    []string
}

// result checks threads and turns in responses.
func (w *walk) result(r *item.Response, tree any) []string {
	var got struct {
		Thread *item.Thread  `json:"thread"`
		Turn   *item.Turn    `json:"turn"`
		Data   []item.Thread `json:"data"`
	}
	if r.Error != nil {
		return nil
	}
	if err := item.DecodeValue(r.Result, &got); err != nil {
		return []string{err.Error()}
	}
	members, _ := tree.(map[string]any)
	if got.Thread != nil {
		w.value("thread", reflect.ValueOf(got.Thread), members["thread"])
	}
	if got.Turn != nil {
		w.value("turn", reflect.ValueOf(got.Turn), members["turn"])
	}
	return nil
}

func (w *walk) fail(path string, got any, want any) {
	w.bad = append(w.bad, fmt.Sprintf("%s is %v, the wire has %v", path, got, want))
}

var (
	jsonType      = reflect.TypeFor[item.JSON]()
	errorInfoType = reflect.TypeFor[item.ErrorInfo]()
	itemType      = reflect.TypeFor[item.Item]()
	inputType     = reflect.TypeFor[item.Input]()
)

func (w *walk) value(path string, v reflect.Value, tree any) {
	switch {
	case v.Type() == jsonType:
		w.json(path, v.Interface().(item.JSON), tree)
		return
	case v.Type() == errorInfoType:
		w.json(path, v.Interface().(item.ErrorInfo).Raw(), tree)
		return
	case v.Type() == itemType && !v.IsNil():
		w.item(path, v.Interface().(item.Item), tree)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() != (tree == nil) {
			w.fail(path, v, tree)
		} else if !v.IsNil() {
			w.value(path, v.Elem(), tree)
		}
	case reflect.Struct:
		w.fields(path, v, tree)
	case reflect.Slice:
		list, _ := tree.([]any)
		if v.Len() != len(list) {
			w.fail(path, v, tree)
			return
		}
		for i, e := range list {
			w.value(fmt.Sprint(path, "/", i), v.Index(i), e)
		}
	case reflect.Map:
		members, _ := tree.(map[string]any)
		if v.Len() != len(members) {
			w.fail(path, v, tree)
		}
		for k, e := range members {
			w.value(path+"/"+k, v.MapIndex(reflect.ValueOf(k)), e)
		}
	default:
		w.scalar(path, v, tree)
	}
}

func (w *walk) scalar(path string, v reflect.Value, tree any) {
	if tree == nil {
		if !v.IsZero() {
			w.fail(path, v, "nothing")
		}
		return
	}
	got := v.Interface()
	if v.CanInt() {
		got = float64(v.Int())
	}
	if got != tree {
		w.fail(path, got, tree)
	}
}

func (w *walk) json(path string, got item.JSON, tree any) {
	var v any
	if !got.IsNull() {
		if err := got.Decode(&v); err != nil {
			w.fail(path, err, tree)
		}
	}
	if !reflect.DeepEqual(v, tree) {
		w.fail(path, got, tree)
	}
}

func (w *walk) fields(path string, v reflect.Value, tree any) {
	members, ok := tree.(map[string]any)
	if !ok {
		w.fail(path, v, tree)
		return
	}
	named := jsonNames(v.Type())
	for name := range members {
		if isUnion := reflect.PointerTo(v.Type()).Implements(itemType) || reflect.PointerTo(v.Type()).Implements(inputType); !named[name] && !(isUnion && name == "type") {
			w.census["unnamed "+strings.TrimPrefix(path+"/"+name, "/")]++
			// A corpus of the caller may come from a newer server; its members are in Raw.
			if os.Getenv(codexrec.Variable) == "" && !unnamedMembers.MatchString(path+"/"+name) {
				w.fail(path, "without a field", name)
			}
		}
	}
	w.plainFields(path, v, members)
}

// jsonNames returns the names of a struct's fields on the wire.
func jsonNames(t reflect.Type) map[string]bool {
	m := map[string]bool{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			m[name] = true
		}
	}
	return m
}

func (w *walk) plainFields(path string, v reflect.Value, members map[string]any) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			if f.IsExported() {
				w.plainFields(path, v.Field(i), members)
			}
		case !f.IsExported() || name == "-":
		case name == "":
			w.fail(path, f.Name, "no tag")
		default:
			w.value(path+"/"+name, v.Field(i), members[name])
		}
	}
}

// item counts an item, and checks its text and its encoding.
func (w *walk) item(path string, i item.Item, tree any) {
	w.census["item "+item.Kind(i)]++
	if _, unknown := i.(*item.UnknownItem); unknown {
		w.fail(path, "unknown", tree)
	}
	w.json(path, item.JSON(i.Raw()), tree)
	out, err := json.Marshal(i)
	if err != nil {
		w.fail(path, err, tree)
	}
	w.json(path, item.JSON(out), tree)
	for name := range tree.(map[string]any) {
		w.census["member "+item.Kind(i)+"."+name]++
	}
}

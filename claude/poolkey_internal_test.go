package claude

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// changed are two values of a type that differ, for fields that reflection
// cannot make up.
var changed = map[reflect.Type]any{
	reflect.TypeFor[Transport]():    &processTransport{},
	reflect.TypeFor[Spawner]():      LocalSpawner,
	reflect.TypeFor[SystemPrompt](): PromptText("x"),
	reflect.TypeFor[SessionStore](): &fileStore{},
}

type fileStore struct {
	SessionStore
	Dir string
}

// differ are values of a type that are not its zero value and differ from each
// other as much as the type allows.
func differ(t *testing.T, typ reflect.Type) (values []reflect.Value) {
	t.Helper()
	if v, ok := changed[typ]; ok {
		return []reflect.Value{reflect.ValueOf(v)}
	}
	v := reflect.New(typ).Elem()
	switch typ.Kind() {
	case reflect.String:
		v.SetString("changed")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Func:
		make := func() reflect.Value {
			zero := reflect.New(typ)
			f := func([]reflect.Value) []reflect.Value { _ = zero; return nil }
			return reflect.MakeFunc(typ, f)
		}
		return []reflect.Value{make(), make()}
	case reflect.Pointer:
		v.Set(reflect.New(typ.Elem()))
		values = append(values, v)
		for _, inner := range differ(t, typ.Elem()) {
			p := reflect.New(typ.Elem())
			p.Elem().Set(inner)
			values = append(values, p)
		}
		return values
	case reflect.Slice:
		values = append(values, reflect.MakeSlice(typ, 0, 0))
		for _, inner := range append(differ(t, typ.Elem()), reflect.Zero(typ.Elem())) {
			values = append(values, reflect.Append(reflect.MakeSlice(typ, 0, 1), inner))
		}
		return values
	case reflect.Map:
		for _, inner := range append(differ(t, typ.Elem()), reflect.Zero(typ.Elem())) {
			m := reflect.MakeMap(typ)
			m.SetMapIndex(differ(t, typ.Key())[0], inner)
			values = append(values, m)
		}
		return values
	case reflect.Struct:
		return differStruct(t, typ)
	default:
		t.Fatalf("no value for %v", typ)
	}
	return []reflect.Value{v}
}

// differStruct are structs of which one field each is changed.
func differStruct(t *testing.T, typ reflect.Type) (values []reflect.Value) {
	for f := range typ.Fields() {
		if !f.IsExported() || typ.PkgPath() != reflect.TypeFor[Options]().PkgPath() || f.Type == reflect.TypeFor[*mcp.Server]() {
			continue
		}
		for _, inner := range differ(t, f.Type) {
			v := reflect.New(typ).Elem()
			v.FieldByIndex(f.Index).Set(inner)
			values = append(values, v)
		}
	}
	return values
}

// TestPoolKeyHasEveryOption changes every field of the options, and every field
// in those: each value has a key of its own, unless it can be bound later on.
func TestPoolKeyHasEveryOption(t *testing.T) {
	seen := map[string]string{poolKey(&Options{}): "no options"}
	for f := range reflect.TypeFor[Options]().Fields() {
		values := differ(t, f.Type)
		reason, late := lateBinding[f.Name]
		if late && reason == "" {
			t.Errorf("%s is not bound at the start, and nobody knows why", f.Name)
		}
		for i, v := range values {
			o := &Options{}
			reflect.ValueOf(o).Elem().FieldByIndex(f.Index).Set(v)
			key := poolKey(o)
			if other, twice := seen[key]; twice {
				t.Errorf("%s, value %d of %d (%v), has the key of %s", f.Name, i+1, len(values), v, other)
			}
			seen[key] = f.Name
			if key != poolKey(o.clone()) {
				t.Errorf("%s: a copy has another key", f.Name)
			}
		}
	}
	for name := range lateBinding {
		if _, ok := reflect.TypeFor[Options]().FieldByName(name); !ok {
			t.Errorf("there is no option %s", name)
		}
	}
}

func TestPoolKeyLateBinding(t *testing.T) {
	if poolKey(&Options{Model: "a"}) != poolKey(&Options{Model: "b"}) || poolKey(&Options{Model: "a"}) == poolKey(&Options{}) {
		t.Error("only whether there is a model counts")
	}
	if poolKey(&Options{PermissionMode: ModePlan}) != poolKey(&Options{PermissionMode: ModeDefault}) {
		t.Error("the permission mode is set later")
	}
}

func TestPoolKeyOfWhatIsInherited(t *testing.T) {
	before, clean := poolKey(&Options{}), poolKey(&Options{CleanEnv: true})
	t.Setenv("PARLEY_TEST_KEY", "1")
	if poolKey(&Options{}) == before {
		t.Error("the environment does not count")
	}
	if poolKey(&Options{CleanEnv: true}) != clean {
		t.Error("an environment counts that is not inherited")
	}
	before = poolKey(&Options{})
	t.Chdir(t.TempDir())
	if poolKey(&Options{}) == before {
		t.Error("the directory does not count")
	}
}

// TestPoolKeyByIdentity: objects count by identity, data by value.
func TestPoolKeyByIdentity(t *testing.T) {
	permit := func(tenant string) func(context.Context, *PermissionRequest) (PermissionResult, error) {
		return func(context.Context, *PermissionRequest) (PermissionResult, error) {
			return &Deny{Message: tenant}, nil
		}
	}
	a := permit("a")
	hooks := func(f Hook[PreToolUseInput, PreToolUseOutput]) *Hooks { return &Hooks{PreToolUse: On("Bash", f)} }
	hook := func(who string) Hook[PreToolUseInput, PreToolUseOutput] {
		return func(context.Context, *PreToolUseInput) (*PreToolUseOutput, error) { _ = who; return nil, nil }
	}
	h := hook("a")
	logger, store, tools := slog.Default(), &fileStore{}, NewToolServer("t", "1")
	other := maps.Clone(map[string]MCPServer{"t": tools})
	for name, tt := range map[string]struct {
		a, b Options
		same bool
	}{
		"one function":       {Options{CanUseTool: a}, Options{CanUseTool: a}, true},
		"another closure":    {Options{CanUseTool: a}, Options{CanUseTool: permit("b")}, false},
		"one hook":           {Options{Hooks: hooks(h)}, Options{Hooks: hooks(h)}, true},
		"another hook":       {Options{Hooks: hooks(h)}, Options{Hooks: hooks(hook("b"))}, false},
		"one logger":         {Options{Logger: logger}, Options{Logger: logger}, true},
		"another logger":     {Options{Logger: logger}, Options{Logger: slog.New(slog.DiscardHandler)}, false},
		"one store":          {Options{SessionStore: store}, Options{SessionStore: store}, true},
		"another store":      {Options{SessionStore: store}, Options{SessionStore: &fileStore{}}, false},
		"one server":         {Options{MCPServers: map[string]MCPServer{"t": tools}}, Options{MCPServers: other}, true},
		"another server":     {Options{MCPServers: other}, Options{MCPServers: map[string]MCPServer{"t": NewToolServer("t", "1")}}, false},
		"equal prompts":      {Options{SystemPrompt: &PromptPreset{Append: "x"}}, Options{SystemPrompt: &PromptPreset{Append: "x"}}, true},
		"other prompts":      {Options{SystemPrompt: &PromptPreset{Append: "x"}}, Options{SystemPrompt: &PromptPreset{Append: "y"}}, false},
		"a text and a part":  {Options{SystemPrompt: PromptText("x")}, Options{SystemPrompt: PromptParts{"x"}}, false},
		"equal tenants":      {Options{Tenant: "a"}, Options{Tenant: "a"}, true},
		"other tenants":      {Options{Tenant: "a"}, Options{Tenant: "b"}, false},
		"no list, empty one": {Options{Tools: nil}, Options{Tools: []string{}}, false},
		"lists that run on":  {Options{Tools: []string{"ab", "c"}}, Options{Tools: []string{"a", "bc"}}, false},
		"times":              {Options{Deadlines: Deadlines{CloseGrace: time.Second}}, Options{Deadlines: Deadlines{TermGrace: time.Second}}, false},
		"transports":         {Options{Transport: httpTransport{http.DefaultClient}}, Options{Transport: httpTransport{&http.Client{}}}, false},
	} {
		if same := poolKey(&tt.a) == poolKey(&tt.b); same != tt.same {
			t.Errorf("%s: the same key %v, want %v", name, same, tt.same)
		}
	}
}

type httpTransport struct{ client *http.Client }

func (httpTransport) Connect(context.Context) (Conn, error) { return nil, ErrClosed }

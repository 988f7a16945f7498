package claudepool

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/mcptool"
	"github.com/seed7221b0f9/parley/spawn"
)

// changed holds two different values of each type that reflection cannot construct.
var changed = map[reflect.Type]any{
	reflect.TypeFor[claude.Transport]():    claude.ProcessTransport(nil),
	reflect.TypeFor[spawn.Spawner]():       claude.LocalSpawner,
	reflect.TypeFor[claude.SystemPrompt](): claude.PromptText("x"),
	reflect.TypeFor[claude.SessionStore](): &fileStore{},
	reflect.TypeFor[claude.Admitter]():     NewAdmission(1),
}

type fileStore struct {
	claude.SessionStore
	Dir string
}

// differ returns values of a type that differ from its zero value and from each other, as
// many as the type allows.
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

// differStruct returns structs with one changed field each.
func differStruct(t *testing.T, typ reflect.Type) (values []reflect.Value) {
	for f := range typ.Fields() {
		if !f.IsExported() || typ.PkgPath() != reflect.TypeFor[claude.Options]().PkgPath() || f.Type == reflect.TypeFor[*mcp.Server]() {
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

// TestPoolKeyHasEveryOption changes every field of the options, and every field in those:
// each value has a distinct key, unless it can be changed later.
func TestPoolKeyHasEveryOption(t *testing.T) {
	seen := map[string]string{poolKey(&claude.Options{}): "no options"}
	for f := range reflect.TypeFor[claude.Options]().Fields() {
		values := differ(t, f.Type)
		reason, late := lateBinding[f.Name]
		if late && reason == "" {
			t.Errorf("%s is not bound at the start, and nobody knows why", f.Name)
		}
		for i, v := range values {
			o := &claude.Options{}
			reflect.ValueOf(o).Elem().FieldByIndex(f.Index).Set(v)
			key := poolKey(o)
			if other, twice := seen[key]; twice {
				t.Errorf("%s, value %d of %d (%v), has the key of %s", f.Name, i+1, len(values), v, other)
			}
			seen[key] = f.Name
			if key != poolKey(o.Clone()) {
				t.Errorf("%s: a copy has another key", f.Name)
			}
		}
	}
	for name := range lateBinding {
		if _, ok := reflect.TypeFor[claude.Options]().FieldByName(name); !ok {
			t.Errorf("there is no option %s", name)
		}
	}
}

func TestPoolKeyLateBinding(t *testing.T) {
	if poolKey(&claude.Options{Model: "a"}) != poolKey(&claude.Options{Model: "b"}) || poolKey(&claude.Options{Model: "a"}) == poolKey(&claude.Options{}) {
		t.Error("only whether there is a model counts")
	}
	if poolKey(&claude.Options{PermissionMode: message.ModePlan}) != poolKey(&claude.Options{PermissionMode: message.ModeDefault}) {
		t.Error("the permission mode is set later")
	}
}

func TestPoolKeyHasInheritedSettings(t *testing.T) {
	before, clean := poolKey(&claude.Options{}), poolKey(&claude.Options{CleanEnv: true})
	t.Setenv("PARLEY_TEST_KEY", "1")
	if poolKey(&claude.Options{}) == before {
		t.Error("the environment does not count")
	}
	if poolKey(&claude.Options{CleanEnv: true}) != clean {
		t.Error("an environment counts that is not inherited")
	}
	before = poolKey(&claude.Options{})
	t.Chdir(t.TempDir())
	if poolKey(&claude.Options{}) == before {
		t.Error("the directory does not count")
	}
}

// TestPoolKeyByIdentity: objects count by identity, data by value.
func TestPoolKeyByIdentity(t *testing.T) {
	permit := func(tenant string) func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) {
		return func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) {
			return &claude.Deny{Message: tenant}, nil
		}
	}
	a := permit("a")
	hooks := func(f hook.Func[hook.PreToolUseInput, hook.PreToolUseOutput]) *hook.Hooks {
		return &hook.Hooks{PreToolUse: hook.On("Bash", f)}
	}
	hook := func(who string) hook.Func[hook.PreToolUseInput, hook.PreToolUseOutput] {
		return func(context.Context, *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) { _ = who; return nil, nil }
	}
	h := hook("a")
	logger, store, tools := slog.Default(), &fileStore{}, claude.MCPServer{Server: mcptool.NewToolServer("t", "1")}
	other := maps.Clone(map[string]claude.MCPServer{"t": tools})
	for name, tt := range map[string]struct {
		a, b claude.Options
		same bool
	}{
		"one function":       {claude.Options{CanUseTool: a}, claude.Options{CanUseTool: a}, true},
		"another closure":    {claude.Options{CanUseTool: a}, claude.Options{CanUseTool: permit("b")}, false},
		"one hook":           {claude.Options{Hooks: hooks(h)}, claude.Options{Hooks: hooks(h)}, true},
		"another hook":       {claude.Options{Hooks: hooks(h)}, claude.Options{Hooks: hooks(hook("b"))}, false},
		"one logger":         {claude.Options{Logger: logger}, claude.Options{Logger: logger}, true},
		"another logger":     {claude.Options{Logger: logger}, claude.Options{Logger: slog.New(slog.DiscardHandler)}, false},
		"one store":          {claude.Options{SessionStore: store}, claude.Options{SessionStore: store}, true},
		"another store":      {claude.Options{SessionStore: store}, claude.Options{SessionStore: &fileStore{}}, false},
		"one server":         {claude.Options{MCPServers: map[string]claude.MCPServer{"t": tools}}, claude.Options{MCPServers: other}, true},
		"another server":     {claude.Options{MCPServers: other}, claude.Options{MCPServers: map[string]claude.MCPServer{"t": {Server: mcptool.NewToolServer("t", "1")}}}, false},
		"equal prompts":      {claude.Options{SystemPrompt: &claude.PromptPreset{Append: "x"}}, claude.Options{SystemPrompt: &claude.PromptPreset{Append: "x"}}, true},
		"other prompts":      {claude.Options{SystemPrompt: &claude.PromptPreset{Append: "x"}}, claude.Options{SystemPrompt: &claude.PromptPreset{Append: "y"}}, false},
		"a text and a part":  {claude.Options{SystemPrompt: claude.PromptText("x")}, claude.Options{SystemPrompt: claude.PromptParts{"x"}}, false},
		"equal tenants":      {claude.Options{Tenant: "a"}, claude.Options{Tenant: "a"}, true},
		"other tenants":      {claude.Options{Tenant: "a"}, claude.Options{Tenant: "b"}, false},
		"no list, empty one": {claude.Options{Tools: nil}, claude.Options{Tools: []string{}}, false},
		"lists that run on":  {claude.Options{Tools: []string{"ab", "c"}}, claude.Options{Tools: []string{"a", "bc"}}, false},
		"times":              {claude.Options{Deadlines: claude.Deadlines{CloseGrace: time.Second}}, claude.Options{Deadlines: claude.Deadlines{TermGrace: time.Second}}, false},
		"transports":         {claude.Options{Transport: httpTransport{http.DefaultClient}}, claude.Options{Transport: httpTransport{&http.Client{}}}, false},
	} {
		if same := poolKey(&tt.a) == poolKey(&tt.b); same != tt.same {
			t.Errorf("%s: the same key %v, want %v", name, same, tt.same)
		}
	}
}

type httpTransport struct{ client *http.Client }

func (httpTransport) Connect(context.Context) (claude.Conn, error) { return nil, claude.ErrClosed }

// Two working directories give two keys, even if the options fix PWD.
func TestPoolKeyHasTheDirectory(t *testing.T) {
	fixed := &claude.Options{Env: map[string]string{"PWD": "/fixed", "OLDPWD": ""}}
	t.Chdir(t.TempDir())
	one := poolKey(fixed)
	t.Chdir(t.TempDir())
	if poolKey(fixed) == one {
		t.Error("two directories have one key")
	}
}

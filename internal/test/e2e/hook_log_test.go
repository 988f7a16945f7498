package e2e_test

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
)

// hookLog is a hook for every event that makes no decision and records its input.
type hookLog struct {
	t       *testing.T
	mu      sync.Mutex
	inputs  []any // pointers to the inputs of the events
	changed chan struct{}
}

func newHookLog(t *testing.T) *hookLog { return &hookLog{t: t, changed: make(chan struct{})} }

// hooks registers the log for all events, for files of the given name too.
func (l *hookLog) hooks(file string) *hook.Hooks {
	hooks := new(hook.Hooks)
	for field, list := range reflect.ValueOf(hooks).Elem().Fields() {
		if field.Type.Kind() != reflect.Slice {
			continue
		}
		matcher := reflect.New(field.Type.Elem()).Elem()
		if field.Name == "FileChanged" {
			matcher.FieldByName("Matcher").SetString(file)
		}
		all := matcher.FieldByName("Hooks")
		all.Set(reflect.Append(all, reflect.MakeFunc(all.Type().Elem(), l.called)))
		list.Set(reflect.Append(list, matcher))
	}
	return hooks
}

func (l *hookLog) called(args []reflect.Value) []reflect.Value {
	hook := args[1].Type()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inputs = append(l.inputs, args[1].Interface())
	close(l.changed)
	l.changed = make(chan struct{})
	return []reflect.Value{reflect.Zero(outputOf[hook]), reflect.Zero(reflect.TypeFor[error]())}
}

// outputOf has the type of the output for each type of an input.
var outputOf = func() map[reflect.Type]reflect.Type {
	types := map[reflect.Type]reflect.Type{}
	for field := range reflect.TypeFor[hook.Hooks]().Fields() {
		if field.Type.Kind() != reflect.Slice {
			continue
		}
		hooks, _ := field.Type.Elem().FieldByName("Hooks")
		types[hooks.Type.Elem().In(1)] = hooks.Type.Elem().Out(0)
	}
	return types
}()

// input is the common interface of hook inputs.
type input interface{ Raw() message.JSON }

func eventOf(in any) string {
	return string(reflect.ValueOf(in).Elem().FieldByName("Input").Interface().(hook.Input).HookEventName)
}

// fired returns the events that have fired, each once, sorted.
func (l *hookLog) fired() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := map[string]bool{}
	for _, in := range l.inputs {
		seen[eventOf(in)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// until waits until an event has fired and calls poke repeatedly: a file watcher that
// starts late misses the first changes, and some wait until a file is stable.
func (l *hookLog) until(name string, poke func()) {
	l.t.Helper()
	for !slices.Contains(l.fired(), name) {
		if poke != nil {
			poke()
		}
		l.mu.Lock()
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(5 * time.Second):
		case <-l.t.Context().Done():
			l.t.Fatalf("%s did not fire; these did: %v", name, l.fired())
		}
	}
}

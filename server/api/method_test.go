package api_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

func TestMethods(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range api.Methods {
		if seen[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		for _, typ := range []reflect.Type{m.Params, m.Result} {
			v := reflect.New(typ)
			line, err := json.Marshal(v.Interface())
			if err != nil {
				t.Errorf("%s: %v: %v", m.Name, typ, err)
			}
			if err := json.Unmarshal(line, v.Interface()); err != nil {
				t.Errorf("%s: %v: %v", m.Name, typ, err)
			}
		}
	}
	for _, name := range []string{"hello", "session.connect", "session.queryWithContent", "queue.sendNow", "permission.respond", "history.search", "server.drain"} {
		if !seen[name] {
			t.Errorf("there is no method %s", name)
		}
	}
}

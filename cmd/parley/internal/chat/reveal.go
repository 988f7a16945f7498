package chat

import (
	"encoding/json"
	"reflect"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

// revealed returns a copy of a request for display. In every text and JSON value, invisible characters are replaced
// with their code points. The answer must refer to the original request.
func revealed(r *event.PermissionRequest) *event.PermissionRequest {
	shown := *r
	reveal(reflect.ValueOf(&shown).Elem())
	return &shown
}

func reveal(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				reveal(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 || v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(list, v)
		for i := range list.Len() {
			reveal(list.Index(i))
		}
		v.Set(list)
	case reflect.String:
		if v.Type() == reflect.TypeFor[event.JSON]() {
			v.SetString(revealJSON(v.String()))
			return
		}
		v.SetString(cell.Reveal(v.String()))
	}
}

// revealJSON changes the strings of a JSON text. It changes invalid JSON as plain text.
func revealJSON(text string) string {
	var value any
	if text == "" {
		return text
	}
	if json.Unmarshal([]byte(text), &value) != nil {
		return cell.Reveal(text)
	}
	changed, err := json.Marshal(revealValue(value))
	if err != nil {
		return cell.Reveal(text)
	}
	return string(changed)
}

func revealValue(value any) any {
	switch v := value.(type) {
	case string:
		return cell.Reveal(v)
	case []any:
		for i := range v {
			v[i] = revealValue(v[i])
		}
	case map[string]any:
		shown := make(map[string]any, len(v))
		for key, one := range v {
			shown[cell.Reveal(key)] = revealValue(one)
		}
		return shown
	}
	return value
}

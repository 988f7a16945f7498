package contextref_test

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/contextref"
)

// FuzzReferences decodes arbitrary text as contexts: the result encodes to text that decodes to the
// same number of references, and joins with itself.
func FuzzReferences(f *testing.F) {
	f.Add([]byte(`[{"type":"FileReference","path":"a.go","x":1},{"type":"new","line":"🧪 x"},{"type":"FolderReference","path":"p","fileCount":3}]`))
	f.Add([]byte(`[null]`))
	f.Add([]byte(`[{"Path":"x","type":"FileReference","displayType":5}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var refs contextref.References
		if json.Unmarshal(text, &refs) != nil {
			return
		}
		out, err := json.Marshal(refs)
		if err != nil {
			t.Fatal(err)
		}
		var again contextref.References
		if err := json.Unmarshal(out, &again); err != nil || len(again) != len(refs) {
			t.Errorf("%s becomes %s: %v", text, out, err)
		}
		if joined := contextref.Join(refs, again); len(joined) < len(refs) {
			t.Errorf("%d references joined to %d", len(refs), len(joined))
		}
	})
}

package transcript

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/filled"
)

// TestFilled checks that each stored field is read back, and that each field of a list entry is in
// its JSON.
func TestFilled(t *testing.T) {
	filled.JSON[saveNote](t)
	filled.JSON[Trashed](t)
	filled.JSON[Retention](t)
	filled.JSON[RestoreReport](t)
	filled.Converted(t, filled.Of[Info](t), func(i Info) string {
		text, err := json.Marshal(&i)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	})
	note := filled.Of[notedFile](t)
	filled.Converted(t, note, func(f notedFile) ArchivedFile {
		known := map[string]*ArchivedFile{f.Path: {Path: f.Path, Versions: []*FileVersion{{SHA256: note.Replaces}}}}
		f.mergeInto(known)
		return *known[f.Path]
	})
}

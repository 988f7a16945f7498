package contextref

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kept is the member contexts of the message in the format's description.
const kept = `[{"type":"FileReference","path":"build.gradle.kts","fullPath":"/Users/user/project/build.gradle.kts","displayType":"TAG"},` +
	`{"type":"FileReference","path":"src/main/kotlin/Main.kt","fullPath":"/Users/user/project/src/main/kotlin/Main.kt","displayType":"TAG"}]`

func TestReferencesJSON(t *testing.T) {
	for name, text := range map[string]string{
		"the format's example": kept,
		"none":                 `[]`,
		"an unknown kind":      `[{"type":"AudioReference","seconds":12,"displayType":"TAG"}]`,
		"empty members":        `[{"type":"AudioReference","line":"","displayType":""}]`,
		"an unknown member":    `[{"type":"WebReference","url":"x","title":"<a&b>","seen":true}]`,
		"a line of a block":    `[{"type":"","line":"🎤 x"}]`,
		"no type":              `[{"path":"a"}]`,
		"another type":         `[{"type":"FolderReference","path":"a","fileCount":"many"}]`,
		"another case":         `[{"type":"FileReference","path":"a","PATH":"b"}]`,
		"a member of problems": `[{"type":"ProblemsReference","count":1,"problems":[{"line":3}]}]`,
	} {
		var refs References
		if err := json.Unmarshal([]byte(text), &refs); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		back, err := refs.MarshalJSON()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(generic(t, text), generic(t, string(back))); diff != "" {
			t.Errorf("%s: %s\n%s", name, back, diff)
		}
	}
	for _, bad := range []string{`{}`, `[1]`, `[null]`, `x`} {
		var refs References
		if json.Unmarshal([]byte(bad), &refs) == nil {
			t.Errorf("%s was read: %v", bad, refs)
		}
	}
}

// generic decodes JSON. A missing type equals an empty one.
func generic(t *testing.T, text string) (list []map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m["type"] == "" {
			delete(m, "type")
		}
	}
	return list
}

// TestJoin checks that references parsed from the text of a transcript are matched with the front
// end's contexts by their lines.
func TestJoin(t *testing.T) {
	var beside References
	if err := json.Unmarshal([]byte(kept), &beside); err != nil {
		t.Fatal(err)
	}
	message, err := Build("hi", beside, Chinese)
	if err != nil {
		t.Fatal(err)
	}
	_, found := Parse(message)
	if diff := cmp.Diff([]Reference{&File{Path: "build.gradle.kts"}, &File{Path: "src/main/kotlin/Main.kt"}}, found); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
	if diff := cmp.Diff([]Reference(beside), Join(found, beside)); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
	if diff := cmp.Diff(found, Join(found, nil)); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
	swapped := []Reference{beside[1], &Unknown{Type: "AudioReference"}, beside[0]}
	want := []Reference{beside[0], beside[1], swapped[1]}
	if diff := cmp.Diff(want, Join(found, swapped)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	twice := []Reference{&File{Path: "a"}, &File{Path: "a"}}
	one := []Reference{&File{Path: "a", FullPath: "/a"}}
	if diff := cmp.Diff([]Reference{one[0], twice[1]}, Join(twice, one)); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
}

package docs

import (
	"fmt"
	"strings"
	"testing"
)

func TestTopics(t *testing.T) {
	topics, err := Topics()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, topic := range topics {
		names[topic.Name] = true
		if points := strings.Count(topic.Short, "\n"); points < 3 || points > 6 {
			t.Errorf("%s has %d points under \"In short\"", topic.Page, points)
		}
		if strings.ContainsAny(topic.Summary+topic.Short, "`") || strings.Contains(topic.Short, "](") {
			t.Errorf("%s: marks are left in %q", topic.Page, topic.Short)
		}
	}
	for _, name := range strings.Fields("conversations permissions hooks tools history stores production screens server editors codex testing " +
		"migrating-from-python migrating-from-typescript operations security troubleshooting") {
		if !names[name] {
			t.Errorf("there is no topic %s", name)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := parse("a.md", "# A page\n\nWhat it\nis about, see [b](b.md).\n\n## In short\n\n- `One`\n  thing.\n- Two.\n\nMore.\n")
	if err != nil || got.Title != "A page" || got.Summary != "What it is about, see b." || got.Short != "One thing.\nTwo.\n" {
		t.Errorf("%+v, %v; want err == nil and got.Title == \"A page\" and got.Summary == \"What it is about, see b.\" and got.Short == \"One thing.\\nTwo.\\n\"", got, err)
	}
	for _, bad := range []string{"", "# A\n", "# A\n\nText.\n", "# A\n\nText.\n\n## In short\n\nNo list.\n"} {
		if _, err := parse("a.md", bad); err == nil {
			t.Errorf("%q is taken for a guide", bad)
		}
	}
	if got := plain("a [b] c [d](e)"); got != "a [b] c d" {
		t.Errorf("plain gives %q", got)
	}
}

func ExampleTopics() {
	topics, err := Topics()
	if err != nil {
		panic(err)
	}
	for _, t := range topics {
		if t.Name == "hooks" {
			fmt.Println(t.Title, "in", t.Page)
		}
	}
	// Output: Hooks in guide/hooks.md
}

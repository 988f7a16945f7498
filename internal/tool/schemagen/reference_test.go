package main

import (
	"testing"

	"github.com/seed7221b0f9/parley/server"
)

func TestWithRows(t *testing.T) {
	methods := []server.Method{{Name: "a.one", Doc: "does one"}, {Name: "a.new", Doc: "is new"}, {Name: "b", Doc: "does b"}}
	page := "# M\n\n| method | what |\n|---|---|\n| `a.one` | old text |\n| `a.gone` | x |\n\n| `b` | y |\n\n## Reasons\n\n| `a.gone` | a reason |\n"
	want := "# M\n\n| method | what |\n|---|---|\n| `a.one` | does one |\n| `a.new` | is new |\n\n| `b` | does b |\n\n## Reasons\n\n| `a.gone` | a reason |\n"
	if got, err := withRows(page, methods); err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if _, err := withRows(page, append(methods, server.Method{Name: "c.x"})); err == nil {
		t.Error("a method without a section was added somewhere")
	}
}

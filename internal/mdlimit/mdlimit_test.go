package mdlimit_test

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/mdlimit"
)

// marks is a paragraph that takes the parser very long.
var marks = strings.Repeat("*a_ [a](", 2000)

// hidden are texts with marks after a code block that has already ended or never begun.
var hidden = map[string]string{
	"alone":                        marks,
	"after code":                   "```go\nx\n```\n" + marks,
	"after indented code":          "   ```\nx\n```\n" + marks,
	"after an indented end":        "```\nx\n   ```\n" + marks,
	"after code with words":        "```go run it\nx\n```\n" + marks,
	"after code in tildes":         "~~~\n```\n~~~\n" + marks,
	"after code with a longer end": "```\nx\n`````\n" + marks,
	"after a comment":              " <!--\n```\n-->\n" + marks,
	"after a block of HTML":        "<div>\n```\n\n" + marks,
	"after code of an item":        "- ```\n  x\n\n" + marks,
	"after code of an item, open":  "- a\n  ```\n  x\n" + marks,
	"after code of a quote":        "> ```\n> x\n\n" + marks,
	"after what is not a fence":    "``` a`b\n" + marks,
	"in an item":                   "- a\n- " + marks,
	"in a quote":                   "> " + marks,
	"in a heading":                 "# " + marks,
	"after text in code":           "    ```\n\n" + marks,
	"quotes":                       strings.Repeat(">", 17) + " a",
	"items":                        strings.Repeat("- ", 17) + "a",
	"items at the end of a line":   strings.Repeat("- ", 16) + "-\n",
	"indented":                     strings.Repeat("\t", 40) + "a",
	"a table without cells":        strings.Repeat("|a", 500) + "|\n" + strings.Repeat("|-", 500) + "|\n" + strings.Repeat("|\n", 500),
	"too long":                     strings.Repeat("a ", 1<<20),
}

func TestExceeded_hidden(t *testing.T) {
	for name, text := range hidden {
		if !mdlimit.Exceeded(text) {
			t.Errorf("%s: %.40q is rendered", name, text)
		}
	}
}

// Code may have any number of marks, and ordinary texts are rendered.
func TestExceeded_ordinary(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "prose": strings.Repeat("Some *words* and `code`, see [this](https://example.com).\n\n", 2000),
		"code": "Look:\n\n```go\n" + marks + "\n```\n\nDone.", "code in tildes": "~~~ c\n" + marks + "\n~~~", "code of an item": "- a\n\n  ```\n  " + marks + "\n  ```\n",
		"indented code": "    " + marks, "code that is not closed": "```\n" + marks,
		"table": "|a|b|\n|-|-|\n" + strings.Repeat("|1|2|\n", 500), "list": strings.Repeat("- a\n", 5000),
	} {
		if mdlimit.Exceeded(text) {
			t.Errorf("%s: %.40q is not rendered", name, text)
		}
	}
}

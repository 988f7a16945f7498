package codexevent

import (
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/codex/item"
)

// TestScript checks that the title of a command is the script of the user's shell, and that other
// commands are unchanged.
func TestScript(t *testing.T) {
	for command, want := range map[string]string{
		`/bin/bash -lc 'touch made'`:         "touch made",
		`/bin/bash -lc ls`:                   "ls",
		`bash -c "echo \"a b\" \$HOME it's"`: `echo "a b" $HOME it's`,
		`/usr/bin/zsh -lc 'a && b'`:          "a && b",
		`/bin/bash -lc 'echo '\''x'\'''`:     "echo 'x'",
		`/bin/bash -lc 'touch made' extra`:   `/bin/bash -lc 'touch made' extra`,
		`/bin/bash --rcfile evil -lc ls`:     `/bin/bash --rcfile evil -lc ls`,
		`LD_PRELOAD=x /bin/bash -lc ls`:      `LD_PRELOAD=x /bin/bash -lc ls`,
		`/bin/bash -lc 'unfinished`:          `/bin/bash -lc 'unfinished`,
		`/bin/bash -lc ''`:                   `/bin/bash -lc ''`,
		`python -c 'print(1)'`:               `python -c 'print(1)'`,
		`ls -la`:                             "ls -la",
		"":                                   "",
	} {
		if got := script(command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// TestShellWords checks that words are split as by a shell, with any number of spaces between them.
func TestShellWords(t *testing.T) {
	for command, want := range map[string][]string{
		"":               nil,
		"  \t\n":         nil,
		"a  b\tc\nd ":    {"a", "b", "c", "d"},
		` 'a b'  "c d" `: {"a b", "c d"},
		`'' ""`:          {"", ""},
		`a'b'"c"`:        {"abc"},
		`a\ b \'`:        {"a b", "'"},
		`"\"\\\$\n"`:     {`"\$\n`},
		`'\n'`:           {`\n`},
		`a\`:             {`a\`},
	} {
		if got, ok := shellWords(command); !ok || !slices.Equal(got, want) {
			t.Errorf("the words of %q are %q, %v, want %q", command, got, ok, want)
		}
	}
	for _, command := range []string{`'a`, `"a`, `a "b\"`} {
		if got, ok := shellWords(command); ok {
			t.Errorf("the words of %q are %q, want none: a quote has no end", command, got)
		}
	}
}

// TestInputs checks that each part of a prompt keeps its type, including unknown types.
func TestInputs(t *testing.T) {
	for want, in := range map[string]item.Input{
		"text": &item.Text{Text: "x"}, "image": &item.Image{URL: "u"}, "localImage": &item.LocalImage{Path: "p"}, "audio": &item.Audio{}, "localAudio": &item.LocalAudio{},
		"skill": &item.Skill{}, "mention": &item.Mention{}, "hologram": &item.UnknownInput{Type: "hologram"},
	} {
		got := inputs([]item.Input{nil, in})
		if len(got) != 1 || got[0].Type != want || got[0].Raw == "" {
			t.Errorf("%T becomes %+v, want one part of the type %q with its text", in, got, want)
		}
	}
}

package codexevent

import "testing"

// A title is the script of the user's shell, and every other command as it is.
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

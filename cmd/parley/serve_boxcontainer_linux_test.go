package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// dockerScript is a program used instead of docker: it records its arguments, and runs the first
// process of a container on this machine.
const dockerScript = `#!/bin/sh
printf '%%s\n' "$*" >> '%[1]s/calls'
case "$1" in
ps) if [ -e '%[1]s/left' ]; then cat '%[1]s/left'; rm '%[1]s/left'; fi ;;
run)
	shift
	while :; do
		case "$1" in
		--mount=*,target=/run/parley/init,readonly) init=${1#--mount=type=bind,source=}; init=${init%%%%,*} ;;
		--workdir=*) cd "${1#--workdir=}" ;;
		--*) ;;
		*) break ;;
		esac
		shift
	done
	shift
	exec "$init" "$@"
	;;
esac
`

// TestServe_boxContainer runs a scripted CLI in a container of the program that is used instead of
// docker. The server ends a container that an earlier server has left at its start, and that of a
// session when the agent has ended; it finds both by their labels. No argument contains a secret.
func TestServe_boxContainer(t *testing.T) {
	short.SkipQuick(t, "starts several boxes")
	dir := t.TempDir()
	for name, text := range map[string]string{"docker": fmt.Sprintf(dockerScript, dir), "left": "abc123 s-of-before\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w := newKillWorldWith(t, 1, []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, []string{"--sandbox", "docker", "--sandbox-image", "agents:1", "--sandbox-network", "on"})
	calls := func() []string {
		text, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	if got := calls(); len(got) != 3 || !strings.HasPrefix(got[0], "image inspect") || !strings.Contains(got[1], "--filter=label=parley.host=") || got[2] != "rm --force abc123" {
		t.Errorf("at its start the server has called docker with %q", got)
	}
	s, err := w.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.run(t.Context(), 1, 1); err != nil {
		t.Fatal(err)
	}
	var list api.ListResult
	w.call("session.list", api.ListParams{}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].Box == nil || list.Sessions[0].Box.Kind != "docker" {
		t.Errorf("the sessions are %+v", list.Sessions)
	}
	w.call("session.disconnect", api.SessionRef{SessionID: s.id}, nil)
	label := "--filter=label=parley.session=" + s.id
	eventually(t, "the container is ended by its label", func() bool {
		last := calls()
		return strings.HasPrefix(last[len(last)-1], "ps ") && strings.Contains(last[len(last)-1], label)
	})
	ran := false
	for _, call := range calls() {
		ran = ran || strings.HasPrefix(call, "run ") && strings.Contains(call, "--init") && strings.Contains(call, "--label=parley.session="+s.id) && strings.Contains(call, "--env=PARLEY_BOXED_ANTHROPIC_API_KEY ")
		if strings.Contains(call, "sk-") {
			t.Errorf("an argument of docker has a secret: %s", call)
		}
	}
	if !ran {
		t.Errorf("no container of the session was started: %q", calls())
	}
	w.end(syscall.SIGTERM)
}

package claude

import (
	"context"
	"time"

	"github.com/seed7221b0f9/parley/internal/proc"
)

// oldestVersion is the oldest supported CLI.
const oldestVersion = "2.0.0"

func (s *session) version() string { return s.serverInfo().ClaudeCodeVersion }

// checkVersion logs a warning for a CLI that is too old. If the CLI did not report its
// version, it runs the CLI to find out.
func (s *session) checkVersion(version string) {
	if version == "" {
		s.askVersion()
		return
	}
	if proc.Older(version, oldestVersion) {
		s.warn("claude: the CLI is older than this package supports", "version", version, "oldest", oldestVersion)
	}
}

// versionTime limits the run of a CLI for its version.
const versionTime = 2 * time.Second

// askVersion runs the CLI again to get its version, if the CLI runs on this machine.
func (s *session) askVersion() {
	if s.launch.Transport != nil || !s.launch.here() {
		return
	}
	s.update(func(st *sessionState) {
		if st.stopping || st.asked {
			return
		}
		st.asked = true
		s.work.Go(func() {
			// The end of the session does not cancel this, because a session can be
			// shorter.
			ctx, cancel := context.WithTimeout(context.Background(), versionTime)
			defer cancel()
			env := s.launch.environ()
			path, err := s.launch.findCLI(env)
			if err != nil {
				return
			}
			// An error is ignored: it only costs a warning.
			if v, err := proc.Version(ctx, path, env); err == nil {
				s.checkVersion(v)
			}
		})
	})
}

package claude

import (
	"context"
	"time"

	"github.com/seed7221b0f9/parley/internal/proc"
)

// oldestVersion is the oldest CLI that this package is meant for.
const oldestVersion = "2.0.0"

func (s *session) version() string { return s.serverInfo().ClaudeCodeVersion }

// checkVersion warns of a CLI that is too old. One that does not tell its version
// is asked for it.
func (s *session) checkVersion(version string) {
	if version == "" {
		s.askVersion()
		return
	}
	if proc.Older(version, oldestVersion) {
		s.warn("claude: the CLI is older than this package is meant for", "version", version, "oldest", oldestVersion)
	}
}

// versionTime bounds asking a CLI for its version.
const versionTime = 2 * time.Second

// askVersion runs the CLI once more to learn its version, where it runs here.
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
			// Not cut short by the end of the session: a run can be shorter than this.
			ctx, cancel := context.WithTimeout(context.Background(), versionTime)
			defer cancel()
			env := s.launch.environ()
			path, err := s.launch.findCLI(env)
			if err != nil {
				return
			}
			// A CLI that cannot say it is not worth more than the warning it misses.
			if v, err := proc.Version(ctx, path, env); err == nil {
				s.checkVersion(v)
			}
		})
	})
}

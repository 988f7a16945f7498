package claude

import "github.com/seed7221b0f9/parley/internal/claudedir"

// ProjectKey is the name under which the CLI keeps the sessions of a directory: its
// real path with everything but letters and digits replaced by dashes, and cut where
// it is long. An environment can name another one for all directories.
func ProjectKey(dir string) string { return claudedir.ProjectKey(dir) }

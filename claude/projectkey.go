package claude

import "github.com/seed7221b0f9/parley/internal/claudedir"

// ProjectKey returns the name under which the CLI keeps the sessions of a directory: its
// real path with all characters other than letters and digits replaced by dashes,
// shortened if it is long. An environment variable can set another name for all
// directories.
func ProjectKey(dir string) string { return claudedir.ProjectKey(dir) }

package hook

// ConfigChangeOutput answers a change of configuration.
type ConfigChangeOutput struct {
	Output `json:"-"`
}

// InstructionsLoadedOutput answers the reading of instructions.
type InstructionsLoadedOutput struct {
	Output `json:"-"`
}

// CwdChangedOutput names files to watch. The CLI takes them from command hooks
// alone, and tells callbacks of this event only where settings have a hook for it
// or for FileChanged as well.
type CwdChangedOutput struct {
	Output     `json:"-"`
	WatchPaths []string `json:"watchPaths,omitzero"` // nil keeps them, empty watches none
}

// FileChangedOutput names files to watch, with the limits of [CwdChangedOutput].
type FileChangedOutput struct {
	Output     `json:"-"`
	WatchPaths []string `json:"watchPaths,omitzero"` // nil keeps them, empty watches none
}

// DirectoryAddedOutput answers the adding of a directory.
type DirectoryAddedOutput struct {
	Output `json:"-"`
}

// WorktreeCreateOutput has the worktree that the hook has made.
type WorktreeCreateOutput struct {
	Output       `json:"-"`
	WorktreePath string `json:"worktreePath,omitempty"` // absolute
}

// WorktreeRemoveOutput answers the end of a worktree.
type WorktreeRemoveOutput struct {
	Output `json:"-"`
}

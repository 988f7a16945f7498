package hook

// ConfigChangeOutput is the output of a ConfigChange hook. It has no members beyond those of
// [Output].
type ConfigChangeOutput struct {
	Output `json:"-"`
}

// InstructionsLoadedOutput is the output of an InstructionsLoaded hook. It has no members
// beyond those of [Output].
type InstructionsLoadedOutput struct {
	Output `json:"-"`
}

// CwdChangedOutput names files to watch. The CLI takes them from command hooks only, and calls
// callbacks for this event only if the settings also have a hook for it or for FileChanged.
type CwdChangedOutput struct {
	Output     `json:"-"`
	WatchPaths []string `json:"watchPaths,omitzero"` // nil keeps them, empty watches none
}

// FileChangedOutput is the output of a FileChanged hook. It names the files to watch, with the
// limits of [CwdChangedOutput].
type FileChangedOutput struct {
	Output     `json:"-"`
	WatchPaths []string `json:"watchPaths,omitzero"` // nil keeps them, empty watches none
}

// DirectoryAddedOutput is the output of a DirectoryAdded hook. It has no members beyond those
// of [Output].
type DirectoryAddedOutput struct {
	Output `json:"-"`
}

// WorktreeCreateOutput is the output of a WorktreeCreate hook: the absolute path of the
// worktree that the hook has created.
type WorktreeCreateOutput struct {
	Output       `json:"-"`
	WorktreePath string `json:"worktreePath,omitempty"` // absolute
}

// WorktreeRemoveOutput is the output of a WorktreeRemove hook. It has no members beyond those
// of [Output].
type WorktreeRemoveOutput struct {
	Output `json:"-"`
}

package claude

// ConfigChangeOutput answers a change of configuration.
type ConfigChangeOutput struct {
	HookOutput `json:"-"`
}

// InstructionsLoadedOutput answers the reading of instructions.
type InstructionsLoadedOutput struct {
	HookOutput `json:"-"`
}

// CwdChangedOutput names files to watch.
type CwdChangedOutput struct {
	HookOutput `json:"-"`
	WatchPaths []string `json:"watchPaths,omitzero"` // nil keeps them, empty watches none
}

// FileChangedOutput names files to watch.
type FileChangedOutput struct {
	HookOutput `json:"-"`
	WatchPaths []string `json:"watchPaths,omitzero"` // nil keeps them, empty watches none
}

// DirectoryAddedOutput answers the adding of a directory.
type DirectoryAddedOutput struct {
	HookOutput `json:"-"`
}

// WorktreeCreateOutput has the worktree that the hook has made.
type WorktreeCreateOutput struct {
	HookOutput   `json:"-"`
	WorktreePath string `json:"worktreePath,omitempty"` // absolute
}

// WorktreeRemoveOutput answers the end of a worktree.
type WorktreeRemoveOutput struct {
	HookOutput `json:"-"`
}

package hook

// ConfigSource is the configuration that changed. The set is open: a newer CLI may send values
// that have no constant here.
type ConfigSource string

// The sources that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	ConfigUserSettings    ConfigSource = "user_settings"
	ConfigProjectSettings ConfigSource = "project_settings"
	ConfigLocalSettings   ConfigSource = "local_settings"
	ConfigPolicySettings  ConfigSource = "policy_settings"
	ConfigSkills          ConfigSource = "skills"
)

// ConfigChangeInput is the input of a ConfigChange hook. A file of the configuration has
// changed on disk.
type ConfigChangeInput struct {
	Input
	Source   ConfigSource `json:"source"`
	FilePath string       `json:"file_path,omitempty"`
}

// MemoryType is the owner of a file of instructions. The set is open: a newer CLI may send values
// that have no constant here.
type MemoryType string

// The types that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	MemoryUser    MemoryType = "User"
	MemoryProject MemoryType = "Project"
	MemoryLocal   MemoryType = "Local"
	MemoryManaged MemoryType = "Managed"
)

// LoadReason is the reason why a file of instructions was read. The set is open: a newer CLI may
// send values that have no constant here.
type LoadReason string

// The reasons that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	LoadSessionStart    LoadReason = "session_start"
	LoadNestedTraversal LoadReason = "nested_traversal"
	LoadPathGlobMatch   LoadReason = "path_glob_match"
	LoadInclude         LoadReason = "include"
	LoadCompact         LoadReason = "compact"
)

// InstructionsLoadedInput is the input of an InstructionsLoaded hook. The CLI has read a file
// of instructions, for the given reason.
type InstructionsLoadedInput struct {
	Input
	FilePath        string     `json:"file_path"`
	MemoryType      MemoryType `json:"memory_type"`
	LoadReason      LoadReason `json:"load_reason"`
	Globs           []string   `json:"globs,omitempty"`
	TriggerFilePath string     `json:"trigger_file_path,omitempty"` // the file that the CLI read before loading this one
	ParentFilePath  string     `json:"parent_file_path,omitempty"`  // the file that includes it
}

// CwdChangedInput is the input of a CwdChanged hook, with the working directory before and
// after the change.
type CwdChangedInput struct {
	Input
	OldCWD string `json:"old_cwd"`
	NewCWD string `json:"new_cwd"`
}

// FileEvent is the kind of change to a file. The set is open: a newer CLI may send values that
// have no constant here.
type FileEvent string

// The events that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	FileChange FileEvent = "change"
	FileAdd    FileEvent = "add"
	FileUnlink FileEvent = "unlink"
)

// FileChangedInput is the input of a FileChanged hook. A watched file has changed: one that a
// matcher or the WatchPaths of an output names.
type FileChangedInput struct {
	Input
	FilePath string    `json:"file_path"`
	Event    FileEvent `json:"event"`
}

// DirectorySource is the way in which a directory was added. The set is open: a newer CLI may
// send values that have no constant here.
type DirectorySource string

// The sources that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	DirectoryBySlashCommand DirectorySource = "slash_command"
	DirectoryByRepoRoot     DirectorySource = "register_repo_root" // the control request
)

// DirectoryAddedInput is the input of a DirectoryAdded hook. Tools may now use another directory
// in addition to the working directory.
type DirectoryAddedInput struct {
	Input
	Directory string          `json:"directory"`
	Source    DirectorySource `json:"source"`
}

// WorktreeCreateInput is the input of a WorktreeCreate hook, which creates the worktree of this
// name in place of the CLI.
type WorktreeCreateInput struct {
	Input
	Name string `json:"name"`
}

// WorktreeRemoveInput is the input of a WorktreeRemove hook, which removes a worktree that a
// hook has made.
type WorktreeRemoveInput struct {
	Input
	WorktreePath string `json:"worktree_path"`
}

package tool

import "github.com/seed7221b0f9/parley/claude/message"

// ProjectsInput is the input of Projects. Method is the operation and decides which of the other
// members are set.
type ProjectsInput struct {
	Method        string  `json:"method"` // project_info, project_read, project_search, project_write, project_delete, project_memory_list, project_memory_read
	Path          string  `json:"path,omitempty"`
	Content       *string `json:"content,omitempty"`
	LocalPath     string  `json:"local_path,omitempty"`
	PresentToUser *bool   `json:"present_to_user,omitempty"`
	Query         string  `json:"query,omitempty"`
	N             *int64  `json:"n,omitempty"`
}

// ProjectsResult is the result of Projects. Method decides which members are set: the comment of
// each member lists the methods without the prefix project_.
type ProjectsResult struct {
	Method    string `json:"method"`
	Notice    string `json:"notice,omitempty"`
	LocalFile string `json:"local_file,omitempty"` // info, read, memory_read

	Name         string              `json:"name,omitempty"`         // info
	Description  string              `json:"description,omitempty"`  // info
	Instructions string              `json:"instructions,omitempty"` // info
	Docs         message.JSON        `json:"docs,omitempty"`         // info: [{path, created_at}]; search: an array of strings
	Files        []ProjectFile       `json:"files,omitempty"`        // info, memory_list
	SyncSources  []ProjectSyncSource `json:"sync_sources,omitempty"` // info
	Knowledge    *ProjectKnowledge   `json:"knowledge,omitempty"`    // info

	Path      string  `json:"path,omitempty"`       // read, write, delete, memory_read
	FileKind  string  `json:"file_kind,omitempty"`  // read
	Content   *string `json:"content,omitempty"`    // read, memory_read; nil: it is in LocalFile
	CreatedAt string  `json:"created_at,omitempty"` // read
	UpdatedAt string  `json:"updated_at,omitempty"` // memory_read
	SizeBytes int64   `json:"size_bytes,omitempty"` // memory_read
	Truncated bool    `json:"truncated,omitempty"`  // memory_list, memory_read

	RAG  *bool        `json:"rag,omitempty"`  // search
	Hits []ProjectHit `json:"hits,omitempty"` // search

	DocUUID       string `json:"doc_uuid,omitempty"`        // write
	Replaced      bool   `json:"replaced,omitempty"`        // write
	PresentToUser *bool  `json:"present_to_user,omitempty"` // write
	LocalPath     string `json:"local_path,omitempty"`      // write
	Deleted       bool   `json:"deleted,omitempty"`         // delete
}

// ProjectFile is a file of a project, or of its memory. The comment of a member names the
// method that has it.
type ProjectFile struct {
	Path      string `json:"path"`
	FileKind  string `json:"file_kind,omitempty"`  // project_info
	CreatedAt string `json:"created_at,omitempty"` // project_info
	SizeBytes int64  `json:"size_bytes,omitempty"` // project_memory_list
	UpdatedAt string `json:"updated_at,omitempty"` // project_memory_list
	Truncated bool   `json:"truncated,omitempty"`  // project_memory_list
}

// ProjectSyncSource is a source of a project's files. Config depends on Type and is kept
// undecoded.
type ProjectSyncSource struct {
	Type   string       `json:"type"`
	Config message.JSON `json:"config"`
}

// ProjectKnowledge reports how much of its space a project uses: the size of its knowledge and
// the limit.
type ProjectKnowledge struct {
	KnowledgeSize    int64 `json:"knowledge_size"`
	MaxKnowledgeSize int64 `json:"max_knowledge_size"`
}

// ProjectHit is a passage that a search in a project found: the document, the text, and the
// page if it has one.
type ProjectHit struct {
	Name          string `json:"name,omitempty"`
	DocUUID       string `json:"doc_uuid,omitempty"`
	Text          string `json:"text,omitempty"`
	ImageAttached bool   `json:"image_attached,omitempty"`
	Page          *int64 `json:"page,omitempty"`
}

// ClaudeDesignInput is the input of ClaudeDesign: the name of an operation, and its arguments
// as an undecoded object.
type ClaudeDesignInput struct {
	Operation string       `json:"operation"`
	Arguments message.JSON `json:"arguments"` // an object
}

// ClaudeDesignResult is the result of ClaudeDesign: the content that the operation returned,
// and whether it is an error.
type ClaudeDesignResult struct {
	Operation string                 `json:"operation"`
	Content   []message.ContentBlock `json:"content"`
	IsError   bool                   `json:"isError,omitempty"`
}

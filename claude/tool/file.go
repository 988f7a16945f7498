package tool

import "github.com/seed7221b0f9/parley/claude/message"

// ReadInput is the input of Read: the path of a file, and the lines or pages of it to read.
type ReadInput struct {
	FilePath   string `json:"file_path"`
	Offset     *int64 `json:"offset,omitempty"` // the number of the first line
	Limit      *int64 `json:"limit,omitempty"`  // the number of lines
	Pages      string `json:"pages,omitempty"`  // of a PDF: "1-5"
	AllowLarge bool   `json:"allow_large,omitempty"`
}

// ReadResult is the result of Read. Type is the kind of file, and decides which members of File
// are set.
type ReadResult struct {
	Type         string        `json:"type"` // text, image, notebook, pdf, parts
	File         ReadFile      `json:"file"`
	ArtifactRead *ArtifactRead `json:"artifactRead,omitempty"` // text
	FirstPage    *int64        `json:"firstPage,omitempty"`    // parts
	Pages        []ReadPage    `json:"pages,omitempty"`        // parts
}

// ReadFile is the file that was read. The comment of each member names the types of file that
// have it.
type ReadFile struct {
	FilePath            string           `json:"filePath,omitempty"`            // all but image
	Content             string           `json:"content,omitempty"`             // text
	NumLines            int64            `json:"numLines,omitempty"`            // text
	StartLine           int64            `json:"startLine,omitempty"`           // text
	TotalLines          int64            `json:"totalLines,omitempty"`          // text
	TruncatedByTokenCap bool             `json:"truncatedByTokenCap,omitempty"` // text
	Base64              string           `json:"base64,omitempty"`              // image, pdf
	Type                string           `json:"type,omitempty"`                // image: its media type
	OriginalSize        int64            `json:"originalSize,omitempty"`        // image, pdf, parts: in bytes
	Dimensions          *ImageDimensions `json:"dimensions,omitempty"`          // image
	Cells               message.JSON     `json:"cells,omitempty"`               // notebook
	Count               int64            `json:"count,omitempty"`               // parts
	OutputDir           string           `json:"outputDir,omitempty"`           // parts
}

// ImageDimensions is the size of an image in pixels, before and after it was scaled for the
// model.
type ImageDimensions struct {
	OriginalWidth  int64 `json:"originalWidth,omitempty"`
	OriginalHeight int64 `json:"originalHeight,omitempty"`
	DisplayWidth   int64 `json:"displayWidth,omitempty"`
	DisplayHeight  int64 `json:"displayHeight,omitempty"`
}

// ReadPage is one page of a document that was read as images, or the error of that page.
type ReadPage struct {
	Base64    string `json:"base64"`
	MediaType string `json:"mediaType"`
	Error     string `json:"error,omitempty"`
}

// ArtifactRead is set when the file that was read is a published artifact, and names it and its
// version.
type ArtifactRead struct {
	Slug   string `json:"slug"`
	Ver    string `json:"ver,omitempty"`
	Seeded *bool  `json:"seeded,omitempty"`
}

// EditInput is the input of Edit: the string in a file to replace, and the new one. With
// ReplaceAll every occurrence is replaced.
type EditInput struct {
	FilePath   string `json:"file_path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

// EditResult is the result of Edit: the replacement, the content before it, and the patch that
// it makes.
type EditResult struct {
	FilePath        string      `json:"filePath"`
	OldString       string      `json:"oldString"`
	NewString       string      `json:"newString"`
	OriginalFile    *string     `json:"originalFile"` // the content before; nil: not known
	StructuredPatch []PatchHunk `json:"structuredPatch"`
	UserModified    bool        `json:"userModified"` // the user changed the edit before allowing it
	ReplaceAll      bool        `json:"replaceAll"`
	GitDiff         *GitDiff    `json:"gitDiff,omitempty"`
	Staged          bool        `json:"staged,omitempty"`
}

// PatchHunk is one hunk of a unified diff: where it starts in the old and the new file, and its
// lines.
type PatchHunk struct {
	OldStart int64    `json:"oldStart"`
	OldLines int64    `json:"oldLines"`
	NewStart int64    `json:"newStart"`
	NewLines int64    `json:"newLines"`
	Lines    []string `json:"lines"` // each after ' ', '-' or '+'
}

// GitDiff is the change to a file as git shows it: its status, the lines it adds and removes,
// and the patch.
type GitDiff struct {
	Filename   string `json:"filename"`
	Status     string `json:"status"` // modified, added
	Additions  int64  `json:"additions"`
	Deletions  int64  `json:"deletions"`
	Changes    int64  `json:"changes"`
	Patch      string `json:"patch"`
	Repository string `json:"repository,omitempty"`
}

// WriteInput is the input of Write, which creates a file or replaces its whole content. The
// path is absolute.
type WriteInput struct {
	FilePath string `json:"file_path"`
	Content  string `json:"content"`
}

// WriteResult is the result of Write: the new content, the content before it, and the patch
// between them.
type WriteResult struct {
	Type            string      `json:"type"` // create, update
	FilePath        string      `json:"filePath"`
	Content         string      `json:"content"`
	StructuredPatch []PatchHunk `json:"structuredPatch"` // empty for a new file
	OriginalFile    *string     `json:"originalFile"`    // the content before; nil for a new file
	GitDiff         *GitDiff    `json:"gitDiff,omitempty"`
	UserModified    bool        `json:"userModified,omitempty"`
	Staged          bool        `json:"staged,omitempty"`
}

// NotebookEditInput is the input of NotebookEdit, which replaces, inserts or deletes a cell of
// a Jupyter notebook.
type NotebookEditInput struct {
	NotebookPath string `json:"notebook_path"`
	CellID       string `json:"cell_id,omitempty"` // for insert: the cell before
	NewSource    string `json:"new_source"`
	CellType     string `json:"cell_type,omitempty"` // code, markdown
	EditMode     string `json:"edit_mode,omitempty"` // replace, insert, delete
}

// NotebookEditResult is the result of NotebookEdit: the cell that was changed, and the notebook
// before and after.
type NotebookEditResult struct {
	NewSource    string  `json:"new_source"`
	OldSource    *string `json:"old_source,omitempty"`
	CellID       string  `json:"cell_id,omitempty"`
	CellType     string  `json:"cell_type"` // code, markdown
	Language     string  `json:"language"`
	EditMode     string  `json:"edit_mode"`
	Error        string  `json:"error,omitempty"`
	NotebookPath string  `json:"notebook_path"`
	OriginalFile string  `json:"original_file"`
	UpdatedFile  string  `json:"updated_file"`
}

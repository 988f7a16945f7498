package contextref

import "encoding/json"

// Kind is the kind of a [Reference]. Its values are those of the member type in contexts.
type Kind string

// The kinds of references with a Go type. A reference of any other kind is an [Unknown].
const (
	KindFile      Kind = "FileReference"
	KindWeb       Kind = "WebReference"
	KindFolder    Kind = "FolderReference"
	KindSymbol    Kind = "SymbolReference"
	KindTerminal  Kind = "TerminalReference"
	KindProblems  Kind = "ProblemsReference"
	KindGit       Kind = "GitReference"
	KindSelection Kind = "SelectionReference"
	KindWorkspace Kind = "WorkspaceReference"
	KindImage     Kind = "ImageReference"
)

// Reference is one entry of a context block: *File, *Web, *Folder, *Symbol, *Terminal, *Problems,
// *Git, *Selection, *Workspace, *Image, or *Unknown for an unknown kind.
type Reference interface {
	// Kind returns the member type in contexts, "" for an unknown line of a block.
	Kind() Kind

	beside() *Beside
	// line returns the text after the dash in the block.
	line(l *labels) (string, error)
}

// Beside holds the common fields of references that are not on the line. They are only in the
// contexts.
type Beside struct {
	DisplayType string                     `json:"displayType,omitempty"` // display in a front end: TAG
	Extra       map[string]json.RawMessage `json:"-"`                     // members without a field
}

func (b *Beside) beside() *Beside { return b }

// File is a reference to a file. Its path is on the line; the full path is in the contexts only.
type File struct {
	Path     string `json:"path"` // on the line; no back quote, no line break
	FullPath string `json:"fullPath,omitempty"`
	Beside
}

// Kind returns [KindFile], the member type of a reference to a file in the contexts.
func (*File) Kind() Kind { return KindFile }

// Web is a reference to a web page. Its address is on the line, followed by the title.
type Web struct {
	URL   string `json:"url"`             // on the line; no white space
	Title string `json:"title,omitempty"` // on the line if not empty
	Beside
}

// Kind returns [KindWeb], the member type of a reference to a page in the contexts.
func (*Web) Kind() Kind { return KindWeb }

// Folder is a reference to a directory. The number of its files is on the line if known.
type Folder struct {
	Path      string `json:"path"`                // on the line; no back quote, no line break
	FileCount *int   `json:"fileCount,omitempty"` // on the line if known
	FullPath  string `json:"fullPath,omitempty"`
	Beside
}

// Kind returns [KindFolder], the member type of a reference to a directory in the contexts.
func (*Folder) Kind() Kind { return KindFolder }

// Symbol is a reference to a name in a program, such as a function, with its type and its location.
type Symbol struct {
	Name       string `json:"name"`                 // on the line; no back quote
	SymbolType string `json:"symbolType,omitempty"` // FUNCTION, CLASS, …; on the line if not empty; no closing bracket
	File       string `json:"file,omitempty"`       // on the line if not empty
	Line       int    `json:"line,omitempty"`       // on the line after File if not 0
	Beside
}

// Kind returns [KindSymbol], the member type of a reference to a symbol in the contexts.
func (*Symbol) Kind() Kind { return KindSymbol }

// Terminal is a reference to the output of a terminal. The line has the number of its lines, not
// the text.
type Terminal struct {
	Lines   int    `json:"lines"`             // on the line
	IsError bool   `json:"isError,omitempty"` // on the line as a warning sign
	Content string `json:"content,omitempty"`
	Beside
}

// Kind returns [KindTerminal], the member type of a reference to a terminal in the contexts.
func (*Terminal) Kind() Kind { return KindTerminal }

// Problems is a reference to findings of a compiler or linter. The line has their number and their
// severity.
type Problems struct {
	Count    int             `json:"count"`              // on the line
	Severity string          `json:"severity,omitempty"` // ERROR, WARNING, …; on the line if not empty; no closing bracket
	Problems json.RawMessage `json:"problems,omitempty"`
	Beside
}

// Kind returns [KindProblems], the member type of a reference to problems in the contexts.
func (*Problems) Kind() Kind { return KindProblems }

// Git is a reference to an output of git, such as a diff or a commit. Its type is on the line.
type Git struct {
	GitType string `json:"gitType"` // DIFF, COMMIT, …; on the line
	Content string `json:"content,omitempty"`
	Beside
}

// Kind returns [KindGit], the member type of a reference to git in the contexts.
func (*Git) Kind() Kind { return KindGit }

// Selection is a reference to the selection in the editor. The selected text is in the contexts
// only.
type Selection struct {
	Content string `json:"content,omitempty"`
	Beside
}

// Kind returns [KindSelection], the member type of a reference to a selection in the contexts.
func (*Selection) Kind() Kind { return KindSelection }

// Workspace is a reference to the whole workspace of the editor. The line has only its kind.
type Workspace struct{ Beside }

// Kind returns [KindWorkspace], the member type of a reference to the workspace in the contexts.
func (*Workspace) Kind() Kind { return KindWorkspace }

// Image is a reference to a picture. Its name and, if known, its size are on the line.
type Image struct {
	Name     string `json:"name"`           // on the line; no back quote, no line break
	Size     string `json:"size,omitempty"` // on the line if not empty, as 12KB; see [ImageSize]
	MimeType string `json:"mimeType,omitempty"`
	Beside
}

// Kind returns [KindImage], the member type of a reference to a picture in the contexts.
func (*Image) Kind() Kind { return KindImage }

// Unknown is a reference of an unknown kind: a line of a block that begins with an unknown icon, or
// an element of contexts. An element of contexts has no line and is omitted from a block.
type Unknown struct {
	Line string // the text after the dash in the block
	Type Kind   // the member type, for an element of contexts
	Beside
}

// Kind returns the member type in the contexts, or "" for a line of a block.
func (u *Unknown) Kind() Kind { return u.Type }

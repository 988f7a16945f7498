package contextref

import "encoding/json"

// Kind says what a [Reference] refers to. Its values are those of the member type
// in contexts.
type Kind string

// The kinds. A kind that is none of these is kept by [Unknown].
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

// Reference is one entry of a context block: *File, *Web, *Folder, *Symbol,
// *Terminal, *Problems, *Git, *Selection, *Workspace, *Image, or *Unknown for
// what this package does not know.
type Reference interface {
	// Kind is the member type in contexts, "" for an unknown line of a block.
	Kind() Kind

	beside() *Beside
	// line is what follows the dash in the block.
	line(l *labels) (string, error)
}

// Beside is what every reference has beside its line: it is in contexts only.
type Beside struct {
	DisplayType string                     `json:"displayType,omitempty"` // how a front end shows it: TAG
	Extra       map[string]json.RawMessage `json:"-"`                     // members that the type has no field for
}

func (b *Beside) beside() *Beside { return b }

// File refers to a file.
type File struct {
	Path     string `json:"path"` // stands on the line; no back quote, no line break
	FullPath string `json:"fullPath,omitempty"`
	Beside
}

// Kind is KindFile.
func (*File) Kind() Kind { return KindFile }

// Web refers to a page.
type Web struct {
	URL   string `json:"url"`             // stands on the line; no white space
	Title string `json:"title,omitempty"` // stands on the line if it is not empty
	Beside
}

// Kind is KindWeb.
func (*Web) Kind() Kind { return KindWeb }

// Folder refers to a directory.
type Folder struct {
	Path      string `json:"path"`                // stands on the line; no back quote, no line break
	FileCount *int   `json:"fileCount,omitempty"` // stands on the line if it is known
	FullPath  string `json:"fullPath,omitempty"`
	Beside
}

// Kind is KindFolder.
func (*Folder) Kind() Kind { return KindFolder }

// Symbol refers to a name in a program.
type Symbol struct {
	Name       string `json:"name"`                 // stands on the line; no back quote
	SymbolType string `json:"symbolType,omitempty"` // FUNCTION, CLASS, …; stands on the line if it is not empty; no closing bracket
	File       string `json:"file,omitempty"`       // stands on the line if it is not empty
	Line       int    `json:"line,omitempty"`       // stands on the line behind File if it is not 0
	Beside
}

// Kind is KindSymbol.
func (*Symbol) Kind() Kind { return KindSymbol }

// Terminal refers to the output of a terminal.
type Terminal struct {
	Lines   int    `json:"lines"`             // stands on the line
	IsError bool   `json:"isError,omitempty"` // stands on the line as a warning sign
	Content string `json:"content,omitempty"`
	Beside
}

// Kind is KindTerminal.
func (*Terminal) Kind() Kind { return KindTerminal }

// Problems refers to what a compiler or linter found.
type Problems struct {
	Count    int             `json:"count"`              // stands on the line
	Severity string          `json:"severity,omitempty"` // ERROR, WARNING, …; stands on the line if it is not empty; no closing bracket
	Problems json.RawMessage `json:"problems,omitempty"`
	Beside
}

// Kind is KindProblems.
func (*Problems) Kind() Kind { return KindProblems }

// Git refers to something that Git shows.
type Git struct {
	GitType string `json:"gitType"` // DIFF, COMMIT, …; stands on the line
	Content string `json:"content,omitempty"`
	Beside
}

// Kind is KindGit.
func (*Git) Kind() Kind { return KindGit }

// Selection refers to what is selected in the editor.
type Selection struct {
	Content string `json:"content,omitempty"`
	Beside
}

// Kind is KindSelection.
func (*Selection) Kind() Kind { return KindSelection }

// Workspace refers to the whole workspace.
type Workspace struct{ Beside }

// Kind is KindWorkspace.
func (*Workspace) Kind() Kind { return KindWorkspace }

// Image refers to a picture.
type Image struct {
	Name     string `json:"name"`           // stands on the line; no back quote, no line break
	Size     string `json:"size,omitempty"` // stands on the line if it is not empty, as 12KB; see [ImageSize]
	MimeType string `json:"mimeType,omitempty"`
	Beside
}

// Kind is KindImage.
func (*Image) Kind() Kind { return KindImage }

// Unknown is a reference of a kind that this package does not know: a line of a
// block that begins with an icon of its own, or an element of contexts. One from
// contexts has no line and is left out of a block.
type Unknown struct {
	Line string // what follows the dash in the block
	Type Kind   // the member type, of an element of contexts
	Beside
}

// Kind is the member type of contexts, "" for a line of a block.
func (u *Unknown) Kind() Kind { return u.Type }

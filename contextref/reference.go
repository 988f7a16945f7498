package contextref

import "encoding/json"

// Kind says what a [Reference] refers to. Its values are those of the member type
// in contexts.
type Kind string

// The kinds of references that have a type here. A reference of any other kind is kept as an
// [Unknown].
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

// Beside is what every reference has beside its line of text. It is part of the contexts only,
// not of the line.
type Beside struct {
	DisplayType string                     `json:"displayType,omitempty"` // how a front end shows it: TAG
	Extra       map[string]json.RawMessage `json:"-"`                     // members that the type has no field for
}

func (b *Beside) beside() *Beside { return b }

// File is a reference to a file. Its path stands on the line; the full path is in the contexts
// only.
type File struct {
	Path     string `json:"path"` // stands on the line; no back quote, no line break
	FullPath string `json:"fullPath,omitempty"`
	Beside
}

// Kind returns [KindFile], which the contexts have as the member type of a reference to a file.
func (*File) Kind() Kind { return KindFile }

// Web is a reference to a page of the web. Its address stands on the line, with the title after
// it.
type Web struct {
	URL   string `json:"url"`             // stands on the line; no white space
	Title string `json:"title,omitempty"` // stands on the line if it is not empty
	Beside
}

// Kind returns [KindWeb], which the contexts have as the member type of a reference to a page.
func (*Web) Kind() Kind { return KindWeb }

// Folder is a reference to a directory. The number of its files stands on the line if it is
// known.
type Folder struct {
	Path      string `json:"path"`                // stands on the line; no back quote, no line break
	FileCount *int   `json:"fileCount,omitempty"` // stands on the line if it is known
	FullPath  string `json:"fullPath,omitempty"`
	Beside
}

// Kind returns [KindFolder], which the contexts have as the member type of a reference to a
// directory.
func (*Folder) Kind() Kind { return KindFolder }

// Symbol is a reference to a name in a program, such as a function, with its type and its
// place.
type Symbol struct {
	Name       string `json:"name"`                 // stands on the line; no back quote
	SymbolType string `json:"symbolType,omitempty"` // FUNCTION, CLASS, …; stands on the line if it is not empty; no closing bracket
	File       string `json:"file,omitempty"`       // stands on the line if it is not empty
	Line       int    `json:"line,omitempty"`       // stands on the line after File if it is not 0
	Beside
}

// Kind returns [KindSymbol], which the contexts have as the member type of a reference to a
// symbol.
func (*Symbol) Kind() Kind { return KindSymbol }

// Terminal is a reference to the output of a terminal. The line has the number of its lines,
// not the text.
type Terminal struct {
	Lines   int    `json:"lines"`             // stands on the line
	IsError bool   `json:"isError,omitempty"` // stands on the line as a warning sign
	Content string `json:"content,omitempty"`
	Beside
}

// Kind returns [KindTerminal], which the contexts have as the member type of a reference to a
// terminal.
func (*Terminal) Kind() Kind { return KindTerminal }

// Problems is a reference to what a compiler or linter found. The line has their number and
// their severity.
type Problems struct {
	Count    int             `json:"count"`              // stands on the line
	Severity string          `json:"severity,omitempty"` // ERROR, WARNING, …; stands on the line if it is not empty; no closing bracket
	Problems json.RawMessage `json:"problems,omitempty"`
	Beside
}

// Kind returns [KindProblems], which the contexts have as the member type of a reference to
// problems.
func (*Problems) Kind() Kind { return KindProblems }

// Git is a reference to something that git shows, such as a diff or a commit, whose type stands
// on the line.
type Git struct {
	GitType string `json:"gitType"` // DIFF, COMMIT, …; stands on the line
	Content string `json:"content,omitempty"`
	Beside
}

// Kind returns [KindGit], which the contexts have as the member type of a reference to git.
func (*Git) Kind() Kind { return KindGit }

// Selection is a reference to what is selected in the editor. The selected text is in the
// contexts only.
type Selection struct {
	Content string `json:"content,omitempty"`
	Beside
}

// Kind returns [KindSelection], which the contexts have as the member type of a reference to a
// selection.
func (*Selection) Kind() Kind { return KindSelection }

// Workspace is a reference to the whole workspace of the editor. It has nothing but its kind on
// the line.
type Workspace struct{ Beside }

// Kind returns [KindWorkspace], which the contexts have as the member type of a reference to
// the workspace.
func (*Workspace) Kind() Kind { return KindWorkspace }

// Image is a reference to a picture. Its name and its size, if that is known, stand on the
// line.
type Image struct {
	Name     string `json:"name"`           // stands on the line; no back quote, no line break
	Size     string `json:"size,omitempty"` // stands on the line if it is not empty, as 12KB; see [ImageSize]
	MimeType string `json:"mimeType,omitempty"`
	Beside
}

// Kind returns [KindImage], which the contexts have as the member type of a reference to a
// picture.
func (*Image) Kind() Kind { return KindImage }

// Unknown is a reference of a kind that this package does not know: a line of a
// block that begins with an icon of its own, or an element of contexts. One from
// contexts has no line and is left out of a block.
type Unknown struct {
	Line string // what follows the dash in the block
	Type Kind   // the member type, of an element of contexts
	Beside
}

// Kind returns the member type that the reference has in the contexts, or "" for a line of a
// block.
func (u *Unknown) Kind() Kind { return u.Type }

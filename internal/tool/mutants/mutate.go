package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// change is a generated bug: the text of File from Start to End becomes New.
type change struct {
	File  string `json:"file"` // slash-separated, from the root of the checkout
	Start int    `json:"start"`
	End   int    `json:"end"`
	Old   string `json:"old"`
	New   string `json:"new"`
	Kind  string `json:"kind"`
	Line  int    `json:"line"`
	Text  string `json:"text"` // of the line
	// Body is the inner text of the outermost function around the change. Expr reports an arrow function without braces, Results a function of Go that returns something.
	Body    [2]int `json:"body"`
	Expr    bool   `json:"expr"`
	Results bool   `json:"results"`
	// At is the start of the statement around the change. Labels are the ends of the labels in the body, which get other names in the copy.
	At     int   `json:"at"`
	Labels []int `json:"labels"`

	id int // number in the sample
}

// String describes the change on one line.
func (c *change) String() string {
	return c.Kind + ": " + oneLine(c.Old) + " → " + oneLine(c.New)
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "(nothing)"
	}
	if len(text) > 120 {
		text = strings.ToValidUTF8(text[:120], "") + "…"
	}
	return text
}

// Texts of logs and messages are not tested, and a timer that is not stopped is garbage collected.
var (
	logs     = regexp.MustCompile(`(?i)^(defer )?[\w.]*\b(s?log|logger)(\(\))?\.(Debug|Info|Warn|Error|Log|Print)\w*\(|^fmt\.Fp?rint|^panic\(|^defer \w*(timer|ticker|cancel|stop)\w*(\.Stop)?\(\)$`)
	shifts   = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.LAND: "||", token.LOR: "&&", token.EQL: "!=", token.NEQ: "=="}
	symmetry = regexp.MustCompile(`(Equal|EqualFold|DeepEqual|min|max|Max|Min|Compare|append|errors\.Is|errors\.Join)$|^(fmt|slog)\.|[lL]ogger`)
)

// goChanges returns every change of a file of Go, in the order of the text.
func goChanges(root, name string) ([]change, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	m := &mutator{name: name, text: string(text), file: fset.File(file.FileStart)}
	ast.Inspect(file, func(n ast.Node) bool {
		switch f := n.(type) {
		case *ast.FuncDecl:
			if f.Body != nil {
				m.function(f.Type, f.Body)
			}
			return false
		case *ast.FuncLit: // of a variable of the package
			m.function(f.Type, f.Body)
			return false
		}
		return true
	})
	return m.changes, nil
}

// mutator collects the changes of one file.
type mutator struct {
	name    string
	text    string
	file    *token.File
	unit    change // Body, Results and Labels of the function
	changes []change
}

func (m *mutator) span(n ast.Node) (int, int) {
	return m.file.Offset(n.Pos()), m.file.Offset(n.End())
}

func (m *mutator) source(n ast.Node) string {
	start, end := m.span(n)
	return m.text[start:end]
}

// add adds a change of the text between two offsets, in a statement that begins at the third.
func (m *mutator) add(kind string, start, end, at int, is string) {
	c := m.unit
	c.File, c.Kind, c.Start, c.End, c.At, c.Old, c.New = m.name, kind, start, end, at, m.text[start:end], is
	c.Line, c.Text = lineAt(m.text, start)
	m.changes = append(m.changes, c)
}

// lineAt returns the number and the text of the line of an offset.
func lineAt(text string, offset int) (int, string) {
	begin := strings.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ := strings.Cut(text[begin:], "\n")
	return strings.Count(text[:offset], "\n") + 1, strings.TrimSpace(line)
}

func (m *mutator) function(sig *ast.FuncType, body *ast.BlockStmt) {
	m.unit = change{Body: [2]int{m.file.Offset(body.Lbrace) + 1, m.file.Offset(body.Rbrace)}, Results: sig.Results != nil}
	ast.Inspect(body, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.LabeledStmt:
			m.unit.Labels = append(m.unit.Labels, m.file.Offset(s.Label.End()))
		case *ast.BranchStmt:
			if s.Label != nil {
				m.unit.Labels = append(m.unit.Labels, m.file.Offset(s.Label.End()))
			}
		}
		return true
	})
	m.list(body.List)
}

// list adds the changes of consecutive statements.
func (m *mutator) list(list []ast.Stmt) {
	for _, s := range list {
		start, end := m.span(s)
		m.drop(s, start, end)
		m.inside(s, start)
	}
}

// drop adds the change that omits a statement, and the one that returns no error.
func (m *mutator) drop(s ast.Stmt, start, end int) {
	kind := "statement dropped"
	switch s := s.(type) {
	case *ast.ReturnStmt:
		kind = "return dropped"
		if len(s.Results) > 0 {
			if last, ok := s.Results[len(s.Results)-1].(*ast.Ident); ok && strings.HasPrefix(last.Name, "err") {
				from, to := m.span(last)
				m.add("error ignored", from, to, start, "nil")
			}
		}
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return
		}
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt, *ast.BranchStmt:
		if logs.MatchString(m.text[start:end]) {
			return
		}
	default:
		return
	}
	m.add(kind, start, end, start, "")
}

// inside adds the changes below a statement that begins at the offset.
func (m *mutator) inside(s ast.Node, at int) {
	whole := map[ast.Expr]bool{} // conditions that are negated as a whole
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			if len(n.List) > 0 && !isClause(n.List[0]) {
				m.list(n.List)
				return false
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				if whole[e] {
					m.condition(e, at)
				}
				if b, ok := e.(*ast.BinaryExpr); ok && whole[e] {
					m.operator(b, at, true)
					m.inside(b.X, at)
					m.inside(b.Y, at)
					continue
				}
				m.inside(e, at)
			}
			m.list(n.Body)
			return false
		case *ast.CommClause:
			if n.Comm != nil {
				m.inside(n.Comm, at)
			}
			m.list(n.Body)
			return false
		case *ast.IfStmt:
			whole[n.Cond] = true
			m.condition(n.Cond, at)
		case *ast.ForStmt:
			if n.Cond != nil {
				whole[n.Cond] = true
				m.condition(n.Cond, at)
			}
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					whole[e] = n.Tag == nil
				}
			}
		case *ast.ExprStmt:
			return !logs.MatchString(m.source(n))
		case *ast.BinaryExpr:
			m.operator(n, at, whole[n])
		case *ast.CallExpr:
			m.call(n, at)
		}
		return true
	})
}

func isClause(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// condition adds the changes of a condition as a whole.
func (m *mutator) condition(e ast.Expr, at int) {
	start, end := m.span(e)
	m.add("condition negated", start, end, at, "!("+m.text[start:end]+")")
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.NEQ && m.source(b.Y) == "nil" && strings.HasPrefix(strings.ToLower(m.source(b.X)), "err") {
		m.add("error ignored", start, end, at, m.text[start:end]+" && false")
	}
}

// operator adds the mutant with a shifted comparison. For == and != as a whole condition this would
// equal the negated condition.
func (m *mutator) operator(e *ast.BinaryExpr, at int, whole bool) {
	is := shifts[e.Op]
	if is == "" || whole && (e.Op == token.EQL || e.Op == token.NEQ) {
		return
	}
	from := m.file.Offset(e.OpPos)
	m.add("comparison shifted", from, from+len(e.Op.String()), at, is)
}

// call adds the changes of a call: two adjacent arguments, swapped.
func (m *mutator) call(e *ast.CallExpr, at int) {
	if symmetry.MatchString(m.source(e.Fun)) {
		return
	}
	for i := range max(0, len(e.Args)-1) {
		a, b := m.source(e.Args[i]), m.source(e.Args[i+1])
		if a == b || strings.Contains(a, "%") || e.Ellipsis.IsValid() && i+2 == len(e.Args) {
			continue
		}
		start, mid := m.span(e.Args[i])
		next, end := m.span(e.Args[i+1])
		m.add("arguments swapped", start, end, at, b+m.text[mid:next]+a)
	}
}

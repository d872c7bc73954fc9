package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// change is one place of a file with other text in it.
type change struct {
	file     string
	src      []byte
	from, to int // bytes that are replaced
	text     string
	what     string // the function, and the old and new text
	line     int
	nth      int // of those in the file that read alike
}

// id names the change so that other changes of the file do not rename it.
func (c *change) id() string {
	s := c.file + " " + c.what
	if c.nth > 0 {
		s += fmt.Sprintf(" #%d", c.nth+1)
	}
	return s
}

// apply is the file with the change. Lines keep their numbers.
func (c *change) apply() []byte {
	out := append([]byte(nil), c.src[:c.from]...)
	out = append(out, c.text...)
	out = append(out, strings.Repeat("\n", strings.Count(string(c.src[c.from:c.to]), "\n"))...)
	return append(out, c.src[c.to:]...)
}

// swaps are the operators that change into each other.
var swaps = map[token.Token][]string{
	token.EQL: {"!="}, token.NEQ: {"=="}, token.LSS: {"<=", ">="}, token.LEQ: {"<", ">"}, token.GTR: {">=", "<="},
	token.GEQ: {">", "<"}, token.LAND: {"||"}, token.LOR: {"&&"}, token.ADD: {"-"}, token.SUB: {"+"},
	token.SHL: {">>"}, token.SHR: {"<<"}, token.AND: {"|"}, token.OR: {"&"},
}

// changes lists the changes of a file.
func changes(name string, src []byte) (out []change, err error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, src, 0)
	if err != nil {
		return nil, err
	}
	seen := map[string]int{}
	in := ""
	add := func(pos token.Pos, n int, text string, show ast.Node) {
		at := set.Position(pos)
		c := change{file: name, src: src, from: at.Offset, to: at.Offset + n, text: text, line: at.Line}
		whole := string(src[set.Position(show.Pos()).Offset:set.Position(show.End()).Offset])
		c.what = fmt.Sprintf("%s: %q: %q for %q", in, short(whole), text, short(string(src[c.from:c.to])))
		c.nth = seen[c.what]
		seen[c.what]++
		out = append(out, c)
	}
	omit := func(n ast.Node) { add(n.Pos(), int(n.End()-n.Pos()), "", n) }
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		in = fn.Name.Name
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				for _, s := range swaps[n.Op] {
					if lit, ok := n.X.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						continue // no other operator joins strings
					}
					add(n.OpPos, len(n.Op.String()), s, n)
				}
			case *ast.UnaryExpr:
				if n.Op == token.NOT {
					add(n.OpPos, 1, "", n)
				}
			case *ast.Ident:
				if n.Name == "true" || n.Name == "false" {
					add(n.Pos(), len(n.Name), map[string]string{"true": "false", "false": "true"}[n.Name], n)
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "panic" {
					return false
				}
			case *ast.ExprStmt, *ast.IncDecStmt:
				if call, ok := n.(*ast.ExprStmt); ok && isPanic(call.X) {
					return false
				}
				omit(n)
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					omit(n)
				}
			}
			return true
		})
	}
	return out, nil
}

func isPanic(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}

// short is text in one line of bounded length.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return s
}

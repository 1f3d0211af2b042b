package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDocComments wants comments on 98 % of what packages export, methods of exported types
// among it and fields aside. No function is longer than 100 lines, and nine in ten are shorter
// than 40.
func TestDocComments(t *testing.T) {
	const least, longFunction, longMost = 98.0, 100, 40
	var bare []string
	var lengths []int
	exported := 0
	note := func(where, name string, docs ...*ast.CommentGroup) {
		if !ast.IsExported(name) {
			return
		}
		exported++
		if !slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return d != nil }) {
			bare = append(bare, where+" "+name)
		}
	}
	for _, files := range packages(t) {
		for _, f := range files {
			if f.test {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, filepath.Join(root(t), filepath.FromSlash(f.path)), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					n := fset.Position(d.End()).Line - fset.Position(d.Pos()).Line + 1
					if lengths = append(lengths, n); n > longFunction {
						t.Errorf("%s: %s has %d lines, want %d at most", f.path, d.Name.Name, n, longFunction)
					}
					if d.Recv == nil || receiverExported(d.Recv) {
						note(f.path, d.Name.Name, d.Doc)
					}
				case *ast.GenDecl:
					noteSpecs(f.path, d, note)
				}
			}
		}
	}
	slices.Sort(lengths)
	if most := lengths[len(lengths)*9/10]; most >= longMost {
		t.Errorf("nine in ten functions have at most %d lines, want fewer than %d", most, longMost)
	}
	share := 100 * float64(exported-len(bare)) / float64(exported)
	t.Logf("%.1f %% of %d exported names have a comment; nine in ten of %d functions have at most %d lines", share, exported, len(lengths), lengths[len(lengths)*9/10])
	if share < least {
		slices.Sort(bare)
		t.Errorf("that is under %.0f %%; without one are:\n%s", least, strings.Join(bare, "\n"))
	}
}

// noteSpecs notes the names of a declaration; the comment of a group counts for all.
func noteSpecs(path string, d *ast.GenDecl, note func(where, name string, docs ...*ast.CommentGroup)) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			note(path, s.Name.Name, s.Doc, d.Doc)
		case *ast.ValueSpec:
			for _, n := range s.Names {
				note(path, n.Name, s.Doc, s.Comment, d.Doc)
			}
		}
	}
}

// receiverExported reports whether a method's type is exported.
func receiverExported(recv *ast.FieldList) bool {
	typ := recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return ast.IsExported(x.Name)
		default:
			return false
		}
	}
}

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

// TestExamples wants each function that a library package exports in an Example of that
// package, where a newcomer sees how it is called.
func TestExamples(t *testing.T) {
	for dir, files := range packages(t) {
		if dir == "cdp/cdptest" || strings.Contains(dir, "internal") || strings.HasPrefix(dir, "cmd/") {
			continue
		}
		var exported []string
		shown := map[string]bool{}
		for _, f := range files {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), filepath.FromSlash(f.path)), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				fn, ok := d.(*ast.FuncDecl)
				switch {
				case !ok || fn.Recv != nil:
				case f.test && strings.HasPrefix(fn.Name.Name, "Example"):
					noteUses(fn, files[0].ast.Name.Name, shown)
				case !f.test && fn.Name.IsExported():
					exported = append(exported, fn.Name.Name)
				}
			}
		}
		if len(exported) == 0 {
			t.Errorf("package %s exports no function", dir)
		}
		slices.Sort(exported)
		for _, name := range slices.Compact(exported) { // one may have a file for each system
			if !shown[name] {
				t.Errorf("package %s: no Example shows %s", dir, name)
			}
		}
	}
}

// noteUses notes the names of a package that a function uses.
func noteUses(fn *ast.FuncDecl, pkg string, used map[string]bool) {
	pkg = strings.TrimSuffix(pkg, "_test")
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && id.Name == pkg {
				used[s.Sel.Name] = true
			}
		}
		return true
	})
}

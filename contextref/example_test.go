package contextref_test

import (
	"fmt"
	"log"

	"github.com/seed7221b0f9/parley/contextref"
)

// Build a message with references, and parse it.
func Example() {
	files := 15
	message, err := contextref.Build("Why does it not compile?", []contextref.Reference{
		&contextref.File{Path: "build.gradle.kts"},
		&contextref.Folder{Path: "src/main/kotlin", FileCount: &files},
		&contextref.Symbol{Name: "MyClass.method()", SymbolType: "FUNCTION", File: "Main.kt", Line: 45},
	}, contextref.English)
	if err != nil {
		log.Fatal(err)
	}
	text, refs := contextref.Parse(message)
	fmt.Println(text)
	for _, r := range refs {
		switch r := r.(type) {
		case *contextref.File:
			fmt.Println("file", r.Path)
		case *contextref.Symbol:
			fmt.Println("symbol", r.Name, "in line", r.Line)
		default:
			fmt.Println(r.Kind())
		}
	}
	// Output:
	// Why does it not compile?
	// file build.gradle.kts
	// FolderReference
	// symbol MyClass.method() in line 45
}

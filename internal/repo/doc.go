// Package repo tests the repository itself: the import rules (imports.txt), the style of the
// code, the packages that a program links, and whether the names in the documentation exist.
package repo

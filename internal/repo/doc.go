// Package repo tests the repository itself: which package may import which (imports.txt), how
// code is written, what a program links, and whether the documentation names what exists.
package repo

//go:build !race

package largealloc

// Exact is false if the race detector makes copies that the program does not make.
const Exact = true

// Package first makes the executable that imports it its own supervisor. It imports little, so that its
// initialisation runs before that of the packages that make a large program slow to start.
package first

import "github.com/seed7221b0f9/parley/internal/supervise"

func init() { supervise.Enter() }

package editor_test

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if n := runtime.GOMAXPROCS(0); n < cap(slots) { // tests wait for about half of their time
		if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(n) {
			_ = f.Value.Set(strconv.Itoa(cap(slots))) // cannot fail for a number
		}
	}
	code := e2e.Verify(m)
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

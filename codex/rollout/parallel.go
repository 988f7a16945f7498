package rollout

import (
	"iter"
	"runtime"
)

// inOrder calls work for 0 to n-1, on as many goroutines as processors, and yields the results in
// order. At most that many results are ahead of the caller. It returns when every goroutine has
// ended.
func inOrder[T any](n int, work func(i int) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		workers := min(n, runtime.GOMAXPROCS(0))
		results := make([]chan T, n)
		running, left := 0, 0 // left is the next to start
		start := func() {
			for ; running < workers && left < n; left++ {
				results[left] = make(chan T, 1)
				go func(i int) { results[i] <- work(i) }(left)
				running++
			}
		}
		for i := range n {
			start()
			v := <-results[i]
			results[i] = nil
			running--
			if !yield(v) {
				for ; i+1 < left; i++ {
					<-results[i+1] // wait for the started ones
				}
				return
			}
		}
	}
}

package eventlog

import "context"

// gate separates calls that remove events from a backup: either any number of removals pass
// concurrently, or one backup. Waiting ends with the context.
type gate struct {
	turn   chan struct{} // holds the right to enter
	inside chan int      // holds the number of removals inside, if any
}

func newGate() gate {
	g := gate{make(chan struct{}, 1), make(chan int, 1)}
	g.turn <- struct{}{}
	return g
}

// shared enters together with other shared calls.
func (g *gate) shared(ctx context.Context) (leave func(), err error) {
	select {
	case n := <-g.inside:
		g.inside <- n + 1
	case <-g.turn:
		g.inside <- 1
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return func() {
		if n := <-g.inside; n > 1 {
			g.inside <- n - 1
			return
		}
		g.turn <- struct{}{}
	}, nil
}

// alone enters when no other call is inside, and blocks others.
func (g *gate) alone(ctx context.Context) (leave func(), err error) {
	select {
	case <-g.turn:
		return func() { g.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

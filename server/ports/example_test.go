package ports_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/server/ports"
)

func ExampleDial() {
	// The agent was started with PARLEY_AGENT_MARK=5f2c… in its environment.
	_, err := ports.Dial(context.Background(), "5f2c90d1", 22)
	fmt.Println(errors.Is(err, ports.ErrNotOwned) || errors.Is(err, ports.ErrUnsupported))
	// Output: true
}

package serve

import (
	"os"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/sim"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/retention"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// storage sets the limits of --limit-mb and the archive in the server's options.
func (f *Settings) storage(opts *server.Options) (err error) {
	opts.Archive = f.home().Archive
	if opts.Limits, err = retention.ParseLimits(f.limits); err != nil {
		return term.Usagef("--limit-mb %v", err)
	}
	return nil
}

// money adds prices and budgets to the server's options.
func (f *Settings) money(opts *server.Options) error {
	prices := usage.DefaultPrices()
	if f.prices != "" {
		file, err := os.Open(f.prices)
		if err != nil {
			return err
		}
		defer file.Close()
		if prices, err = usage.ReadPrices(file); err != nil {
			return err
		}
	}
	if f.turnReserve.USD < 0 || f.turnReserve.Tokens < 0 {
		return term.Usagef("--turn-reserve: a negative reserve")
	}
	opts.TurnReserve = f.turnReserve
	opts.Price = func(u agent.Used) (float64, bool) {
		if u.Model == sim.Model {
			return 0, true
		}
		return prices.Cost(u.Model, u.Tokens)
	}
	for _, text := range f.budgets {
		limit, err := budget.ParseLimit(text)
		if err != nil {
			return term.Usagef("--budget: %v", err)
		}
		opts.Budgets = append(opts.Budgets, limit)
	}
	return nil
}

package usage

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/history"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// reportFlags are the flags of the commands below parley usage.
type reportFlags struct {
	json       bool
	since      string
	until      string
	zone       string
	weekStart  string
	project    string
	model      string
	last       int
	breakdown  bool
	plot       bool
	live       bool
	interval   time.Duration
	activeOnly bool
	prices     string
	configDirs []string
	whose      history.Whose
	noColor    bool
	changed    func(flag string) bool
	now        func() time.Time
}

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

func (f *reportFlags) register(cmd *cobra.Command, report string) {
	f.changed, f.now = cmd.Flags().Changed, time.Now
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&f.json, "json", false, "write JSON")
	fs.StringVar(&f.since, "since", "", "answers from this `date` on, such as 2026-01-31 or 20260131, or within this time, such as 7d or 12h")
	fs.StringVar(&f.until, "until", "", "answers up to and including this `date`")
	fs.StringVar(&f.zone, "timezone", "", "the time zone of days, such as Europe/Berlin or UTC (default the system's)")
	fs.StringVar(&f.project, "project", "", "only this project, by its `directory`")
	fs.StringVar(&f.model, "model", "", "only this `model`")
	fs.IntVar(&f.last, "last", 0, "number of rows from the end (default all; 10 with --live on a terminal)")
	switch report {
	case "daily":
		fs.BoolVar(&f.plot, "plot", false, "draw the cost by day (default on a terminal)")
	case "weekly":
		fs.StringVar(&f.weekStart, "week-start", "sunday", "the first `day` of the week")
		history.CompleteValues(cmd, "week-start", weekdays)
	case "blocks":
		fs.BoolVar(&f.activeOnly, "active", false, "only the current block, with its burn rate")
	}
	if report != "blocks" && report != "model" {
		fs.BoolVar(&f.breakdown, "breakdown", false, "add a row for each model")
	}
	fs.BoolVar(&f.live, "live", false, "refresh until Ctrl-C")
	fs.DurationVar(&f.interval, "interval", 2*time.Second, "with --live: the interval")
	fs.StringVar(&f.prices, "prices", "", "a `file` with prices of models, which override the built-in ones (default $PARLEY_PRICES)")
	fs.StringArrayVar(&f.configDirs, "config-dir", nil, "a configuration `directory` of the agent's CLI (repeatable; default $CLAUDE_CONFIG_DIR, else ~/.claude)")
	f.whose.Register(cmd)
	fs.BoolVar(&f.noColor, "no-color", false, "disable colours")
	for _, name := range []string{"config-dir", "project"} {
		// The flag exists: an error would be a mistake in this function.
		if err := cmd.MarkFlagDirname(name); err != nil {
			panic(err)
		}
	}
}

// view returns the view of the flags. An error is a usage error.
func (f *reportFlags) view() (usage.View, error) {
	v := usage.View{Project: f.project, Model: f.model, Location: time.Local}
	err := f.whose.Choose()
	if err != nil {
		return v, err
	}
	if f.zone != "" {
		if v.Location, err = time.LoadLocation(f.zone); err != nil {
			return v, term.Usagef("--timezone %s: unknown time zone", f.zone)
		}
	}
	if v.Since, err = f.moment("since", f.since, v.Location, 0); err != nil {
		return v, err
	}
	if v.Until, err = f.moment("until", f.until, v.Location, 1); err != nil {
		return v, err
	}
	if f.last < 0 {
		return v, term.Usagef("--last %d: it cannot be negative", f.last)
	}
	if f.interval < 100*time.Millisecond {
		return v, term.Usagef("--interval %v: it is at least 100ms", f.interval)
	}
	for i, day := range weekdays {
		if strings.EqualFold(day, f.weekStart) {
			v.WeekStart = time.Weekday(i)
			f.weekStart = ""
		}
	}
	if f.weekStart != "" {
		return v, term.Usagef("--week-start %s: it is one of %s", f.weekStart, strings.Join(weekdays, ", "))
	}
	v.Prices, err = f.readPrices()
	return v, err
}

// moment returns the start of a date plus a number of days, or a time ago.
func (f *reportFlags) moment(flag, text string, in *time.Location, daysLater int) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, ok := history.ParseAgo(text); ok && flag == "since" {
		return f.now().Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, "20060102"} {
		if t, err := time.ParseInLocation(layout, text, in); err == nil {
			return t.AddDate(0, 0, daysLater), nil
		}
	}
	return time.Time{}, term.Usagef("--%s %s: it is a date such as 2026-01-31", flag, text)
}

func (f *reportFlags) readPrices() (*usage.Prices, error) {
	name := f.prices
	if name == "" {
		name = os.Getenv("PARLEY_PRICES")
	}
	if name == "" {
		return usage.DefaultPrices(), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, term.Usagef("--prices: %v", err)
	}
	defer file.Close()
	prices, err := usage.ReadPrices(file)
	if err != nil {
		return nil, term.Usagef("--prices %s: %v", name, err)
	}
	return prices, nil
}

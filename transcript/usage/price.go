package usage

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/internal/textfile"
)

// Rates are prices in dollars per million tokens, and for a web search in dollars per search.
type Rates struct {
	Input        float64 `json:"input"`
	Output       float64 `json:"output"`
	CacheWrite5m float64 `json:"cacheWrite5m"`
	CacheWrite1h float64 `json:"cacheWrite1h"`
	CacheRead    float64 `json:"cacheRead"`
	WebSearch    float64 `json:"webSearch"`
}

// Price holds the rates of a model: the usual ones, and those of fast mode and of long prompts
// where they differ.
type Price struct {
	Rates
	// Fast are the rates of fast mode; if nil, fast answers are unpriced.
	Fast *Rates `json:"fast,omitempty"`
	// LongPrompt are the rates of answers to long prompts; nil if the length does not matter.
	LongPrompt *LongPrompt `json:"longPrompt,omitempty"`
}

// LongPrompt are rates that apply to a whole answer when its prompt has more than
// Above tokens.
type LongPrompt struct {
	Above int64 `json:"above"`
	Rates
}

// Prices is an immutable table of prices by model. It may be used from several goroutines.
//
// A model is looked up by its name and then by its name without the parts that providers add: a
// date, a version of Bedrock, a region, [1m]. There are no further guesses.
type Prices struct{ models map[string]Price }

//go:embed prices.json
var embedded []byte

// DefaultPrices returns the built-in table: list prices of the Claude models.
var DefaultPrices = sync.OnceValue(func() *Prices {
	p, err := readPrices(bytes.NewReader(embedded), nil)
	if err != nil {
		panic(err) // the table is embedded and tested
	}
	return p
})

// ReadPrices reads a table of the form
//
//	{"models": {"claude-x-1": {"input": 3, "output": 15, "cacheWrite5m": 3.75, "cacheWrite1h": 6, "cacheRead": 0.3}}}
//
// and merges it with [DefaultPrices]: its models replace those of the same name. Missing cache rates default to
// 1.25, 2 and 0.1 times the input rate.
func ReadPrices(r io.Reader) (*Prices, error) { return readPrices(r, DefaultPrices()) }

func readPrices(r io.Reader, under *Prices) (*Prices, error) {
	var table struct {
		Models map[string]json.RawMessage `json:"models"`
	}
	d := json.NewDecoder(textfile.Reader(r))
	d.DisallowUnknownFields()
	if err := d.Decode(&table); err != nil {
		return nil, fmt.Errorf("usage: the table of prices: %w", err)
	}
	if len(table.Models) == 0 {
		return nil, fmt.Errorf("usage: the table of prices has no models")
	}
	p := &Prices{models: map[string]Price{}}
	if under != nil {
		maps.Copy(p.models, under.models)
	}
	for name, raw := range table.Models {
		price, err := readPrice(raw)
		if err != nil {
			return nil, fmt.Errorf("usage: the price of %s: %w", name, err)
		}
		p.models[name] = price
	}
	return p, nil
}

func readPrice(raw json.RawMessage) (Price, error) {
	var p Price
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return p, err
	}
	for _, name := range []string{"input", "output"} {
		if given[name] == nil {
			return p, fmt.Errorf("%s is missing", name)
		}
	}
	for name, rate := range map[string]struct {
		to    *float64
		times float64
	}{"cacheWrite5m": {&p.CacheWrite5m, 1.25}, "cacheWrite1h": {&p.CacheWrite1h, 2}, "cacheRead": {&p.CacheRead, 0.1}} {
		if given[name] == nil {
			*rate.to = p.Input * rate.times
		}
	}
	all := []Rates{p.Rates}
	if p.Fast != nil {
		all = append(all, *p.Fast)
	}
	if p.LongPrompt != nil {
		all = append(all, p.LongPrompt.Rates)
	}
	for _, r := range all {
		if min(r.Input, r.Output, r.CacheWrite5m, r.CacheWrite1h, r.CacheRead, r.WebSearch) < 0 {
			return p, fmt.Errorf("a rate is negative")
		}
	}
	return p, nil
}

// affixes are the parts that providers add to the name of a model.
var (
	prefixes = regexp.MustCompile(`^(?:(?:us|eu|apac|global|us-gov|jp|au)\.)?(?:anthropic[./])?`)
	suffixes = regexp.MustCompile(`(?:\[1m\])?$`)
	dated    = regexp.MustCompile(`[-@](?:20\d{6}|latest)(?:-v\d+(?::\d+)?)?$|-v\d+(?::\d+)?$`)
)

// Of returns the price of a model; false if the table does not have it.
func (p *Prices) Of(model string) (Price, bool) {
	price, ok := p.models[model]
	if ok {
		return price, true
	}
	name := suffixes.ReplaceAllString(prefixes.ReplaceAllString(strings.ToLower(model), ""), "")
	if price, ok = p.models[name]; ok {
		return price, true
	}
	price, ok = p.models[dated.ReplaceAllString(name, "")]
	return price, ok
}

// Cost returns the cost of the tokens of one answer in dollars at the model's usual rates; false if
// the table does not have the model.
func (p *Prices) Cost(model string, t Tokens) (float64, bool) {
	price, ok := p.Of(model)
	if !ok {
		return 0, false
	}
	return price.cost(t, 0, t.Prompt() > price.longAbove())
}

// usRates is the price factor for answers that had to be made in the US.
const usRates = 1.1

// cost returns the cost of tokens of one class; false if they have no price.
func (p Price) cost(t Tokens, class flags, long bool) (float64, bool) {
	r := p.Rates
	switch {
	case class&fast != 0 && p.Fast == nil:
		return 0, false
	case class&fast != 0:
		r = *p.Fast
	case long:
		r = p.LongPrompt.Rates
	}
	sum := (float64(t.Input)*r.Input + float64(t.Output)*r.Output + float64(t.CacheRead)*r.CacheRead +
		float64(t.CacheWrite5m)*r.CacheWrite5m + float64(t.CacheWrite1h)*r.CacheWrite1h) / 1e6
	if class&inUS != 0 {
		sum *= usRates
	}
	return sum + float64(t.WebSearches)*r.WebSearch, true
}

// longAbove returns the prompt size in tokens above which other rates apply.
func (p Price) longAbove() int64 {
	if p.LongPrompt == nil {
		return math.MaxInt64
	}
	return p.LongPrompt.Above
}

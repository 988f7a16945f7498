package e2e_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

type city struct {
	Name       string `json:"name" jsonschema:"the name of the city"`
	Population int    `json:"population"`
}

func TestRunJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("StructuredOutput", map[string]any{"name": "Paris", "population": 2100000}))
	got, result, err := claude.RunJSON[city](t.Context(), "the capital of France", w.opts)
	if err != nil || got != (city{"Paris", 2100000}) || result.StructuredOutput == "" {
		t.Errorf("%+v, %v, %v; want err == nil and got == (city{\"Paris\", 2100000}) and result.StructuredOutput != \"\"", got, result, err)
	}
}

func TestRunJSON_list(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("StructuredOutput", map[string]any{"value": []string{"red", "green"}}))
	got, _, err := claude.RunJSON[[]string](t.Context(), "two colours", w.opts)
	if err != nil || len(got) != 2 || got[1] != "green" {
		t.Errorf("%v, %v; want err == nil and len(got) == 2 and got[1] == \"green\"", got, err)
	}
}

// If the model never gives the structure, the CLI still reports success; the text is not
// lost.
func TestRunJSON_none(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("I would rather not.").Times(4))
	_, result, err := claude.RunJSON[city](t.Context(), "the capital of France", w.opts)
	e := as[*claude.StructuredOutputError](t, err)
	if e.Text != "I would rather not." || e.Result != result {
		t.Errorf("%+v; want e.Text == \"I would rather not.\" and e.Result == result", e)
	}
}

func TestRunJSON_never(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("StructuredOutput", map[string]any{"name": 7}).Times(9))
	_, _, err := claude.RunJSON[city](t.Context(), "the capital of France", w.opts)
	if e := as[*message.ResultError](t, err); e.Result.Subtype != message.ResultMaxStructuredOutputRetry {
		t.Errorf("%v; want e.Result.Subtype == message.ResultMaxStructuredOutputRetry", err)
	}
}

// A schema too long for the command line is passed only in the handshake.
func TestRunJSON_longSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("StructuredOutput", map[string]any{"name": "Oslo", "population": 1}))
	long := make([]byte, 20<<10)
	for i := range long {
		long[i] = 'x'
	}
	w.opts.JSONSchema = message.JSON(`{"type":"object","description":"` + string(long) + `","properties":{"name":{"type":"string"},"population":{"type":"integer"}},"required":["name"]}`)
	got, _, err := claude.RunJSON[city](t.Context(), "a capital", w.opts)
	if err != nil || got.Name != "Oslo" {
		t.Errorf("%+v, %v; want err == nil and got.Name == \"Oslo\"", got, err)
	}
}

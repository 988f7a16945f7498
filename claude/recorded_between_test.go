package claude_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
)

// betweenCalls describes the caller's actions between its calls, in words. In a recording it is one text, which
// applies between any two calls, or a list with a text for each pause.
type betweenCalls struct {
	every string
	texts []string
}

// Before returns the caller's actions right before a call, which is counted from 0, or "".
func (b betweenCalls) Before(call int) string {
	if b.every != "" && call > 0 {
		return b.every
	}
	if call < 1 || call > len(b.texts) {
		return ""
	}
	return b.texts[call-1]
}

// UnmarshalJSON reads a text or a list. An element that is not a text is kept as JSON; null means "".
func (b *betweenCalls) UnmarshalJSON(text []byte) error {
	*b = betweenCalls{}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return json.Unmarshal(text, &b.every)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, e := range list {
		var s *string
		switch {
		case string(e) == "null":
			b.texts = append(b.texts, "")
		case json.Unmarshal(e, &s) == nil:
			b.texts = append(b.texts, *s)
		default:
			b.texts = append(b.texts, string(e))
		}
	}
	return nil
}

// callIDs are options of later calls with values from the messages of earlier ones. In a recording they are an
// object of options and descriptions, which applies to every later call that has the option; an object of such
// objects by the number of the call, counted from 1, as "2" or "call 2"; or a list of such objects, with the
// number in a member call, else in the order of the calls that have one of the options.
type callIDs struct {
	every  map[string]string
	byCall map[int]map[string]string
	inTurn []map[string]string
}

// IsZero reports whether no values come from earlier calls.
func (c callIDs) IsZero() bool { return len(c.every)+len(c.byCall)+len(c.inTurn) == 0 }

// Of returns the options of a call, which is counted from 0, and where their values come from.
func (c callIDs) Of(calls []recordedCall, call int) map[string]string {
	found := map[string]string{}
	take := func(ids map[string]string) {
		for option, where := range ids {
			if _, ok := calls[call].Options[option]; ok {
				found[option] = where
			}
		}
	}
	if call > 0 {
		take(c.every)
	}
	turn := 0
	for i := 1; i <= call && turn < len(c.inTurn); i++ {
		has := slices.ContainsFunc(optionNames(c.inTurn[turn]), func(option string) bool { _, ok := calls[i].Options[option]; return ok })
		if has && i == call {
			take(c.inTurn[turn])
		}
		if has {
			turn++
		}
	}
	take(c.byCall[call+1])
	return found
}

func optionNames(ids map[string]string) (names []string) {
	for name := range ids {
		names = append(names, name)
	}
	return names
}

var callNumber = regexp.MustCompile(`^\D{0,8}?(\d{1,3})\D?$`)

// UnmarshalJSON reads all forms.
func (c *callIDs) UnmarshalJSON(text []byte) error {
	*c = callIDs{byCall: map[int]map[string]string{}}
	if json.Unmarshal(text, &c.every) == nil {
		return nil
	}
	c.every = nil
	var numbered map[string]map[string]string
	if json.Unmarshal(text, &numbered) == nil {
		for key, ids := range numbered {
			m := callNumber.FindStringSubmatch(key)
			if m == nil {
				return fmt.Errorf("ids: %q is not the number of a call", key)
			}
			n, _ := strconv.Atoi(m[1]) // cannot fail: the expression matched digits
			c.byCall[n] = ids
		}
		return nil
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, e := range list {
		if err := c.add(e); err != nil {
			return err
		}
	}
	return nil
}

// add adds an element of a list.
func (c *callIDs) add(e map[string]json.RawMessage) error {
	call, ids := 0, map[string]string{}
	for name, value := range e {
		var where string
		switch {
		case name == "call":
			if err := json.Unmarshal(value, &call); err != nil {
				return fmt.Errorf("ids: call: %w", err)
			}
		case json.Unmarshal(value, &where) == nil:
			ids[name] = where
		case json.Unmarshal(value, &ids) != nil:
			return fmt.Errorf("ids: %s: %s", name, value)
		}
	}
	if call == 0 {
		c.inTurn = append(c.inTurn, ids)
		return nil
	}
	if c.byCall[call] == nil {
		c.byCall[call] = map[string]string{}
	}
	for option, where := range ids {
		c.byCall[call][option] = where
	}
	return nil
}

// ofCall matches a description that names a call.
var ofCall = regexp.MustCompile(`\b(first|second|third|fourth|fifth|last|previous) call's\b`)

var callOrdinals = []string{"first", "second", "third", "fourth", "fifth"}

// lookupCallID calls [lookupID] with the messages of the call that the description names, or of all
// calls if it does not name a call. earlier are the messages of each call.
func lookupCallID(where string, earlier [][]message.Message) string {
	m := ofCall.FindStringSubmatch(where)
	if m == nil {
		return lookupID(where, slices.Concat(earlier...))
	}
	n := slices.Index(callOrdinals, m[1])
	if n < 0 {
		n = len(earlier) - 1
	}
	if n < 0 || n >= len(earlier) {
		return ""
	}
	return lookupID(strings.Replace(where, m[0], "first call's", 1), earlier[n])
}

package transcript

import (
	"fmt"
	"strings"
)

// shrink shortens the texts of an oversized line. It drops a record outside the tree, because no
// reader needs it.
func (p *surgeon) shrink(l *operated, f *Finding) {
	if linkOrNil(l.entry) == nil {
		p.remove(f.Fault, l, "a record outside of the conversation that is too long")
		return
	}
	before := l.lineText()
	for limit := p.as.maxLine / 8; limit >= 64; limit /= 4 {
		if text := shortened(before, limit, 0); len(text) <= p.as.maxLine {
			p.change(f.Fault, l, text, fmt.Sprintf("texts of more than %d bytes are cut; it has %d bytes in the place of %d", limit, len(text), len(before)))
			return
		}
	}
	p.remove(f.Fault, l, "it cannot be made short enough")
}

// maxShortened is the nesting depth up to which single texts are cut. Deeper values that are too
// long are removed entirely; the CLI never writes them.
const maxShortened = 32

// shortened returns a JSON value with strings of at most limit bytes. Values that cannot be cut,
// such as pictures and thinking, are replaced.
func shortened(text string, limit, depth int) string {
	if len(text) <= limit {
		return text
	}
	if depth == maxShortened {
		return quote(fmt.Sprintf("[%d bytes were cut here]", len(text)))
	}
	switch text[0] {
	case '"':
		s := stringOf(text)
		if len(s) <= limit {
			return text
		}
		return quote(strings.ToValidUTF8(s[:limit], "") + fmt.Sprintf("\n[%d bytes were cut here]", len(s)-limit))
	case '[':
		list := elements(text)
		for i, e := range list {
			list[i] = shortened(e, limit, depth+1)
		}
		return array(list)
	case '{':
		o := parseObject(text)
		switch kind := stringOf(o.values["type"]); kind {
		case "image", "document", "thinking", "redacted_thinking":
			return textBlock(fmt.Sprintf("[%s of %d bytes was taken out]", kind, len(text)))
		}
		for _, name := range o.names {
			o.set(name, shortened(o.values[name], limit, depth+1))
		}
		return o.text()
	}
	return text
}

package transcript

import (
	"fmt"
	"strings"
)

// shrink cuts the texts of a line that is too long. A record beside the tree goes:
// it says nothing that anybody reads.
func (p *surgeon) shrink(l *operated, f *Finding) {
	if linkOrNil(l.entry) == nil {
		p.remove(f.Fault, l, "a record beside the conversation that is too long")
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

// maxShortened is how deep in a line single texts are cut. What is nested deeper and too
// long goes as a whole: the CLI writes nothing of the kind.
const maxShortened = 32

// shortened is a JSON value in which strings are no longer than limit. What may only
// be whole, pictures and thinking, is replaced.
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

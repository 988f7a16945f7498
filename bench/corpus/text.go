package corpus

import (
	"math/rand/v2"
	"strings"
)

// sentences and code are pieces of texts, escaped for a JSON string.
var (
	sentences = []string{
		`The test fails because the deadline is checked before the context is done.`,
		` I will look at the handler first and then at its callers.\n\n`,
		` It returns \"not found\" where it should return the wrapped error;`,
		` see \x60internal/store\x60 for how the other one does it.`,
		`\n- 第一步：读取配置文件，然后检查默认值。`,
		`\n- naïve: O(n²) → too slow for 10,000 rows`,
		` The answer holds {\"usage\":{\"input_tokens\":12,\"output_tokens\":3}} as text.`,
		` Let me run the linter before I change anything else.`,
		` Done 🎉, all packages build and the documentation is up to date.\n`,
	}
	code = []string{
		`func (s *server) handle(w http.ResponseWriter, r *http.Request) {\n`,
		`\tif err := s.store.Save(r.Context(), id, \"draft\"); err != nil {\n`,
		`\t\treturn fmt.Errorf(\"saving %q: %w\", id, err)\n`,
		`\t}\n`,
		`\tfor i, row := range rows[1:] {\n`,
		`// naïve: O(n²), see the note → below\n`,
		`\n`,
		`ok  \texample.com/api/store\t0.412s\n`,
		`drwxr-xr-x  3 dev dev  4096 Mar  3 12:31 internal\n`,
		`\t{name: \"empty\", in: \"\", want: nil},\n`,
	}
)

func init() {
	for i := range sentences {
		sentences[i] = strings.ReplaceAll(sentences[i], `\x60`, "`")
	}
}

// appendText appends text of about n bytes.
func appendText(b []byte, random *rand.Rand, from []string, n int) []byte {
	for end := len(b) + n; len(b) < end; {
		b = append(b, from[random.IntN(len(from))]...)
	}
	return b
}

const (
	hexDigits = "0123456789abcdef"
	idDigits  = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
)

// randomID returns a prefix and n characters.
func randomID(random *rand.Rand, prefix string, n int) string {
	b := make([]byte, 0, len(prefix)+n)
	b = append(b, prefix...)
	for range n {
		b = append(b, idDigits[random.IntN(len(idDigits))])
	}
	return string(b)
}

func randomUUID(random *rand.Rand) string {
	const form = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx"
	b := []byte(form)
	bits := uint64(0)
	for i, n := 0, 0; i < len(b); i++ {
		if b[i] != 'x' {
			continue
		}
		if n%16 == 0 {
			bits = random.Uint64()
		}
		b[i] = hexDigits[bits&15]
		bits >>= 4
		n++
	}
	return string(b)
}

// randomHex returns n digits.
func randomHex(random *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = hexDigits[random.IntN(16)]
	}
	return string(b)
}

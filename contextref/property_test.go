package contextref

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// damages are changes of a message in transit. Each works line by line, so that it changes the text
// in the same way as the whole message.
var damages = map[string]func(string) string{
	"none":           func(s string) string { return s },
	"CRLF":           func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"trimmed lines":  trimLines,
	"trimmed, CRLF":  func(s string) string { return strings.ReplaceAll(trimLines(s), "\n", "\r\n") },
	"trimmed at end": func(s string) string { return strings.TrimRight(s, " \t\r\n") },
	"no variation":   func(s string) string { return s }, // see damagedIcons
}

var lineEnd = regexp.MustCompile(`(?m)[ \t]+$`)

func trimLines(s string) string { return lineEnd.ReplaceAllString(s, "") }

// TestBuildParse builds and parses random messages, in both languages and after every damage.
func TestBuildParse(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text, lang := randomText(random), Language(random.IntN(2))
		refs := []Reference{randomReference(random)}
		for random.IntN(3) > 0 {
			refs = append(refs, randomReference(random))
		}
		message, err := Build(text, refs, lang)
		if err != nil {
			t.Fatal(err)
		}
		for name, damage := range damages {
			damaged := damage(message)
			if name == "no variation" {
				damaged = damagedIcons(message, text)
			}
			gotText, got := Parse(damaged)
			if want := damage(text); gotText != want {
				t.Fatalf("%s: text %q, want %q, from %q", name, gotText, want, damaged)
			}
			if diff := cmp.Diff(refs, got); diff != "" {
				t.Fatalf("%s: %q\n%s", name, damaged, diff)
			}
		}
		again, err := Build(message, nil, lang)
		if err != nil || again != message {
			t.Fatalf("without references: %q, %v", again, err)
		}
	}
}

// TestTextWithoutBlock checks that a text without a block and references is returned unchanged.
func TestTextWithoutBlock(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		text := randomText(random)
		message, err := Build(text, nil, Chinese)
		if err != nil {
			t.Fatal(err)
		}
		if back, refs := Parse(message); back != text || refs != nil {
			t.Fatalf("%q gave %q and %v", text, back, refs)
		}
	}
}

var terminalMark = regexp.MustCompile("(?m)(^> - " + iconTerminal + ".* )" + warning + "$")

// damagedIcons drops the variation selectors of the icons, not those of the text.
func damagedIcons(message, text string) string {
	block := strings.TrimSuffix(message, text)
	for _, icon := range []string{iconProblems, iconSelection} {
		block = strings.ReplaceAll(block, "> - "+icon+" ", "> - "+bare(icon)+" ")
	}
	return terminalMark.ReplaceAllString(block, "$1"+bare(warning)) + text
}

var pieces = strings.Split("a|Main.kt|日本|é|é|🎉|⚠️| |  |/|\\|(|)|[|]|-|:|45|> |>|*|**|#|.|\"|'|<|&|\t|个文件|files| (3 files)|上下文资料|Context|Git |\u00a0|0", "|")

// randomPart returns text of one line.
func randomPart(random *rand.Rand, without string) string {
	for {
		var b strings.Builder
		for range 1 + random.IntN(5) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		if s := b.String(); !strings.ContainsAny(s, without) {
			return s
		}
	}
}

func trimmedPart(random *rand.Rand) string {
	for {
		if s := strings.TrimSpace(randomPart(random, "")); s != "" {
			return s
		}
	}
}

// sometimes returns a part or "".
func sometimes(random *rand.Rand, without string) string {
	if random.IntN(2) == 0 {
		return ""
	}
	return randomPart(random, without)
}

func randomText(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(6) {
		switch random.IntN(4) {
		case 0:
			b.WriteString("\n")
		case 1:
			b.WriteString("> - 📄 `a`\n")
		default:
			b.WriteString(randomPart(random, ""))
		}
	}
	return b.String()
}

func randomReference(random *rand.Rand) Reference {
	switch random.IntN(10) {
	case 0:
		return &File{Path: randomPart(random, "`")}
	case 1:
		return &Web{URL: randomPart(random, " \t\u00a0"), Title: sometimes(random, "")}
	case 2:
		f := &Folder{Path: randomPart(random, "`")}
		if random.IntN(2) == 0 {
			f.FileCount = new(random.IntN(4))
		}
		return f
	case 3:
		return randomSymbol(random)
	case 4:
		return &Terminal{Lines: random.IntN(100), IsError: random.IntN(2) == 0}
	case 5:
		return &Problems{Count: random.IntN(100), Severity: sometimes(random, "]")}
	case 6:
		return &Git{GitType: trimmedPart(random)}
	case 7:
		return &Selection{}
	case 8:
		return &Workspace{}
	default:
		return &Image{Name: randomPart(random, "`"), Size: sometimes(random, "")}
	}
}

func randomSymbol(random *rand.Rand) Reference {
	s := &Symbol{Name: randomPart(random, "`"), SymbolType: sometimes(random, ")")}
	if s.File = sometimes(random, ""); s.File == "" {
		return s
	}
	if s.Line = random.IntN(3); s.Line == 0 {
		if s.File = strings.Trim(trimmedPart(random), "0123456789:"); strings.TrimSpace(s.File) != s.File {
			s.File = "Main.kt"
		}
	}
	return s
}

func FuzzParse(f *testing.F) {
	f.Add("> **上下文资料**\n> \n> - 📄 `build.gradle.kts`\n> - 🌐 https://example.com (示例网页)\n> - 📁 `src/main/kotlin` (15个文件)\n\nhi")
	f.Add("> **Context**\r\n>\r\n> - 🔗 `MyClass.method()` (FUNCTION) - Main.kt:45\r\n> - 💻 Terminal output (50 lines) ⚠️\r\n> - 🎤 x\r\n\r\nhi")
	f.Add("> **上下文资料**\n> - ⚠️ 问题报告 (3个) [ERROR]\n> - 🔀 Git DIFF\n> - ✏️ 当前选择内容\n> - 🏠 当前工作区\n> - 🖼 `a` (12KB)")
	f.Fuzz(func(t *testing.T, message string) {
		text, refs := Parse(message)
		if len(refs) == 0 {
			if text != message {
				t.Fatalf("%q without references has the text %q", message, text)
			}
			return
		}
		if !strings.HasSuffix(message, text) {
			t.Fatalf("%q is not the end of %q", text, message)
		}
		for _, lang := range []Language{Chinese, English} {
			built, err := Build(text, refs, lang)
			if err != nil {
				t.Fatalf("what was found is refused: %v", err)
			}
			again, found := Parse(built)
			if diff := cmp.Diff(refs, found); diff != "" || again != text {
				t.Fatalf("%q: %q\n%s; want diff == \"\" and again == text", built, again, diff)
			}
		}
		seed := regexp.MustCompile(`^> \*\*上下文资料\*\*\n(?:> \n)?((?:> - .+\n)+)\n`)
		if built, _ := Build(text, refs, Chinese); !seed.MatchString(built) {
			t.Fatalf("%q is not what the format's expression matches", built)
		}
	})
}

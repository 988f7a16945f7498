package contextref

import "strconv"

// Language is the language of the labels in a block. Parse accepts all languages.
type Language int

// The languages of the labels. The zero value is Chinese, the original language of the format.
const (
	Chinese Language = iota
	English
)

// labels are the texts of a language.
type labels struct {
	header    string
	files     func(int) string
	terminal  string
	lines     func(int) string
	problems  string
	count     func(int) string
	selection string
	workspace string
}

var languages = [...]*labels{
	Chinese: {
		header:    "上下文资料",
		files:     func(n int) string { return strconv.Itoa(n) + "个文件" },
		terminal:  "终端输出",
		lines:     func(n int) string { return strconv.Itoa(n) + "行" },
		problems:  "问题报告",
		count:     func(n int) string { return strconv.Itoa(n) + "个" },
		selection: "当前选择内容",
		workspace: "当前工作区",
	},
	English: {
		header:    "Context",
		files:     func(n int) string { return plural(n, "file") },
		terminal:  "Terminal output",
		lines:     func(n int) string { return plural(n, "line") },
		problems:  "Problems",
		count:     strconv.Itoa,
		selection: "Current selection",
		workspace: "Current workspace",
	},
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// labelsOf returns the labels of a language; an unknown language has the Chinese ones.
func labelsOf(l Language) *labels {
	if l < 0 || int(l) >= len(languages) {
		l = Chinese
	}
	return languages[l]
}

// The icons of the kinds.
const (
	iconFile      = "📄"
	iconWeb       = "🌐"
	iconFolder    = "📁"
	iconSymbol    = "🔗"
	iconTerminal  = "💻"
	iconProblems  = "⚠️"
	iconGit       = "🔀"
	iconSelection = "✏️"
	iconWorkspace = "🏠"
	iconImage     = "🖼"

	warning = "⚠️" // follows the output of a terminal with an error
)

// variation selects the coloured form of the preceding character. Some programs drop it, so icons
// must not differ only by it.
const variation = "\uFE0F"

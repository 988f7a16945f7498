// Package contextref reads and writes the context block of a user message: the quoted list of
// files, pages, symbols and other references that a front end puts before the user's text.
//
//	> **上下文资料**
//	>
//	> - 📄 `build.gradle.kts`
//	> - 🌐 https://example.com (示例网页)
//	> - 📁 `src/main/kotlin` (15个文件)
//
//	What the user typed…
//
// The second line has a space after the mark. [Build] creates such a message, [Parse] parses it and
// returns the same text, kinds and fields on the lines. Fields that are not on a line are sent with
// the message in its member contexts, which is [References]; [Join] merges the two.
//
// A message has at most one block, at its start. A text without references that begins with a block
// is the only text that Parse does not return unchanged: it cannot be distinguished from a message
// with references.
//
// Labels are Chinese or English. All functions are pure and may be called from several goroutines;
// a Reference must not be modified while another goroutine reads it.
package contextref

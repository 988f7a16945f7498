// Package contextref reads and writes the context block of a user message: the
// quoted list of files, pages, symbols and the like that a front end puts before
// what the user typed.
//
//	> **上下文资料**
//	>
//	> - 📄 `build.gradle.kts`
//	> - 🌐 https://example.com (示例网页)
//	> - 📁 `src/main/kotlin` (15个文件)
//
//	What the user typed…
//
// The second line holds a space after the mark. [Build] makes such a message, [Parse] takes it
// apart again: the text, the kinds and every field that stands on a line come back as they
// were. Fields that do not stand on a line travel beside the message in its member contexts,
// which is [References]; [Join] puts the two together.
//
// A message has at most one block, at its start. The one text that does not come
// back is a text without references that itself begins with a block: it cannot be distinguished
// from a message with references.
//
// Labels are Chinese or English. Everything in this package is a pure function and
// may be used from several goroutines; a Reference must not be changed while another goroutine
// reads it.
package contextref

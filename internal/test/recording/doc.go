// Package recording runs recorded dialogues of the official SDK and the real CLI again: it reads
// a recording, does through package claude what its caller did, and plays the CLI's part where no
// CLI runs. It is test support.
package recording

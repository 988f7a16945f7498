// Package ndjson frames the CLI's two streams: one JSON text per line.
//
// Reading splits only at line feeds. It accepts lines of any length, keeps every byte
// between them, and continues after a bad line. Writing writes whole lines, one at a
// time.
package ndjson

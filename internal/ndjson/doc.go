// Package ndjson frames the CLI's two streams: one JSON text a line.
//
// Reading knows only line feeds. It takes lines of any length, keeps every byte
// between them, and never lets one bad line end the stream. Writing puts whole
// lines on the wire, one at a time.
package ndjson

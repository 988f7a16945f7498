package message

import "github.com/seed7221b0f9/parley/internal/jsonwire"

// JSON is the text of one JSON value that is decoded on demand: the input of a tool, its result,
// or any member without a fixed shape. It is a substring of its message's line and keeps that
// line in memory; a copy by [strings.Clone] does not. The methods Decode and Value decode it.
//
// The zero value means that the member was absent; null is the text "null".
type JSON = jsonwire.JSON

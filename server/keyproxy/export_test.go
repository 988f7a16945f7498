package keyproxy

// ServeControl is serveControl for tests.
var ServeControl = serveControl

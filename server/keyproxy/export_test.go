package keyproxy

// ServeControl is serveControl for tests.
var ServeControl = serveControl

// IsPublic is isPublic for tests.
var IsPublic = isPublic

// SetLookup replaces the resolver of a proxy.
func SetLookup(p *Proxy, lookup lookupFunc) { p.lookup = lookup }

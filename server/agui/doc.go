// Package agui encodes the parts of a run as events of the AG-UI protocol 1.0. It is pure.
//
// A request to a person ends a run with the outcome interrupt; the answer is the next run.
package agui

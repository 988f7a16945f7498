package api

// The JSON Schemas, the TypeScript types and the bundle of the fold are generated from the types here and in package agent/event, the
// reference of methods from the table in package server. make lint fails if they are out of date.

//go:generate go run ../../internal/tool/schemagen ../../web/schema ../../docs/reference/methods.md
//go:generate ../../scripts/generate-web

package api

// The JSON Schemas, the TypeScript types and the bundle of the fold are made from the
// types here and in package ui. make lint fails where they are not up to date.

//go:generate go run ../../internal/tool/schemagen ../../web/schema
//go:generate ../../scripts/generate-web

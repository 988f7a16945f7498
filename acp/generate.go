package acp

//go:generate go run ../internal/schema/acpgen types schema/v1.json types.go

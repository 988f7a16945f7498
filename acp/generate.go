package acp

//go:generate go run ../internal/tool/acpgen types schema/v1.json types.go

module github.com/seed7221b0f9/parley/bench/engines

go 1.26

replace github.com/seed7221b0f9/parley => ../..

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
	github.com/seed7221b0f9/parley v0.0.0-00010101000000-000000000000
)

require github.com/google/jsonschema-go v0.4.3 // indirect

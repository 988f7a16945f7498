module github.com/seed7221b0f9/parley/bench/editors

go 1.26

require github.com/coder/acp-go-sdk v0.13.0

# Parley. `make` lists the targets.

ARGS     ?=
FUZZTIME ?=
VERSION  ?=
KIND     ?=
DIR      ?=
BENCH    ?= .
PART     ?=
# The packages whose tests run with the race detector; what takes longest begins first.
PKG      ?= ./server ./eventlog ./claude ./transcript $$(go list ./... | grep -vxE "$$(go list -m)/($(NORACE)|$(PROGRAMS))")

# These have one goroutine or build programs, so the race detector would only make them slow.
NORACE    = (internal/repo|internal/tool/(corpus|mutants|schemagen)|internal/lexers|contextref|claude/claudeevent|codex/codexevent|bench.*)

# Most of these tests start programs. make soak runs them with the race detector.
PROGRAMS  = (cmd/parley(/.*)?|internal/test/e2e)

# All tests run without the race detector.
ALL       = $(if $(filter file,$(origin PKG)),./internal/test/e2e ./cmd/parley ./claude ./server ./eventlog ./acp/acpagent $$(go list ./...),$(PKG))

# Most of internal/test/e2e starts the real CLI, internal/repo builds programs, internal/tool is for maintainers, and most
# tests use the test kits.
QUICK     = $(if $(filter file,$(origin PKG)),$$(go list ./... | grep -vxE "$$(go list -m)/(bench.*|internal/repo|internal/(test|tool)/.*|.*/[a-z]+test)"),$(PKG))

# Half of the processor time is linking; without debugging information it is less.
QUICKFLAGS = -short -vet=off -gcflags=all=-dwarf=false -ldflags='-s -w'

# These count steps or compute in one goroutine: the race detector makes them slow and finds nothing in them.
COUNTED   = $$(grep -rl --include='*_test.go' --exclude-dir=node_modules '^func Test\(Growth\|Property\|Large\|Big\)' . | xargs -n1 dirname | sort -u)

# What is compiled without the race detector is compiled as scripts/dist does, all of it in one way.
PLAIN     = CGO_ENABLED=0 GOFLAGS="$$GOFLAGS -trimpath"

export FUZZTIME

# A checkout without commits, or owned by another user, has no version to stamp.
lint test fuzz bench soak corpus: export GOFLAGS += -buildvcs=false

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run build dist site test quick packages tested programs preflight deps lint generate fuzz bench soak mutants corpus clean

help: ## list the targets
	@echo 'usage: make <target> [VARIABLE=value]'
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'
	@echo
	@echo 'variables'
	@echo '  ARGS     flags for parley serve, as in: make run ARGS="--help"'
	@echo '  PKG      the packages that make test, quick and bench run (./...)'
	@echo '  PART     which part make soak runs: server, page, rest, host, machines, cluster or agents (the first three)'
	@echo '  FUZZTIME how long each fuzz target runs (ten minutes in all)'
	@echo '  VERSION  the version that make dist stamps (that of the source)'
	@echo '  KIND, DIR which recordings make corpus checks, and the folder they are in'
	@echo '  BENCH    which benchmarks run (a regular expression)'

run: build ## serve sessions of agents, simulated ones where none is installed (ARGS="--help")
	@exec bin/parley serve $(ARGS)

build: ## build bin/parley
	@scripts/preflight go
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/parley

dist: ## pack the command for every system into dist: archives, deb, rpm, Homebrew, checksums (VERSION=1.2.3)
	@scripts/preflight go
	@VERSION=$(VERSION) scripts/dist

site: ## write the documentation as web pages into dist/site
	@scripts/preflight go
	go run ./cmd/parley docs --out dist/site

test: ## check everything: tools, CLI, lint, tests, those that start no agent with the race detector too
	@PKG="$(PKG)" ALL="$(ALL)" COUNTED="$(COUNTED)" scripts/test

quick: ## check in about a minute: no race detector, no agent CLI, no node, no browser (PKG=./server/...)
	@$(PLAIN) GOGC=800 go test $(QUICKFLAGS) -skip '^(TestGrowth.*|TestCancel)$$' $(QUICK)

packages: # those whose tests make test repeats with the race detector
	@go list $(PKG)

tested: # those whose tests it runs
	@go list $(ALL)

programs: # those that only make soak runs with it
	@go list ./... | grep -xE "$$(go list -m)/$(PROGRAMS)"

preflight:
	@echo '== tools'
	@scripts/preflight go git node npm race

deps:
	@echo '== agent CLIs, PostgreSQL'
	@scripts/install-all

lint: ## gofmt, vet, staticcheck, go.mod, generated files
	@scripts/lint

generate: ## make the JSON Schemas, the TypeScript types and web/dist from the Go types
	@scripts/preflight go node npm
	go generate ./...

fuzz: ## run every fuzz target, ten minutes in all (FUZZTIME=1m for each)
	@scripts/fuzz

bench: ## measure side by side with the official SDKs, then the JSON engines (ARGS="--help")
	@scripts/preflight go
	go run ./bench $(ARGS)
	cd bench/engines && go test -run '^$$' -bench '$(BENCH)' -count 5

soak: preflight deps ## run the tests with their long parts, under an hour each (PART=server|page|rest|host|machines|cluster|agents)
	@scripts/install-peers agents
	@scripts/install-peers editors
	@scripts/soak $(PART)

mutants: preflight deps ## plant the bugs of testdata/mutants and generated ones in a copy and see whether the tests notice (ARGS="-run ID -v", GROUP=server, SEED=, COUNT=)
	go run ./internal/tool/mutants -group '$(GROUP)' -seed $(or $(SEED),1) -count $(or $(COUNT),100) $(ARGS)

corpus: ## check the recordings of a folder (KIND=decode|wire|live|transcripts|fold|acp|acp-agents|acp-remote|codex DIR=...)
	@go run ./internal/tool/corpus -kind '$(KIND)' -dir '$(DIR)'

clean: ## delete what build and dist wrote (the CLI stays in its cache, see CONTRIBUTING.md)
	rm -rf bin dist

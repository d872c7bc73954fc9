# ticktrap: what can be made. "make help" lists the targets.
GO ?= go
FUZZTIME ?= 5s
LINUX ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ticktrap/linux

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## the binary, ./ticktrap
	$(GO) build -o ticktrap .

.PHONY: check
check: fmt vet lint generate cross test race fuzz ## everything that continuous integration runs, without an emulator

.PHONY: fmt
fmt: ## fail if a file is not gofmt-clean
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "not gofmt-clean:"; echo "$$out"; exit 1; }

.PHONY: vet
vet: ## go vet
	$(GO) vet ./...

.PHONY: lint
lint: ## staticcheck, pinned in go.mod
	$(GO) tool staticcheck ./...

.PHONY: generate
generate: ## generate, and fail if a committed file differs
	$(GO) generate ./...
	git diff --exit-code

.PHONY: cross
cross: ## the program builds where there is no KVM
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null .
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null .

.PHONY: test
test: ## all tests
	$(GO) test ./...

.PHONY: kernels
kernels: ## what test-kvm and test-vmx need: emulators and packaged kernels (Debian, root)
	sh vmm/vmmtest/l1/prepare.sh bochs 5.10 6.1 6.12 7.3
	sh vmm/vmmtest/l1/bochs.sh || true

.PHONY: kernels-all
kernels-all: ## what test-matrix needs: all packaged kernels from 5.10 to 7.3, and the Bochs with APICv
	sh vmm/vmmtest/l1/prepare.sh bochs all
	sh vmm/vmmtest/l1/bochs.sh || true

# What runs on real KVM; each machine that is left out is a line "--- SKIP".
MACHINES = TICKTRAP_REQUIRE_KVM=1 $(GO) test -count=1 -timeout 120m ./vmm/vmmtest -v

.PHONY: linux-guest
linux-guest: ## an initial RAM disk for Linux guests that runs cyclictest, in LINUX (Debian)
	$(GO) run ./vmm/guest/linuxguest $(LINUX)

.PHONY: test-linux
test-linux: ## Debian's 6.12 on the model, to the end of cyclictest, twice
	TICKTRAP_LINUX=$(LINUX) $(GO) test -count=1 -timeout 30m ./vmm/vmmtest -run TestLinux -v

.PHONY: test-kvm
test-kvm: ## the engines on real kvm-amd, in QEMU
	$(MACHINES) -run TestOnSVM

.PHONY: test-vmx
test-vmx: ## the engines on real kvm-intel, in Bochs, without and with APICv
	TICKTRAP_VMX=1 $(MACHINES) -run TestOnVMX

.PHONY: test-machines
test-machines: ## test-kvm and test-vmx, beside each other
	TICKTRAP_VMX=1 $(MACHINES) -run TestOn

.PHONY: test-matrix
test-matrix: ## the engines on every kernel that kernels-all fetched
	TICKTRAP_VMX=1 TICKTRAP_MATRIX=1 $(MACHINES) -run TestOn

.PHONY: race
race: ## the tests of what runs in several goroutines, under the race detector
	$(GO) test -race -short ./...

# How many changes of each package are tried; 0 is all of them (hours).
MUTANTS ?= 40

.PHONY: mutate
mutate: ## change the code one place at a time and list what no test notices
	@for p in lapic vmm trace trace/explain trace/ftrace; do $(GO) run ./internal/mutate -n $(MUTANTS) ./$$p || exit 1; done

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "fuzz $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzzminimizetime 1x -fuzztime $(FUZZTIME) $$p; done; done

.PHONY: bench
bench: ## benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: man
man: ## the manual pages, into build/man
	mkdir -p build/man
	$(GO) run ./internal/cli/refgen build/man

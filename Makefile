# ticktrap: what can be made. "make help" lists the targets.
GO ?= go
FUZZTIME ?= 5s

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
	sh vmm/vmmtest/l1/prepare.sh bochs

.PHONY: test-kvm
test-kvm: ## the engines on real kvm-amd, in QEMU
	TICKTRAP_REQUIRE_KVM=1 $(GO) test -count=1 -timeout 30m ./vmm/vmmtest -run TestOnSVM -v

.PHONY: test-vmx
test-vmx: ## the engines on real kvm-intel, in Bochs
	TICKTRAP_REQUIRE_KVM=1 TICKTRAP_VMX=1 $(GO) test -count=1 -timeout 40m ./vmm/vmmtest -run TestOnVMX -v

.PHONY: race
race: ## the tests of what runs in several goroutines, under the race detector
	$(GO) test -race -short ./...

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "fuzz $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p; done; done

.PHONY: bench
bench: ## benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

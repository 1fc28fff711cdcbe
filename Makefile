# make test: all checks.  make demo: a private Slurm that shows what users see.
# Both install what they need on Debian 12 as root; otherwise they say what to install.

SHELL := /bin/bash
# Where rustup puts cargo; a login shell has it, a fresh root shell may not.
export PATH := $(PATH):$(HOME)/.cargo/bin
CARGO ?= cargo
# Property tests draw the same cases each time here; `make test PROPTEST_RNG_SEED=7` draws others.
export PROPTEST_RNG_SEED ?= 1

.PHONY: all plugin command install uninstall plugins packages test demo lint bench-spank cluster test-cluster fuzz bench soak clean
# The Slurm series of `make cluster`: 22.05, 24.11 or 26.05.
SERIES ?= 24.11

all: plugin command

# The .so for both doors, without the command's libraries. In a folder of its own: any other build of
# the library would write over it. Cargo links a crate as a whole (lto) only where the .so is all that
# is asked for.
plugin:
	$(CARGO) rustc --locked --release --no-default-features --features plugin --lib --crate-type cdylib --target-dir target/plugin
	cp target/plugin/release/libsluice.so target/.job_submit_sluice.so
	mv target/.job_submit_sluice.so target/job_submit_sluice.so

# Needs no Slurm.
command:
	$(CARGO) build --locked --profile command --bin sluice --target-dir target/plugin
	cp target/plugin/command/sluice target/.sluice
	mv target/.sluice target/sluice

# [DESTDIR=] [PREFIX=] [PLUGINDIR=], see tools/install. Compiles nothing, so that root needs no Rust:
# make, then make install.
install:
	@tools/install

uninstall:
	@tools/install --remove

# The build without the plugin is compiled by lint; all of its tests are in the one with it.
test:
	@tools/requirements test
	$(MAKE) --no-print-directory lint
	$(CARGO) test --locked --features plugin
	@echo 'make test: all passed'

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	$(CARGO) clippy --locked --all-targets --features plugin -- -D warnings

# What the plugin in plugstack.conf costs clients and nodes, on a private Slurm: docs/performance.md.
bench-spank: plugin
	SLUICE_BENCH=1 SLUICE_PLUGIN=$(CURDIR)/target/job_submit_sluice.so \
	    $(CARGO) test --locked --features plugin --test slurmctld -- --nocapture 'what the plugin'

demo:
	@tools/demo

# A minute for each fuzz target, two at once; FUZZ_SECONDS for more or less. Needs a C++ compiler.
fuzz:
	tools/fuzz

# Tables of docs/performance.md: against job_submit/lua, by callgrind, by size of a policy, in slurmctld.
# SLUICE_BENCH_SHORT=1 for a first look.
bench: plugin
	$(CARGO) bench --locked --features plugin --bench side_by_side
	SLUICE_BENCH=1 SLUICE_PLUGIN=$(CURDIR)/target/job_submit_sluice.so SLUICE_COST_ROUNDS=$${SLUICE_COST_ROUNDS:-15} \
		$(CARGO) test --locked --features plugin --test slurmctld -- --nocapture 'what Sluice costs slurmctld'

# An hour of a busy site on a private slurmctld; SOAK_SECONDS for more or less.
soak:
	SOAK_SECONDS=$${SOAK_SECONDS:-3600} $(CARGO) test --locked --features plugin --test slurmctld -- --nocapture soak

# One .so per Slurm series, each against the headers of its own distribution's image.
plugins:
	@tools/requirements cluster
	tools/build-series

# target/packages: a .deb and an .rpm of the command, and of the plugin for each series.
packages:
	@tools/requirements cluster
	tools/packages

# A whole cluster in containers, and a shell as an ordinary user.
cluster:
	@tools/requirements cluster
	test-cluster/run up $(SERIES)
	test-cluster/run install $(SERIES)
	test-cluster/run shell $(SERIES)

# Every scenario on every series; writes docs/scenarios.md.
test-cluster:
	@tools/requirements cluster
	test-cluster/run test

clean:
	$(CARGO) clean

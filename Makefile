# SPDX-License-Identifier: GPL-2.0-or-later
#
# The words a newcomer types, on top of Meson:
#
#	make			build into build/; the program is build/spur
#	make demo		build, and show a small trace
#	make check		the tests of the plain build: about ten minutes
#	make check-all		every test: also with sanitizers, fuzzing, in emulated machines
#	make bench		measure against trace-cmd
#	make install		PREFIX=/usr/local DESTDIR=
#	make dist		a source archive of the last commit
#	make deb		Debian packages in build-deb/: spur, libspur0, libspur-dev
#	make fuzz		libFuzzer, FUZZ_SECONDS=60 per target
#	make fuzz-mutants	N=100000 SEED=1 damaged files through every reading command
#	make format		format the C files; `make format-check` only tells
#	make clean
#
# Missing Debian packages are installed on the way when you are root; DEPS=no leaves that out.

MAKEFLAGS += --no-print-directory
SHELL = /bin/bash
.SHELLFLAGS = -o pipefail -c
BUILD = build
PREFIX = /usr/local
FUZZ_SECONDS = 60
N = 100000
SEED = 1
JOBS = $(shell nproc)

ifeq ($(DEPS),no)
deps = :
else
deps = tools/deps
endif

c_files = $(shell find src include tests -name '*.[ch]')

.PHONY: all demo check check-all check-rest bench install dist deb fuzz fuzz-mutants fuzz-build format format-check clean

# Compiler messages, and nothing when there is nothing to do.
ninja = ninja --quiet -C $(1) | sed '/no work to do/d; /^Cleaning/d'

all: $(BUILD)/build.ninja
	@$(call ninja,$(BUILD))

$(BUILD)/build.ninja:
	@$(deps) build
	meson setup $(BUILD) --prefix=$(PREFIX) $(MESON_OPTIONS)

demo: all
	@tools/demo $(BUILD)/spur

check:
	@$(deps) build check
	@tests/run

check-all:
	@$(deps) build check check-all
	@tests/run --all

# What check-all adds to check.
check-rest:
	@$(deps) build check check-all
	@tests/run --rest

bench: all
	@$(deps) bench
	@bench/run $(BUILD)/spur

install: all
	meson configure $(BUILD) --prefix=$(PREFIX)
	meson install -C $(BUILD)

dist: all
	meson dist -C $(BUILD) --no-tests

deb:
	@$(deps) build deb
	@tools/deb build-deb

fuzz-build: build-fuzz/build.ninja
	@$(call ninja,build-fuzz fuzzers)

build-fuzz/build.ninja:
	@$(deps) build fuzz
	CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 \
		-Ddebug=false -Dc_args=-g1 -Dtests=enabled -Ddocs=disabled

fuzz: all fuzz-build
	@tests/fuzz/run --seconds $(FUZZ_SECONDS)

fuzz-mutants: all
	@tests/fuzz/run --mutants $(N) --seed $(SEED) --jobs $(JOBS)

format:
	@$(deps) check
	clang-format -i $(c_files)

format-check:
	@$(deps) check
	clang-format --dry-run -Werror $(c_files)

clean:
	rm -rf build build-*

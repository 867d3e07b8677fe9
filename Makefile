# `make` or `make help` says what there is.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Where `make install` puts things. DESTDIR is put before every path, for packagers.
PREFIX ?= /usr/local
DESTDIR ?=
bindir ?= $(PREFIX)/bin
datadir ?= $(PREFIX)/share
docdir ?= $(datadir)/doc/chime
sysconfdir ?= /etc
unitdir ?= $(PREFIX)/lib/systemd/system
userunitdir ?= $(PREFIX)/lib/systemd/user
sysusersdir ?= $(PREFIX)/lib/sysusers.d
catalogdir ?= $(PREFIX)/lib/systemd/catalog
bashcompletiondir ?= $(datadir)/bash-completion/completions
zshcompletiondir ?= $(datadir)/zsh/site-functions
fishcompletiondir ?= $(datadir)/fish/vendor_completions.d
mandir ?= $(datadir)/man

# An import of a target that Package.swift does not name is an error. The compiler does not check its own code between the
# passes of LLVM, which takes a tenth of the time and which released compilers of C leave out too.
swiftflags := --explicit-target-dependency-import-check error --disable-index-store -Xswiftc -Xfrontend -Xswiftc -disable-llvm-verify
# In a folder of their own, so that the debug build stays; .build/release leads there.
optimized := .build/optimized
release := .build/release
# What every release build is made with: each module compiled in one piece without a pass of its own for its interface, open to
# the tests, so that the same modules serve them, of what a debugger reads the lines alone, and nothing that tells in which
# folder it was built.
releaseflags := -c release --scratch-path $(optimized) --disable-local-rpath $(swiftflags) -Xswiftc -enable-testing \
  -Xswiftc -no-emit-module-separately-wmo -Xswiftc -gline-tables-only -Xlinker -z -Xlinker now -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=. \
  -Xcxx -ffile-prefix-map=$(CURDIR)=.
# Without address randomization, where the system lets a program do without: the optimizer orders some things by where they
# lie in its memory, and would make another program each time.
still := $(shell setarch --addr-no-randomize true 2>/dev/null && echo setarch --addr-no-randomize)
# The compiler spends up to a fifth of its time in the C library's allocator. jemalloc, where it is installed, takes a fraction of
# that, and the programs are the same.
allocator := $(shell LD_PRELOAD=libjemalloc.so.2 env true 2>&1 | grep -q . || echo 'env LD_PRELOAD="libjemalloc.so.2 $${LD_PRELOAD-}"')
swiftbuild := $(allocator) swift build
# Puts the programs beside their texts.
linked = ln -sfn ../share $(optimized)/share && ln -sfn optimized/release $(release)
# The compiler leaves empty folders in the temporary one.
scratch = mkdir -p .build/tmp/$(1) && trap 'rm -rf .build/tmp/$(1)' EXIT && TMPDIR=$(CURDIR)/.build/tmp/$(1)
# The debug build of the tests, which is quick after a change of a line.
testbuild = $(call scratch,tests) CHIME_BUILD=tests $(swiftbuild) --build-tests --disable-xctest $(swiftflags)
# As many at a time as may live in homes (`AsyncSemaphore.homes`): who waits for a place has its time limit from its own beginning.
homes ?= 6
width ?= $(homes)
few := --experimental-maximum-parallelization-width $(width)
# How tests run that are built with the programs, and in the debug build. CHIME_PROGRAMS has the programs that are tried.
runtests = CHIME_BUILD=tests CHIME_TEST_HOMES=$(homes) CHIME_PROGRAMS=$(CURDIR)/$(release) Tests/run swift test $(1) --ignore-lock --skip-build \
  --disable-xctest --enable-swift-testing $(swiftflags)
testrun := $(call runtests,-c release --scratch-path $(optimized))
debugrun := $(call runtests)
# All at once, hundreds of stores and programs are open at a time, and none comes to its end.
narrow := --experimental-maximum-parallelization-width 16
sources := Package.swift Sources Tests Benchmarks docs/examples/swift Fuzz/Package.swift Fuzz/Targets Fuzz/Entry
peers := $(patsubst Benchmarks/peers/%.c,$(release)/peers/%,\
  $(filter-out %/libical.c %/allocations.c,$(wildcard Benchmarks/peers/*.c))) $(release)/peers/allocations.so \
  $(if $(shell pkg-config --exists libical 2>/dev/null && echo yes),$(release)/peers/libical)

.PHONY: help run test proof golden unit system tests built test-modules test-waiting test-computing test-system proof-tests crash fleet power build release embed holidays words manual simulate bugs bench measure soak asan tsan fuzz lint fmt install uninstall clean \
  dependencies deb deb-test reproduce record sbom

help: ## change: Say what there is
	@printf 'Chime: reminders that fire.\n\n'
	@for group in use change prove publish; do printf 'To %s\n' "$$group"; \
	  awk -F ":.*## $$group: " "/^[a-z-]+:.*## $$group: / { printf \"  make %-12s %s\\n\", \$$1, \$$2 }" $(MAKEFILE_LIST); echo; done

run: ## use: Install what is missing, build, start chimed here and show a reminder firing
	@Packaging/dependencies run
	@$(MAKE) --no-print-directory release
	@Packaging/run $(release)

test: ## prove: Install what is missing, check the style and the imports, build, and show each promise once (13 to 20 minutes on two processors)
	@Packaging/dependencies test
	@Tests/quick

proof: ## prove: Prove what takes long, part by part, and print a table (hours; ONE=fleet for one part, AGAIN=1 for all anew)
	@Tests/proof $(ONE)

unit: tests ## change: Build and run the tests of the modules, which need no program of ours (ONE=name for those whose name has it)
	@$(MAKE) --no-print-directory test-modules ONE='$(ONE)' testrun='$(debugrun)'

system: built ## change: Build and run the tests of the real daemon on the real system (ONE=name for one suite)
	@$(MAKE) --no-print-directory test-system ONE='$(ONE)'

# Without a build before them. Those that wait for servers and programs run beside those that compute: in one process they
# would wait for its two threads as well.
waiting := ChimeDeliveryTests|ChimeStorePostgresTests
test-modules:
ifdef ONE
	@$(testrun) $(narrow) --skip ChimeSystemTests --filter '$(ONE)'
else
	@$(MAKE) --no-print-directory -k -j2 --output-sync=target test-waiting test-computing
endif

test-waiting:
	@$(testrun) $(narrow) --filter '$(waiting)'

test-computing:
	@$(testrun) $(narrow) --skip 'ChimeSystemTests|$(waiting)'

test-system:
	@$(testrun) $(few) --filter 'ChimeSystemTests$(if $(ONE),.*$(ONE))'

tests: embed ## change: Build the tests for debugging
	@$(testbuild)

# One build of the programs and of all that tests them.
built: words manual embed
	@$(call scratch,programs) CHIME_BUILD=tests $(still) $(swiftbuild) --build-tests --disable-xctest $(releaseflags)
	@$(linked)

# The tests that leave themselves to a part of the proof (`Tests/proof-filter` lists the parts).
proof-tests: built
	@filter=$$(Tests/proof-filter $(PART)) && CHIME_PROOF=$(PART) $(testrun) $(few) --filter "$$filter"

golden: release ## change: Record the output of the scripted session (Tests/Golden) after an intended change
	@Tests/Golden/record $(release)

ROUNDS ?= 500
crash: built ## prove: Kill the daemon under load, ROUNDS=500 times (SEED=N for the same again), and check what it promises
	@CHIME_PROOF=1 CHIME_TEST_ROUNDS=$(ROUNDS) CHIME_TEST_SEED=$(SEED) $(testrun) --filter 'ChimeSystemTests.*CrashTests'

REMINDERS ?= 100000
SPAN ?= 60
FAULTS ?= kill freeze stall cut promote restart kill,freeze,promote,restart
fleet: built ## prove: Have REMINDERS=100000 fire from four daemons on PostgreSQL within SPAN=60 seconds, while each of FAULTS befalls them
	@CHIME_PROOF=1 CHIME_TEST_REMINDERS=$(REMINDERS) CHIME_TEST_SPAN=$(SPAN) CHIME_TEST_FAULTS='$(FAULTS)' CHIME_TEST_SEED=$(SEED) \
	  $(testrun) --filter 'ChimeSystemTests.*FleetStormTests'

GAMES ?= 50
power: built ## prove: Cut the power under the store at every change to its files, in GAMES=50 random games (SEED=N)
	@CHIME_PROOF=1 CHIME_TEST_GAMES=$(GAMES) CHIME_TEST_SEED=$(SEED) $(testrun) --filter 'ChimeStoreSQLiteTests.*PowerTests'

build: embed ## change: Build everything for debugging
	@$(call scratch,all) $(swiftbuild) $(swiftflags)

release: words manual embed ## change: Build chimed and chime to install, the Swift library linked in
	@$(call scratch,programs) CHIME_BUILD=programs $(still) $(swiftbuild) $(releaseflags)
	@$(linked)

manual: ## change: Compile the manual pages into .build/share/man (after Packaging/manual update, where verbs or interfaces have changed)
	@Packaging/manual compile .build/share/man

holidays: ## change: Write Config/holidays.txt anew, the public holidays of all countries, from PyPI's newest holidays
	@Packaging/holidays
	@Packaging/embed

embed: ## change: Write the sources that are made of the interface files, packs and templates
	@Packaging/embed
	@Packaging/interfaces

words: ## change: Compile the translations into .build/share/locale (after Packaging/words update, where texts have changed)
	@Packaging/words compile .build/share/locale

bench: ## prove: Measure, beside peers in the same run (BENCH='--only lateness' for one)
	@Packaging/dependencies bench
	@$(MAKE) --no-print-directory measure BENCH='$(BENCH)'

# By itself, so that what has just been installed is seen.
measure: release $(peers)
	@$(call scratch,tools) $(swiftbuild) $(releaseflags) --product chime-bench
	@Benchmarks/peers/environment $(release)/peers
	@$(release)/chime-bench $(BENCH)

MINUTES ?= 10
soak: ## prove: Run chimed under mixed load and watch what it holds of the machine (MINUTES=60, plot in .build/soak)
	@Packaging/dependencies run
	@$(MAKE) --no-print-directory release $(peers)
	@$(call scratch,tools) $(swiftbuild) $(releaseflags) --product chime-bench
	@mkdir -p .build/soak
	@$(release)/chime-bench --soak $(MINUTES) .build/soak

SEEDS ?= 1000
FROM ?= 1
DAYS ?= 365
simulate: ## prove: Live 1000 simulated years and see that every promise holds (SEEDS=100000 FROM=1 DAYS=10)
	@$(call scratch,tools) $(swiftbuild) $(releaseflags) --product chime-simulate
	@$(optimized)/release/chime-simulate --seeds $(SEEDS) --from $(FROM) --days $(DAYS)

bugs: ## prove: Put known bugs back, one by one, and see that the simulator finds each (ONE=name for one)
	@$(allocator) Tests/Simulation/find-bugs $(ONE)

SECONDS ?= 60
fuzz: ## prove: Fuzz the parsers for a minute in all (FUZZ=rrule for one, SECONDS=600 for longer)
	@Fuzz/run $(FUZZ) SECONDS=$(SECONDS)

# Each in a build folder of its own, so that the usual build stays; what is beside that one is beside it too. The real daemon
# is as slow as it gets, so only a few at a time. Tests that look at their process's children run apart from others here too.
# Every process writes what its sanitizer reports into a folder: the words of a daemon in a test's home would go with the home.
sanitizedrun = CHIME_TEST_SANITIZER=$(1) $(3) Tests/run swift test --disable-xctest --enable-swift-testing --sanitize=$(1) \
  --scratch-path .build/$(2) $(swiftflags)
reports = log_path=$(CURDIR)/.build/$(1)/reports/report:log_exe_name=1
sanitized = rm -rf .build/$(2)/reports && mkdir -p .build/$(2)/reports && ln -sfn ../share .build/$(2)/share && failed=0 && \
  $(if $(ONE),{ $(sanitizedrun) --filter '$(ONE)' --experimental-maximum-parallelization-width 3 || failed=1; }, \
  { $(sanitizedrun) $(narrow) --filter '$(waiting)' || failed=1; \
  $(sanitizedrun) $(narrow) --skip 'ChimeSystemTests|$(waiting)' || failed=1; }) && \
  Tests/sanitizer-reports .build/$(2)/reports && exit $$failed

asan: words manual ## prove: Run the quick tests under AddressSanitizer (ONE=ChimeSystemTests for those of the real daemon)
	@# Without its leak detector, which cannot see a reference that Swift keeps in an enum with the case in its spare bits.
	@$(call sanitized,address,asan,ASAN_OPTIONS=$(call reports,asan):detect_leaks=0:$${ASAN_OPTIONS:-})

tsan: words manual ## prove: Run the quick tests under ThreadSanitizer (ONE=name as with asan)
	@$(call sanitized,thread,tsan,TSAN_OPTIONS=$(call reports,tsan):suppressions=$(CURDIR)/Tests/tsan.supp:$${TSAN_OPTIONS:-})

$(release)/peers/%: Benchmarks/peers/%.c Benchmarks/peers/peer.h | release
	@mkdir -p $(@D)
	@$(CC) -std=c11 -O2 -Wall -Wextra -o $@ $< $(if $(filter %/libical,$@),-lical,-lsqlite3) $(if $(filter %/webhooks,$@),-lcurl) \
	  $(if $(filter %/postgres_fires,$@),-I$(shell pg_config --includedir) -lpq -lpthread)

$(release)/peers/%.so: Benchmarks/peers/%.c | release
	@mkdir -p $(@D)
	@$(CC) -std=c11 -O2 -Wall -Wextra -shared -fPIC -o $@ $<

lint: ## change: Check the formatting, who imports whom, how far types are spread, and that no text is escaped by Character
	@swift format lint --strict --parallel --recursive $(sources)
	@Packaging/check-promises --self-test
	@Packaging/check-promises
	@Tests/first-change --check
	@Packaging/check-imports --self-test
	@Packaging/check-imports
	@Packaging/check-spread --self-test
	@Packaging/check-spread
	@Packaging/architecture --self-test
	@Packaging/architecture --check
	@Packaging/embed --check
	@Tests/Simulation/find-bugs --check
	@Packaging/check-escaping --self-test
	@Packaging/check-escaping
	@Packaging/interfaces --check
	@Packaging/words check
	@Packaging/manual check

fmt: ## change: Format the code
	@swift format --in-place --parallel --recursive $(sources)

install: ## use: Install the release build under PREFIX=/usr/local (DESTDIR= for packagers)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' bindir='$(bindir)' datadir='$(datadir)' docdir='$(docdir)' sysconfdir='$(sysconfdir)' \
	  unitdir='$(unitdir)' userunitdir='$(userunitdir)' sysusersdir='$(sysusersdir)' catalogdir='$(catalogdir)' \
	  bashcompletiondir='$(bashcompletiondir)' zshcompletiondir='$(zshcompletiondir)' fishcompletiondir='$(fishcompletiondir)' mandir='$(mandir)' \
	  Packaging/install $(release)

uninstall: ## use: Take away what install put there; configuration and reminders stay
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' bindir='$(bindir)' datadir='$(datadir)' docdir='$(docdir)' sysconfdir='$(sysconfdir)' \
	  unitdir='$(unitdir)' userunitdir='$(userunitdir)' sysusersdir='$(sysusersdir)' catalogdir='$(catalogdir)' \
	  bashcompletiondir='$(bashcompletiondir)' zshcompletiondir='$(zshcompletiondir)' fishcompletiondir='$(fishcompletiondir)' mandir='$(mandir)' \
	  Packaging/install --remove

record: ## publish: Record docs/terminal.svg and docs/pictures, which README and docs show, from the real programs
	@$(MAKE) --no-print-directory release
	@Packaging/record $(release)
	@Packaging/pictures $(release)

DEB ?= .build/deb
deb: ## publish: Build the Debian package into .build/deb (DEB=folder for another; docs/packaging.md)
	@Packaging/dependencies deb
	@Packaging/deb $(DEB)

deb-test: ## publish: Check the package, then install, upgrade and purge it on a plain Debian 12 that is booted (as root)
	@Packaging/dependencies debtest
	@$(MAKE) --no-print-directory deb
	@Tests/Package/run $(DEB)

reproduce: ## publish: Build the Debian package of the last commit twice, in two folders, and compare the two
	@Packaging/dependencies deb
	@Packaging/reproduce

sbom: ## publish: List what is linked into the programs, as SPDX in .build/chime.spdx.json
	@$(MAKE) --no-print-directory release
	@Packaging/sbom $(release) --output .build/chime.spdx.json
	@echo .build/chime.spdx.json

clean: ## change: Remove what was built here
	@rm -rf .build .venv Fuzz/.build

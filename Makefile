# make demo    builds everything, starts the image server on real photographs, fetches one, shows the hot paths
# make test    runs every test
#
# Both install what they need. The rest is for those who work on Flux: see `make help`.

FLUX = target/release/flux
PREFIX = /usr/local
IMAGE = examples/image

help:
	@sed -n 's/^# make/make/p; s/^## //p' Makefile

demo: flux packages
	@$(IMAGE)/setup
	@$(FLUX) build $(IMAGE)/image.flux -l turbojpeg
	@for runtime in pool thread event; do $(IMAGE)/demo.sh $(IMAGE)/build/image/image $$runtime || exit 1; done

test: cargo packages-test
	@SLICE="$(SLICE)" scripts/test

## make flux    the compiler alone: target/release/flux
flux: cargo packages
	@cargo build --release --package flux-lang

## make install the command, its manual, completions and CMake package, below PREFIX (/usr/local)
install: flux
	@scripts/install $(FLUX) $(DESTDIR)$(PREFIX)

## make bench   the comparisons of bench/, into bench/results/
bench: flux packages-test
	@bench/run

## make soak    random programs under load, with sanitizers, for SOAK_MINUTES (10), SOAK_SEED replaying one; then 2000
##              updates of the live page in a browser; then the whole test suite SOAK_STRESS times (1), while its
##              processes are stopped at random and busy loops run
soak: flux packages-test
	@scripts/soak $(or $(SOAK_MINUTES),10)

## make fuzz    mutated programs through the compiler for FUZZ_MINUTES (10), FUZZ_SEED replaying one, and as long bytes
##              through the readers of messages under sanitizers; then the explorer over FUZZ_PROGRAMS (100000) random
##              programs: none may deadlock or lose exclusion; then FUZZ_MESSAGES (1000000) changed messages through the
##              reference of the readers, and a hundredth of them through both, with as many values through what makes
##              messages; then changed requests, wild paths and random frames of HTTP/2 to examples/web, and wild requests
##              to an admin interface under sanitizers; at last wild clients and backends around the memcached proxy of FLICK
fuzz: cargo packages-test
	@FUZZ_MINUTES=$(or $(FUZZ_MINUTES),10) \
	    cargo test --release --package flux_fuzz -- --ignored fuzz_compiler --nocapture
	@FUZZ_MINUTES=$(or $(FUZZ_MINUTES),10) \
	    cargo test --release --package flux_back_cpp --test message_fuzz -- --ignored fuzz_messages --nocapture
	@FLUX_EXPLORE_PROGRAMS=$(or $(FUZZ_PROGRAMS),100000) \
	    cargo test --release --package flux_explore -- --ignored fuzz_explorer --nocapture
	@FLUX_MESSAGES=$(or $(FUZZ_MESSAGES),1000000) cargo test --release --package flux_message nearly_right
	@FLUX_MESSAGES=$$(($(or $(FUZZ_MESSAGES),1000000) / 100)) FLUX_MESSAGES_SEED=$$(date +%s) \
	    cargo test --release --package flux_back_cpp --test messages
	@FUZZ_MINUTES=$(or $(FUZZ_MINUTES),10) cargo test --release --package flux-lang --test command -- --ignored --test-threads 1 web::fuzz_
	@FUZZ_MINUTES=$(or $(FUZZ_MINUTES),10) cargo test --release --package flux-lang --test command -- --ignored admin_fuzz::fuzz_
	@FUZZ_MINUTES=$(or $(FUZZ_MINUTES),10) cargo test --release --package flux-lang --test command -- --ignored flick_services::fuzz_

## make captures  records anew what real clients and servers say to each other, for the tests of messages
captures:
	@python3 crates/message/tests/captures/record.py

## make package packages the crates, installs flux from the packages alone, and has it build a server
package: cargo packages
	@scripts/package

cargo:
	@scripts/require-cargo

packages:
	@scripts/install-packages packages.txt $(IMAGE)/packages.txt

packages-test: packages
	@scripts/install-packages packages-test.txt $(IMAGE)/test/packages.txt

## make clean   removes all that was built
clean:
	@cargo clean --quiet
	@rm -rf $(IMAGE)/build $(IMAGE)/pictures bench/results
	@$(MAKE) --no-print-directory -C runtime clean

.PHONY: help demo test flux install bench soak fuzz captures package cargo packages packages-test clean

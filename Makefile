# Short names for the commands; `python3 -m app` and `python3 -m tests` need nothing but Python.

.PHONY: serve check docs mutants bench vendor lock sbom

serve:
	python3 -m app serve

check:
	python3 -m tests

docs:
	.venv/bin/python -m sphinx -W docs build/docs

# Is a wrong engine noticed? make mutants OF="engine/dataplane --sample 40"; all of it takes a day or two.
mutants:
	python3 -m tests.mutants $(if $(OF),--module $(OF),--sample 40)

bench:
	.venv/bin/python -m tests.bench

vendor:
	cd static/vendor && npm ci && node vendor.mjs

# What is locked changes only here: make lock UPGRADE=--upgrade for all of it.
lock:
	.venv/bin/uv lock $(UPGRADE)

# What the container has and what browsers get, as CycloneDX.
sbom:
	mkdir -p build
	.venv/bin/uv export --quiet --locked --extra postgres --format cyclonedx1.5 --output-file build/python.cdx.json
	cd static/vendor && npm sbom --package-lock-only --sbom-format cyclonedx > ../../build/browser.cdx.json

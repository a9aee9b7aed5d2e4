# Short names for the commands; `python3 -m app` and `python3 -m tests` need nothing but Python.

.PHONY: serve check bench vendor

serve:
	python3 -m app serve

check:
	python3 -m tests

bench:
	python3 -m app bench

vendor:
	cd static/vendor && npm ci && node vendor.mjs

"""The process that serves many: gunicorn's worker, fair to addresses, and its configuration."""

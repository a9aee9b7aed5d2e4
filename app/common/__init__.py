"""What every room uses: settings, refusals, words, limits, fields of requests."""

"""Settings, refusals, words, limits and request fields, used by every room."""

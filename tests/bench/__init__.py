"""Benchmarks, measured as ratios of two things in the same place."""

"""Tiered storage on real brokers: `python3 -m tests.tiered STORY RELEASE` plays and records."""

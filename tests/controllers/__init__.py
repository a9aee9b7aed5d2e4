"""Voters that change on real controllers: `python3 -m tests.controllers STORY RELEASE` records."""

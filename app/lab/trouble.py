"""The one exception of the laboratory: one sentence for the person at the terminal."""

from __future__ import annotations


class Trouble(Exception):
    """Something that a person can mend, or must know: what is wrong, where, and what to do."""

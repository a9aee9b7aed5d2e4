"""The one exception of the laboratory: one sentence for the person at the terminal."""

from __future__ import annotations


class LabError(Exception):
    """Error that the user can fix, or must know: what is wrong, where, and what to do."""

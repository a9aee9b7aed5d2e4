"""The languages in which people are told things, the usual one first."""

from __future__ import annotations

from typing import Final

LANGUAGES: Final = ("en", "zh-Hans")
"""As their files are called.  What a file lacks is told in the first."""

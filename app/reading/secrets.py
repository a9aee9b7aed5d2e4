"""Secrets in pasted text: passwords of configurations, tokens, and logins in addresses."""

from __future__ import annotations

import re
from typing import Final

MASK: Final = "***"
_NAMED: Final = re.compile(
    r"((?:password|passwd|secret|token|api[_-]?key|credentials?)[\w.-]{0,40}\"?\s{0,4}[=:]\s{0,4})"
    r"(?!\*\*\*)(\"[^\"\r\n]{1,400}\"|[^\s,;\"'}]{1,400})",
    re.IGNORECASE,
)
_BEARER: Final = re.compile(r"\b((?:Bearer|Basic) )([A-Za-z0-9+/=._~-]{8,2000})")
_LOGIN: Final = re.compile(r"(://[^\s/:@]{1,100}:)(?!\*\*\*)([^\s/@]{1,200})(?=@)")


def masked(text: str) -> tuple[str, int]:
    """Return the text with each secret replaced by ***, and how many there were."""
    total = 0
    for pattern in (_NAMED, _BEARER, _LOGIN):
        text, count = pattern.subn(rf"\g<1>{MASK}", text)
        total += count
    return text, total

"""Known releases of Kafka, oldest first, and the codes of some of them."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ONLY_ZK: Final = _words("""
    0.8.0 0.8.1 0.8.1.1 0.8.2.0 0.8.2.1 0.8.2.2 0.9.0.0 0.9.0.1 0.10.0.0 0.10.0.1 0.10.1.0 0.10.1.1
    0.10.2.0 0.10.2.1 0.10.2.2 0.11.0.0 0.11.0.1 0.11.0.2 0.11.0.3 1.0.0 1.0.1 1.0.2 1.1.0 1.1.1
    2.0.0 2.0.1 2.1.0 2.1.1 2.2.0 2.2.1 2.2.2 2.3.0 2.3.1 2.4.0 2.4.1 2.5.0 2.5.1
    2.6.0 2.6.1 2.6.2 2.6.3 2.7.0 2.7.1 2.7.2 2.8.0 2.8.1 2.8.2
    3.0.0 3.0.1 3.0.2 3.1.0 3.1.1 3.1.2 3.2.0 3.2.1 3.2.2 3.2.3
""")
BOTH: Final = _words("""
    3.3.0 3.3.1 3.3.2 3.4.0 3.4.1 3.5.0 3.5.1 3.5.2 3.6.0 3.6.1 3.6.2 3.7.0 3.7.1 3.7.2
    3.8.0 3.8.1 3.9.0 3.9.1
""")
ONLY_KRAFT: Final = _words("4.0.0 4.0.1 4.1.0 4.1.1 4.2.0 4.3.0 4.4.0")
"""Releases with ZooKeeper only; with both kinds of controller; with KRaft only."""

CODES: Final[dict[str, str]] = {
    "Z08": "0.8.2.2", "Z09": "0.10.1.1", "Z0102": "0.10.2.2", "Z011": "1.1.1", "Z20": "2.0.1",
    "Z21": "2.3.1", "Z24": "2.4.1", "Z25": "2.6.3", "Z27": "2.7.2", "Z28": "3.2.3", "Z33": "3.9.1",
    "K33": "3.4.1", "K35": "3.5.2", "K36": "3.6.2", "K37": "3.8.1", "K39": "3.9.1", "K40": "4.0.1",
    "K41": "4.1.1",
}  # fmt: skip
"""Codes of profiles in old links, each with the release that it stands for."""


def span(releases: tuple[str, ...], some: tuple[str, ...]) -> str:
    """Return the name of successive releases: "0.10.2", "4.1 – 4.4", "3.9.1".

    All releases of a line together have the name of the line: 3.4.0 and 3.4.1 are "3.4".
    """
    begins, ends = _lines(releases, some[0], 0), _lines(releases, some[-1], -1)
    both = [line for line in begins if line in ends]
    if both:
        return both[-1]
    first, last = (begins[-1], ends[-1]) if begins and ends else (some[0], some[-1])
    return first if first == last else f"{first} – {last}"


def line_begun_by(known: tuple[str, ...], release: str) -> str:
    """Return the largest line that starts with `release`, else `release`: 0.11.0.0 gives 0.11."""
    return (_lines(known, release, 0) or [release])[-1]


def _lines(releases: tuple[str, ...], name: str, end: int) -> list[str]:
    """Return the lines whose first (end 0) or last (-1) release is `name`: 0.11.0.3 ends 0.11.0."""
    release, names = name, []
    while name.count(".") > 1:
        name = name.rpartition(".")[0]
        if name in releases:
            continue  # 0.8.1 is a release, and not the line of 0.8.1.1
        if [text for text in releases if text.startswith(f"{name}.")][end] != release:
            break
        names.append(name)
    return names

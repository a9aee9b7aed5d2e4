"""Check of the log lines of known bugs against Kafka's source, at the tags of its releases.

    python3 -m tests.bug_lines CLONE

prints each template that no affected release contains, and each affected release of which no
template of the bug is in the source.  CLONE is a git directory of apache/kafka with its tags.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile

from engine.catalogue.bugs import LedgerEntry, entries
from engine.catalogue.template import template
from engine.model.flags import release_of

_RELEASE = re.compile(r"\d+(?:\.\d+){2,3}")
_JOINED = re.compile(r'"(?:\s*\.format\([^()]*\))?\s*\+\s*[fs]?"+')
_MAIN = re.compile(r"src/main/.*\.(?:scala|java)$")


def source(clone: str, tag: str) -> str:
    """Return the main code of a release, with strings joined that stand on several lines."""
    packed = subprocess.run(["git", "-C", clone, "archive", tag], check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as tree:
        files = [tree.extractfile(one) for one in tree if _MAIN.search(one.name)]
        text = "\n".join(one.read().decode("utf-8", "replace") for one in files if one)
    return _JOINED.sub("", text)


def main(clone: str) -> None:
    listed = subprocess.run(["git", "-C", clone, "tag"], check=True, capture_output=True, text=True)
    tags = sorted(filter(_RELEASE.fullmatch, listed.stdout.split()), key=release_of)
    printing = [entry for entry in entries() if entry.lines]
    seen: dict[str, list[str]] = {text: [] for entry in printing for text in entry.lines}
    for tag in tags:
        code = source(clone, tag)
        for text, releases in seen.items():
            if re.search(
                ".{0,220}?".join(map(re.escape, template(text).literals)), code, re.DOTALL
            ):
                releases.append(tag)
    for entry in printing:
        report(entry, [tag for tag in tags if entry.affects(release_of(tag))], seen)


def report(entry: LedgerEntry, affected: list[str], seen: dict[str, list[str]]) -> None:
    for text in entry.lines:
        if affected and not set(affected) & set(seen[text]):
            print(f"{entry.jira}: no affected release logs {text!r}")
    silent = [tag for tag in affected if not any(tag in seen[text] for text in entry.lines)]
    if silent:
        print(f"{entry.jira}: silent in {', '.join(silent)}")


if __name__ == "__main__":
    main(sys.argv[1])

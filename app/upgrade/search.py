"""Known bugs of Kafka as entries of the search index."""

from __future__ import annotations

from collections.abc import Iterator

from app.core.search_entry import SearchEntry
from engine.catalogue import bugs
from engine.model.languages import USUAL


def entries() -> Iterator[SearchEntry]:
    """Yield the known bugs that a release can be asked for."""
    for bug in bugs.entries():
        release = bug.last_affected
        if release:
            mode = "" if bug.mode == bugs.BOTH else f"&mode={bug.mode}"
            url = f"/upgrade?from={release}{mode}#{bug.jira}"
            yield SearchEntry("bug", bug.jira, url, {USUAL: bug.statement}, (bug.jira, bug.where))

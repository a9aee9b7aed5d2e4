"""Behaviour of Kafka that was found here first, each with its proof."""

from __future__ import annotations

from importlib import resources
from typing import Final, NamedTuple

from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario


class HuntFinding(NamedTuple):
    """A finding: the scenario that tells it, the first release that has it, its proof.

    `played` are the releases of unmodified Kafka that did the same; `said` is what it logs.
    """

    code: str
    since: str
    played: tuple[str, ...]
    said: str

    @property
    def scenario(self) -> Scenario:
        return find(self.code)

    @property
    def report(self) -> str:
        """The text for an issue, as Markdown; docs/explanation/hunt.md includes it."""
        return (
            resources.files(__package__).joinpath("reports", f"{self.code}.md").read_text("utf-8")
        )


FINDINGS: Final = (
    HuntFinding(
        "S105",
        "3.9",
        ("3.9.1", "4.1.1", "4.4.0"),
        "Vote request VoteRequestData(…) with epoch … is rejected",
    ),
    HuntFinding(
        "S100",
        "3.6",
        ("3.9.1", "4.1.1", "4.4.0"),
        "Deleted remote log segment RemoteLogSegmentId{…} due to leader-epoch-cache truncation. "
        "Current earliest-epoch-entry: EpochEntry(epoch=1, startOffset=8), …",
    ),
    HuntFinding(
        "S99",
        "3.6",
        ("3.9.1", "4.1.1", "4.4.0"),
        "About to delete remote log segment RemoteLogSegmentId{…} due to retention size 2400000 "
        "breach. Log size after deletion will be …",
    ),
    HuntFinding(
        "S86",
        "3.3",
        ("3.9.1", "4.4.0"),
        "Ignoring failed ISR update to PendingExpandIsr(…) since we have already updated state",
    ),
)

"""One search of a page: its state, and its answer once there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.core.refusals import RequestError
from app.explore.search_request import Ask

if TYPE_CHECKING:
    from app.explore.answering import ExploreAnswer, ExploreProgress
    from app.workers.worker_process import WorkerProcess

WAITS: Final = "waits"
RUNS: Final = "runs"
DONE: Final = "done"
REFUSED: Final = "refused"
ENDED: Final = "ended"


@dataclass
class Search:
    """One question: its state, and its answer once there is one."""

    ask: Ask
    address: str
    state: str = WAITS
    progress: ExploreProgress | None = None
    answer: ExploreAnswer | None = None
    refusal: RequestError | None = None
    cancelled: bool = False
    hand: WorkerProcess | None = None

    @property
    def over(self) -> bool:
        return self.state in (DONE, REFUSED, ENDED)

    @property
    def stands(self) -> bool:
        """True where the answer serves later askers: it did not end early or crash."""
        fell = self.refusal is not None and self.refusal.code == "busy"
        return not (fell or self.cancelled or self.state == ENDED)

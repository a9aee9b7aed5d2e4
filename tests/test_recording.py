"""The moments of a run: each says what the cluster says, though most of it is taken over."""

from __future__ import annotations

from typing import Any

import pytest

from engine.properties import recording as recordings
from engine.properties.moment import Moment, ReplicaMoment
from engine.scenarios.file import find, library
from engine.sim.run import Run
from tests.conftest import THOROUGH

EACH = 1 if THOROUGH else 6
RUNS = [(code, one.profiles[0]) for code, one in list(library().items())[::EACH] if one.script]


def _replicas(moment: Moment) -> dict[tuple[int, int], list[Any]]:
    return {
        (tp, broker): [getattr(replica, name) for name in ReplicaMoment.__slots__]
        for tp, part in moment.parts.items()
        for broker, replica in part.replicas.items()
    }


@pytest.mark.parametrize(("code", "profile"), RUNS)
def test_a_broker_that_did_nothing_is_as_it_was(
    monkeypatch: pytest.MonkeyPatch, code: str, profile: str
) -> None:
    looked = 0

    def both(sim: Any, step: int, known: Any, *rest: Any) -> Moment:
        nonlocal looked
        looked += 1
        taken_over, anew = Moment(sim, step, known, *rest), Moment(sim, step, known)
        assert _replicas(taken_over) == _replicas(anew), f"{code} under {profile}, step {step}"
        return taken_over

    monkeypatch.setattr(recordings, "Moment", both)
    recordings.MomentRecording(Run(library()[code], profile))
    assert looked > 1


def test_actions_of_a_broker_are_seen() -> None:
    recording = recordings.MomentRecording(Run(find("S22"), find("S22").profiles[0]))
    first, last = recording.turns[0].now, recording.end
    assert _replicas(first) != _replicas(last)
    kept = last.untouched(0, {1})
    assert set(kept) == set(last.parts[0].replicas) - {1}

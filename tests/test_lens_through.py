"""A step through all releases: every release in one form, every name of it there."""

from __future__ import annotations

from typing import Any

import pytest

from engine.lens.lens_json import stacks_by_release
from engine.lens.source import source
from engine.lens.stacks import REASONS
from engine.lens.through import through
from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.sim.run import Run


def step_of(code: str, profile: str, number: int) -> dict[str, Any]:
    run = Run(find(code), profile)
    (step,) = Replay(run).steps(number, 1)
    return dict(step)


def spans(forms: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(form["since"], form["until"]) for form in forms]


CUT = ("S23", "Z011", 85)


@pytest.mark.parametrize(("code", "profile", "number"), [CUT, ("S20", "K39", 108)])
def test_the_forms_cover_every_release_and_have_only_its_names(
    code: str, profile: str, number: int
) -> None:
    step = step_of(code, profile, number)
    forms = through(step, step["view"]["mode"])["forms"]
    order = source().releases
    covered = [
        release
        for since, until in spans(forms)
        for release in order[order.index(since) : order.index(until) + 1]
    ]
    assert covered == list(order)
    for form in forms:
        for release in (form["since"], form["until"]):
            alone = stacks_by_release(step, (release,), step["view"]["mode"])["releases"][0]
            for here, there in zip(form["stacks"], alone["stacks"], strict=True):
                names = [frame[0] for frame in here["frames"]]
                assert names == [frame["name"] for frame in there["frames"]], release
                assert here["thread"] == there["thread"]
                assert here["reason"] in ("", *REASONS)
                assert all(source().has(release, name) for name in names)


def test_changes_are_marked() -> None:
    """A truncation was a request handler's, then the fetcher's by T-1, T-2 and T-4."""
    forms = {form["since"]: form["stacks"][0] for form in through(step_of(*CUT), "zk")["forms"]}
    assert [forms[one]["rule"] for one in ("0.8.2.2", "0.11.0.3", "2.3.1", "2.8.2")] == [
        "T-0", "T-1", "T-2", "T-4",
    ]  # fmt: skip
    assert forms["0.11.0.3"]["moved"] and not forms["2.3.1"]["moved"]
    changed = {one: {frame[0]: frame[3:] for frame in forms[one]["frames"]} for one in forms}
    assert changed["2.3.1"]["AbstractFetcherThread.doTruncate"] == ["new", ""]
    assert changed["3.1.2"]["UnifiedLog.truncateTo"] == ["moved", "Log.truncateTo"]
    assert changed["4.1.1"]["UnifiedLog.truncateTo"] == ["file", ""]
    assert not any(kind for kind, _ in changed["0.11.0.3"].values()), "another thread's are no news"
    assert "AbstractFetcherThread.maybeTruncate" in forms["2.8.2"]["gone"]


def test_a_step_without_cues_never_changes() -> None:
    (form,) = through(step_of("S23", "Z011", 0), "zk")["forms"]
    assert (form["since"], form["until"]) == ("0.8.2.2", "4.1.1") and form["stacks"] == []

"""The same run is the same everywhere: again, elsewhere, told or not, or cut to pieces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.model.messages import Message
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation
from engine.study.digest import digest
from engine.view.stage_overlays import dress
from engine.view.view import view
from tests.conftest import sample
from tests.test_properties import without_ghosts

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = [
    ("R20", "Z0102", 0),
    ("S20", "K39", 0),
    ("S05", "K36", 0),
    ("S14", "Z33", 0),
    ("S61", "Z0102", 3),
    ("S59", "K41", 4),
    ("S63", "K39", 1),
]
RUNS = [
    pytest.param(Run(find(code), profile, seed), id=f"{code}-{profile}-{seed}")
    for code, profile, seed in SAMPLE
]
SCRIPTED = [run for run in RUNS if "scale" not in run.values[0].scenario.tags]


def played(run: Run, told: bool = False, rush: bool = False) -> Simulation:
    sim = run.simulation(told)
    sim.rush = rush
    run_to_end(sim, run.lines())
    sim.ledger.close(sim.now)
    return sim


# -- again, and elsewhere -------------------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS)
def test_again(run: Run) -> None:
    first, second = Replay(run), Replay(Run.from_text(run.text()))
    assert first.outcome == second.outcome
    assert first.golden() == second.golden()
    assert digest(played(run)) == digest(played(run))


ELSEWHERE = [
    ["run", "R20", "--profile", "Z0102", "--json"],
    ["run", "S61", "--profile", "Z0102", "--seed", "11", "--json"],
    ["run", "S59", "--profile", "K41", "--seed", "5", "--json"],
]


def in_another_process(command: list[str], hash_seed: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "app", *command],
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("command", sample(ELSEWHERE, 3), ids=lambda command: command[1])
def test_in_processes_with_other_hash_seeds(command: list[str]) -> None:
    processes = [in_another_process(command, seed) for seed in ("1", "4711")]
    answers = []
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert err == ""
        answers.append(out)
    assert answers[0] == answers[1]
    told = json.loads(answers[0])
    profile = command[command.index("--profile") + 1]
    seed = int(command[command.index("--seed") + 1]) if "--seed" in command else 0
    here = Replay(Run(find(command[1]), profile, seed))
    assert told["digest"] == here.outcome, f"highwater {' '.join(command)}"


# -- told or not, in a hurry or not ---------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS)
def test_listening_and_haste_change_nothing(run: Run) -> None:
    ways = [(told, rush) for told in (False, True) for rush in (False, True)]
    assert len({digest(played(run, told, rush)) for told, rush in ways}) == 1


# -- cut to pieces --------------------------------------------------------------------------------


@pytest.mark.parametrize("run", SCRIPTED)
def test_cut_at_every_step_and_continued(run: Run) -> None:
    """The cut run ends as the whole one stood there; the rest of its moves ends as it ends."""
    whole = Replay(run)
    for step in range(whole.total + 1):
        kept = whole.cut(step)
        sim = run.simulation()
        run_to_end(sim, kept)
        assert sim.events == step, kept[-1:]
        if step % 7 == 0:
            if step < whole.total:
                shown = without_ghosts(whole.steps(step, 1)[0]["view"])
                assert without_ghosts(dress(sim, view(sim))) == shown, (step, kept[-1:])
            rest = remaining(whole, kept)
            if rest is not None:
                run_to_end(sim, rest)
                assert digest(sim) == digest(whole.end), (step, kept[-1:])


def remaining(whole: Replay, kept: tuple[str, ...]) -> tuple[str, ...] | None:
    """The moves that follow, or None inside a move: that cannot be taken up again by its text."""
    if kept and " !" in kept[-1]:
        return None
    return whole.lines[len(kept) :]


@pytest.mark.parametrize("run", RUNS)
def test_a_copy_goes_on_as_its_original(run: Run) -> None:
    sim = run.simulation()
    for _ in range(60):
        if sim.kernel.pending:
            sim.fire_next()
    twin = sim.copy()
    for one in (sim, twin):
        one.run_until(one.now + 3_000)
    assert digest(sim) == digest(twin)


def test_seeds_differ_and_concerns_do_not_mix() -> None:
    scenario = find("S61")
    outcomes = {digest(played(Run(scenario, "K39", seed), rush=True)) for seed in range(4)}
    assert len(outcomes) == 4
    lossless = scenario.vary("network.loss", 0.0)
    lossy = scenario.vary("network.loss", 0.05)
    strikes = []
    for one in (lossless, lossy):
        sim = Run(one, "K39", 2).simulation(cues=True)
        found: list[tuple[int, int]] = []
        sim.listener = lambda kind, node, what, sim=sim, found=found: found.extend(
            (sim.now, node) for cue in sim.out.cues or () if cue[0] == "CP-8.1.kill"
        )
        run_to_end(sim, ("run 20s",))
        strikes.append(found[:3])
    assert strikes[0] == strikes[1] != [], "loss on the network shifts no fault"


# -- messages -------------------------------------------------------------------------------------


def _parts(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_parts(one) for one in value]
    if isinstance(value, dict):
        return [(key, _parts(value[key])) for key in sorted(value)]
    names = _slots(type(value))
    if not names or isinstance(value, str):
        return repr(value)
    return [(name, _parts(getattr(value, name))) for name in names]


def _slots(kind: type) -> list[str]:
    if not kind.__module__.startswith("engine."):
        return []
    own = {"id", "sent", "due"}  # the network's, set when it takes a message
    return sorted(
        name for base in kind.__mro__ for name in getattr(base, "__slots__", ()) if name not in own
    )


def fingerprint(m: Message) -> str:
    return repr(_parts(m))


@pytest.mark.parametrize("run", RUNS)
def test_messages_are_never_changed_after_sending(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = run.simulation()
    sent: dict[int, tuple[Message, str]] = {}
    network_send, handle = sim.network.send, Simulation._handle

    def send(_: Any, m: Message) -> None:
        network_send(m)
        sent[m.id] = (m, fingerprint(m))

    checked = 0

    def handled(self: Simulation, event: Any) -> bool:
        nonlocal checked
        m = event[4]
        if isinstance(m, Message) and m.id in sent:
            assert fingerprint(m) == sent[m.id][1], "between sending and delivery"
            checked += 1
        result = handle(self, event)
        if isinstance(m, Message) and m.id in sent:
            assert fingerprint(m) == sent[m.id][1], "by its handler"
        return result

    monkeypatch.setattr(type(sim.network), "send", send)
    monkeypatch.setattr(Simulation, "_handle", handled)
    run_to_end(sim, run.lines())
    assert checked > 30
    for m, before in sent.values():
        assert fingerprint(m) == before, "long after"


def test_the_library_has_no_two_runs_alike() -> None:
    runs = [Run(one, profile) for one in library().values() for profile in one.profiles]
    assert len({run.digest for run in runs}) == len(runs)

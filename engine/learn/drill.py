"""A drill for a cluster that nothing has happened to yet: the usual accident, to be asked about."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.learn.probes import probes_of
from engine.model.errors import InputError
from engine.properties.recording import MomentRecording
from engine.sim.run import Run, play_all

FEWEST: Final = 5
"""A run with fewer questions is drilled."""


def drilled(run: Run) -> Run:
    """Return the run; if it has too few questions, add the death of a leader at its end.

    The first partition with a leader gets a record, loses its leader, gets a record from the next
    leader, and the first leader comes back. Moves that cannot be made there are left out.
    """
    recording = MomentRecording(run)
    if len(probes_of(recording)) >= FEWEST:
        return run
    now = recording.end
    led = [(tp, part.record.leader) for tp, part in now.parts.items() if part.leader() is not None]
    if not led:
        return run
    tp, leader = led[0]
    names = {broker.id: broker.label for broker in run.scenario.brokers}
    where = f" p={tp}" if tp else ""
    for line in (
        f"produce drill1 to {names[leader]} acks=all{where}",
        "settle",
        f"produce drill2 to {names[leader]} acks=1{where}",
        f"kill {names[leader]}",
        f"detect {names[leader]}",
        "settle",
    ):
        run = _longer(run, line)
    after = MomentRecording(run).end.parts[tp].record.leader
    if after in names:
        run = _longer(run, f"produce drill3 to {names[after]} acks=all{where}")
    for line in (f"restart {names[leader]}", "settle"):
        run = _longer(run, line)
    return run


def _longer(run: Run, line: str) -> Run:
    longer = replace(run, moves=(*run.lines(), line))
    try:
        play_all(longer)
    except InputError:
        return run
    return longer

"""The language of moves: every verb is parsed, refused in one sentence, and played."""

from __future__ import annotations

import pytest

from engine.model.errors import BadInput
from engine.scenarios.scenario import Scenario
from engine.sim import moves
from engine.sim.kernel import Chance
from engine.sim.moves import ALIASES, VERBS, Move
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from tests.move_cases import NEVER_REFUSED, PARSED, REFUSED, UNREADABLE

SCENARIO = Scenario.from_dict({"title": "What can be done?", "brokers": ["A", "B", "C"]})
GROUPS = {"deliver", "time", "clients", "faults", "admin"}


def parsed(line: str) -> Move:
    return moves.parse(line, SCENARIO.brokers)


def after(lines: str, profile: str = "K39", fetching: str = "manual") -> Simulation:
    """The cluster after these moves, separated by ;"""
    scenario = SCENARIO.vary("fetching", fetching)
    run = Run(scenario, profile, 0, tuple(line.strip() for line in lines.split(";") if line))
    return play_all(run)


# -- parsing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "args"), PARSED, ids=[line for line, _ in PARSED])
def test_parsing(line: str, args: dict[str, object]) -> None:
    move = parsed(f"  {line}   # as people write it ")
    assert move.args == args
    assert move.limit == -1
    again = parsed(move.text)
    assert (again.text, again.args, again.verb) == (move.text, args, move.verb)
    cut = parsed(f"{line} !12")
    assert (cut.args, cut.limit) == (args, 12)
    assert parsed(cut.text).limit == 12


def test_every_verb_is_parsed_above() -> None:
    assert {parsed(line).verb.name for line, _ in PARSED} == set(VERBS)
    assert set(ALIASES.values()) <= set(VERBS) and not set(ALIASES) & set(VERBS)


@pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))
def test_every_verb_explains_itself(verb: moves.Verb) -> None:
    first = verb.grammar.split()[0]
    assert first in (verb.name, "+40") and "  " not in verb.grammar
    assert verb.group in GROUPS
    assert verb.help[0].isupper() and verb.help.rstrip(".?") != verb.help
    example = verb.grammar.split(" | ")[0].split("[")[0].strip()
    example = example.replace("B", "2").replace(" m1 m2", " m1").split("|")[0]
    assert parsed(example).verb is verb, "the beginning of the grammar is an example"


# -- what cannot be read --------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "why"), UNREADABLE, ids=range(len(UNREADABLE)))
def test_what_cannot_be_read_is_said_in_one_line(line: str, why: str) -> None:
    with pytest.raises(BadInput) as caught:
        parsed(line)
    assert caught.value.code == "invalid"
    assert why in caught.value.sentence
    assert "\n" not in caught.value.sentence and len(caught.value.sentence) < 300


# -- what cannot be done --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "line", "why"), REFUSED, ids=[f"{b or 'at once'}: {m}" for b, m, _ in REFUSED]
)
def test_what_cannot_be_done_is_refused_before_anything_happened(
    before: str, line: str, why: str
) -> None:
    sim = after(before)
    events, now = sim.events, sim.now
    with pytest.raises(BadInput) as caught:
        list(moves.play(sim, parsed(line)))
    assert caught.value.code == "impossible"
    assert why in caught.value.sentence and caught.value.sentence.endswith((".", "?"))
    assert (sim.events, sim.now) == (events, now)


def test_every_verb_is_refused_above_or_never() -> None:
    refused = {parsed(line).verb.name for _, line, _ in REFUSED}
    assert refused | NEVER_REFUSED == set(VERBS)
    assert not refused & NEVER_REFUSED


# -- what is done ---------------------------------------------------------------------------------


def log(sim: Simulation, broker: int) -> str:
    batches = sim.brokers[broker].machine.disks[0].log.batches
    return " ".join(f"{'+'.join(batch.values)}@{batch.epoch}" for batch in batches)


def hw(sim: Simulation, broker: int) -> int:
    return sim.brokers[broker].machine.disks[0].log.hw


def isr(sim: Simulation) -> tuple[int, ...]:
    return sim.cluster.controller.records[0].isr


def leader(sim: Simulation) -> int:
    return sim.cluster.controller.records[0].leader


PLAYED = [
    # verb, moves, what is then so
    ("produce", "produce a b to A acks=1", lambda sim: log(sim, 1) == "a@0 b@0"),
    ("produce", "kill B; detect B; produce a idempotence=on; produce b retries=on; settle",
     lambda sim: (len(sim.ledger.acked[0]), len(sim.clients)) == (2, 3)),
    ("seek", "produce a b; settle; seek latest", lambda sim: sim.consumer().position == 2),
    ("read", "produce a; settle; read", lambda sim: sim.consumer().read == 1),
    ("fetch", "produce a b; fetch B x2; fetch C x2", lambda sim: hw(sim, 1) == 2),
    ("ask", "produce a; ask B", lambda sim: (log(sim, 2), len(sim.network.hands)) == ("", 1)),
    ("deliver", "produce a; deliver B->A; deliver A->B", lambda sim: log(sim, 2) == "a@0"),
    ("drop", "produce a; deliver B->A; drop A->B", lambda sim: sim.network.lost == 1),
    ("settle", "produce a; settle", lambda sim: [hw(sim, b) for b in (1, 2, 3)] == [1, 1, 1]),
    ("advance", "advance 1.5s", lambda sim: sim.now == 1500),
    ("at", "at 3s; at 3s", lambda sim: sim.now == 3000),
    ("step", "+7", lambda sim: sim.events == 7),
    ("detect", "kill A; detect A", lambda sim: (leader(sim), isr(sim)) == (2, (2, 3))),
    ("run", "run 2s", lambda sim: sim.now == 2000 and sim.consumer(1).read == 0),
    ("future", "future 7",
     lambda sim: sim.network.chance.below(999) == Chance(0, "future 7 network").below(999)),
    ("fetching", "fetching auto; produce a; advance 1s", lambda sim: hw(sim, 1) == 1),
    ("tick", "produce a; pause B; fetch C; advance 31s; tick A", lambda sim: 2 not in isr(sim)),
    ("checkpoint", "produce a; settle; checkpoint A",
     lambda sim: [sim.brokers[b].machine.disks[0].hw_checkpoint for b in (1, 2)] == [1, 0]),
    ("flush", "produce a b; flush A upto 1",
     lambda sim: sim.brokers[1].machine.disks[0].log.flushed == 1),
    ("elect", "elect B", lambda sim: (leader(sim), isr(sim)) == (2, (1, 2, 3))),
    ("set", "set min.insync.replicas=2",
     lambda sim: sim.brokers[1].replicas[0].min_isr() == 2),
    ("set", "set leader.replication.throttled.replicas=*; kill B; restart B",
     lambda sim: sim.brokers[2].running.quotas.leader.throttled == {"t": "*"}),
    ("set", "set leader.replication.throttled.replicas=0:1; "
     "set leader.replication.throttled.replicas=",
     lambda sim: sim.brokers[1].running.quotas is None),
    ("delete", "produce a b; settle; delete records 1",
     lambda sim: sim.brokers[1].machine.disks[0].log.log_start == 1),
    ("reassign", "reassign B C; settle",
     lambda sim: sim.cluster.controller.records[0].replicas == (2, 3)),
    ("create_topic", "create_topic orders B,C C,A; produce a p=orders-0; settle",
     lambda sim: sim.brokers[3].machine.disks[1].log.leo == 1
     and 2 not in sim.brokers[2].machine.disks),
    ("add_partitions", "add_partitions t count=2",
     lambda sim: sim.cluster.names == ("t-0", "t-1", "t-2")
     and len(sim.cluster.controller.records[2].replicas) == 3),
    ("delete_topic", "produce a; settle; delete_topic t",
     lambda sim: not any(broker.machine.disks for broker in sim.brokers.values())),
    ("decommission", "reassign A B; settle; decommission A",
     lambda sim: (sim.cluster.controller.records[0].replicas, sim.brokers[1].status)
     == ((3, 2), "down")),
    ("hold", "hold md B; elect B", lambda sim: sim.cluster.current_leader(0) is None),
    ("release", "hold md B; elect B; release md B",
     lambda sim: sim.cluster.current_leader(0) is sim.brokers[2].replicas[0]),
    ("hold", "hold B->A; produce a; settle", lambda sim: (hw(sim, 1), log(sim, 2)) == (0, "")),
    ("release", "hold B->A; produce a; fetch B; release B->A; fetch B",
     lambda sim: log(sim, 2) == "a@0"),
    ("delay", "fetching auto; run 1s; slow A B 50; produce a; delay A->B 400ms; advance 300ms",
     lambda sim: log(sim, 2) == ""),
    ("duplicate", "produce a; hold B->A; fetch B; duplicate B->A; release B->A; fetch B",
     lambda sim: log(sim, 2) == "a@0"),
    ("kill", "produce a to B; produce b; kill A", lambda sim: log(sim, 1) == "b@0"),
    ("power", "produce a; power A", lambda sim: log(sim, 1) == ""),
    ("wipe", "produce a; wipe A", lambda sim: not sim.brokers[1].machine.disks),
    ("wipe", "disk_fail A d1; wipe A d1; detect A; restart A",
     lambda sim: sim.brokers[1].status == "up"),
    ("disk_fail", "disk_fail A d1", lambda sim: sim.brokers[1].status == "down"),
    ("restart", "kill B; restart B", lambda sim: sim.brokers[2].status == "up"),
    ("shutdown", "shutdown A", lambda sim: (leader(sim), sim.brokers[1].status) == (2, "down")),
    ("pause", "pause A; produce a", lambda sim: (log(sim, 1), sim.ledger.sent) == ("", 1)),
    ("resume", "pause A; resume A; produce a; settle", lambda sim: hw(sim, 1) == 1),
    ("pause", "pause K; advance 20s", lambda sim: sim.cluster.controller.epoch == 2),
    ("resume", "pause K; advance 1s; resume K; advance 20s",
     lambda sim: (sim.cluster.controller.epoch, sim.cluster.controller.alive) == (1, True)),
    ("bounce", "bounce B", lambda sim: sim.brokers[2].machine.incarnation == 2),
    ("bounce", "produce a; bounce A power", lambda sim: log(sim, 1) == ""),
    ("jump", "produce a; jump A 1m; tick A", lambda sim: isr(sim) == (1,)),
    ("cut", "cut A->B", lambda sim: list(sim.network.links) == [(1, 2)]),
    ("heal", "cut A B; cut A K; heal", lambda sim: not sim.network.links),
    ("slow", "slow A B 50", lambda sim: sim.network.links[2, 1].delay == 50),
    ("slow_disk", "slow_disk A 0.5; produce a b; advance 2s",
     lambda sim: (log(sim, 1), sim.brokers[1].running.disk_free_us) == ("a@0", 4_000_000)),
    ("slow_disk", "slow_disk B 2; produce a; fetch B; slow_disk B 0; advance 500; fetch C",
     lambda sim: (log(sim, 2), log(sim, 3)) == ("a@0", "a@0")),
    ("lose", "lose A B 25%", lambda sim: sim.network.links[1, 2].loss == 0.25),
]  # fmt: skip


def test_a_broker_is_forgotten_and_may_come_back() -> None:
    gone = "reassign B C; settle; shutdown A; unregister A"
    sim = after(gone)
    assert 1 not in sim.cluster.controller.brokers
    assert all(1 not in sim.brokers[b].running.peers for b in (2, 3))
    assert 1 in after(f"{gone}; restart A").cluster.controller.brokers


@pytest.mark.parametrize("profile", ["K39", "Z28"])
@pytest.mark.parametrize(
    ("lines", "so"), [(lines, so) for _, lines, so in PLAYED], ids=[lines for _, lines, _ in PLAYED]
)
def test_what_a_move_does(lines: str, so: object, profile: str) -> None:
    assert callable(so)
    assert so(after(lines, profile)), (lines, profile)


def test_every_verb_is_played_above() -> None:
    # unregister is KRaft's alone; two directories are in test_directories.py and test_dir_moves.py,
    # fetchers that fail in rules/test_fetchers.py
    elsewhere = {"unregister", "move_dir", "copy", "fetch_error"}
    assert {verb for verb, _, _ in PLAYED} | elsewhere == set(VERBS)

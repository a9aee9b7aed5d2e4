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

PARSED = [
    ("produce a b to A acks=1 p=0", {"values": ("a", "b"), "to": 1, "acks": 1, "tp": 0}),
    ("produce a", {"values": ("a",), "to": None, "acks": -1, "tp": 0}),
    ("produce a acks=-1", {"values": ("a",), "to": None, "acks": -1, "tp": 0}),
    ("produce a acks=0", {"values": ("a",), "to": None, "acks": 0, "tp": 0}),
    ("produce a retries=on", {"values": ("a",), "to": None, "acks": -1, "tp": 0, "how": "retries"}),
    ("produce a idempotence=on",
     {"values": ("a",), "to": None, "acks": -1, "tp": 0, "how": "idempotence"}),
    ("seek latest", {"client": -31, "timestamp": -1}),
    ("seek C2 earliest", {"client": -32, "timestamp": -2}),
    ("read", {"client": -31}),
    ("read C2", {"client": -32}),
    ("produce a p=orders-0", {"values": ("a",), "to": None, "acks": -1, "tp": "orders-0"}),
    ("fetch B", {"broker": 2, "times": 1}),
    ("fetch 2 x3", {"broker": 2, "times": 3}),
    ("ask C", {"broker": 3}),
    ("deliver 2->1", {"src": 2, "dst": 1, "kind": 0}),
    ("deliver 1->P1 ProduceResponse", {"src": 1, "dst": -11, "kind": 8}),
    ("drop A>K", {"src": 1, "dst": -1, "kind": 0}),
    ("drop A->K AlterPartition", {"src": 1, "dst": -1, "kind": 9}),
    ("delay P1->A 1.5s", {"src": -11, "dst": 1, "ms": 1500, "kind": 0}),
    ("delay K->B 200 MetadataFetchResponse", {"src": -1, "dst": 2, "ms": 200, "kind": 16}),
    ("duplicate P1->A Produce", {"src": -11, "dst": 1, "kind": 7}),
    ("hold B->A", {"src": 2, "dst": 1, "kind": 0}),
    ("release B->A Fetch", {"src": 2, "dst": 1, "kind": 1}),
    ("settle", {}),
    ("advance 1.5s", {"ms": 1500}),
    ("advance 500", {"ms": 500}),
    ("at 2m", {"ms": 120_000}),
    ("+40", {"count": 40}),
    ("step 40", {"count": 40}),
    ("detect C", {"broker": 3}),
    ("run", {"ms": 0}),
    ("run 1h", {"ms": 3_600_000}),
    ("fetching auto", {"auto": True}),
    ("future 7", {"number": 7}),
    ("tick A", {"broker": 1}),
    ("checkpoint", {"broker": None}),
    ("checkpoint B", {"broker": 2}),
    ("flush A upto 5", {"broker": 1, "upto": 5}),
    ("elect preferred", {"kind": 1, "broker": None, "tp": 0}),
    ("elect unclean p=3", {"kind": 2, "broker": None, "tp": 3}),
    ("elect B p=orders-1", {"kind": 0, "broker": 2, "tp": "orders-1"}),
    ("set leader.replication.throttled.replicas=0:1,0:2",
     {"key": "leader.replication.throttled.replicas", "value": "0:1,0:2"}),
    ("set min.insync.replicas=2", {"key": "min.insync.replicas", "value": "2"}),
    ("delete records 3", {"offset": 3, "tp": 0}),
    ("reassign 2 C", {"target": (2, 3), "tp": 0}),
    ("reassign cancel p=1", {"target": None, "tp": 1}),
    ("create_topic orders", {"topic": "orders", "lists": ()}),
    ("create_topic o.2 factor=2 placer=zk start=0 shift=1 partitions=4",
     {"topic": "o.2", "lists": (), "partitions": 4, "factor": 2, "placer": "zk", "start": 0,
      "shift": 1}),
    ("create_topic orders A,B 2,3", {"topic": "orders", "lists": ((1, 2), (2, 3))}),
    ("add_partitions t count=2 placer=textbook",
     {"topic": "t", "count": 2, "lists": (), "placer": "textbook"}),
    ("add_partitions t 1,2,3", {"topic": "t", "count": 1, "lists": ((1, 2, 3),)}),
    ("delete_topic t", {"topic": "t"}),
    ("decommission A", {"broker": 1}),
    ("unregister A", {"broker": 1}),
    ("hold md A", {"metadata": True, "broker": 1}),
    ("release alter A", {"metadata": False, "broker": 1}),
    ("kill K", {"broker": -1}),
    ("pause K", {"broker": -1}),
    ("resume K", {"broker": -1}),
    ("crash B", {"broker": 2}),
    ("power_off B", {"broker": 2}),
    ("wipe B", {"broker": 2, "dir": 0}),
    ("wipe B d2", {"broker": 2, "dir": 2}),
    ("disk_fail B d1", {"broker": 2, "dir": 1}),
    ("move_dir B d2 p=1", {"broker": 2, "dir": 2, "tp": 1}),
    ("copy B", {"broker": 2}),
    ("restart k", {"broker": -1}),
    ("shutdown B", {"broker": 2}),
    ("pause B", {"broker": 2}),
    ("resume B", {"broker": 2}),
    ("bounce B", {"broker": 2, "power": False}),
    ("bounce B power", {"broker": 2, "power": True}),
    ("jump B 1m", {"broker": 2, "ms": 60_000}),
    ("cut 1 2", {"a": 1, "b": 2, "both": True}),
    ("cut A->K", {"a": 1, "b": -1, "both": False}),
    ("heal", {"a": None, "b": None, "both": True}),
    ("heal 1 2", {"a": 1, "b": 2, "both": True}),
    ("slow A B 2s", {"a": 1, "b": 2, "ms": 2000}),
    ("lose A B 10%", {"a": 1, "b": 2, "percent": 10}),
    ("slow_disk B 0.5", {"broker": 2, "rate": 0.5}),
]


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

UNREADABLE = [
    ("", "The move is empty"),
    ("   # only a comment", "The move is empty"),
    ("settle " * 60, "The move is longer than 400 characters."),
    ("settle\nkill 1", "A move is one line of plain characters."),
    ("settel", "There is no move “settel”. Did you mean “settle”?"),
    ("explode", "There is no move “explode”."),
    ("settle now", "“now” is not expected there. It is written: settle"),
    ("settle !", "“!” is not expected there."),
    ("settle !-1", "“!-1” is not expected there."),
    ("settle !99999999", "is not expected there."),
    ("produce", "A record is missing."),
    ("produce to A", "A record is missing."),
    ("produce a to", "A broker is missing."),
    ("produce a/b", "“a/b” cannot name a record."),
    ("produce a acks=2", "“acks=2” is not expected there."),
    ("produce a p=x", "“x” is no number up to 63."),
    ("produce a p=64", "“64” is no number up to 63."),
    ("produce " + "a " * 190 + "to A x", "“x” is not expected there."),
    ("read C0", "“C0” is no consumer."),
    ("read P1", "“P1” is no consumer."),
    ("seek", "Latest or earliest is missing."),
    ("seek C1 first", "“first” is neither latest nor earliest."),
    ("produce a acks=1 idempotence=on", "An idempotent producer needs acks=all."),
    ("fetch", "A broker is missing."),
    ("fetch D", "There is no broker “D”; there are A, B, C."),
    ("fetch K", "There is no broker “K”"),
    ("fetch A x", "“” is no number up to 100."),
    ("fetch A x1000", "is no number up to 100."),
    ("deliver 1 2", "Say which way, such as 2->1."),
    ("deliver A->A", "A link joins two different nodes."),
    ("deliver A->", "There is no broker “”"),
    ("advance", "A duration is missing."),
    ("advance soon", "“soon” is no duration, such as 500 or 1.5s."),
    ("advance -5", "“-5” is no duration"),
    ("advance 25h", "A duration is at most a day."),
    ("advance 1e9", "is no duration"),
    ("advance ٣", "is no duration"),
    ("+1000000", "is no number up to 100000."),
    ("step ²", "“²” is no number"),
    ("+", "There is no move “+”."),
    ("future x", "“x” is no number up to 100000000."),
    ("fetching maybe", "“maybe” is neither auto nor manual."),
    ("flush A down 3", "Only “upto” may follow."),
    ("elect", "Preferred, unclean or a broker is missing."),
    ("elect nobody", "There is no broker “nobody”"),
    ("set", "A setting such as min.insync.replicas=2 is missing."),
    ("set min.insync.replicas", "A setting needs a value."),
    ("set colour=red", "There is no configuration “colour”."),
    ("hold everything A", "“everything” is neither md nor alter nor a direction."),
    ("hold B->A Fetsch", "“Fetsch” is no kind of message, such as Fetch or FetchResponse."),
    ("delay B->A", "A duration is missing."),
    ("duplicate B A", "Say which way, such as 2->1."),
    ("deliver C0->A", "There is no broker “C0”"),
    ("bounce A down", "Only “power” may follow."),
    ("jump A", "A duration is missing."),
    ("lose A B lots", "“lots” is no number up to 100."),
    ("lose A B 101%", "“101” is no number up to 100."),
    ("slow A B", "A duration is missing."),
    ("slow_disk A", "Records a second is missing."),
    ("slow_disk A 10s", "“10s” is no number a second, such as 10 or 0.5."),
    ("cut A", "A second node is missing."),
    ("wipe B 1", "“1” is no log directory, such as d1."),
    ("move_dir B", "A log directory such as d1 is missing."),
    ("create_topic", "A topic is missing."),
    ("create_topic a/b", "“a/b” cannot name a topic."),
    ("create_topic orders A,A", "A broker is named twice."),
    ("create_topic orders A,B factor=2", "“factor” is not expected there."),
    ("create_topic orders placer=best", "A placer is one of textbook, zk, striped."),
    ("create_topic orders partitions=65", "“65” is no number up to 64."),
    ("add_partitions t", "Count=, or the replicas of a partition, is missing."),
    ("add_partitions t count=1 start=0", "“start” is not expected there."),
    ("elect A p=65", "“65” is no number up to 63."),
]


@pytest.mark.parametrize(("line", "why"), UNREADABLE, ids=range(len(UNREADABLE)))
def test_what_cannot_be_read_is_said_in_one_line(line: str, why: str) -> None:
    with pytest.raises(BadInput) as caught:
        parsed(line)
    assert caught.value.code == "invalid"
    assert why in caught.value.sentence
    assert "\n" not in caught.value.sentence and len(caught.value.sentence) < 300


# -- what cannot be done --------------------------------------------------------------------------

REFUSED = [
    # moves before                       the move             why not
    ("", "produce a p=1", "There is no partition 1; there are 1."),
    ("kill A; kill B; kill C; detect A; detect B; detect C", "produce a",
     "The partition has no leader to write to; name a broker with “to”."),
    ("kill B", "produce a to B", "Broker B is down; restart it first."),
    ("", "read C2", "There is no such consumer."),
    ("", "seek C2 latest", "There is no such consumer."),
    ("kill A; kill B; kill C; detect A; detect B; detect C", "read",
     "The partition has no leader to read from."),
    ("", "fetch A", "Broker A follows nobody now."),
    ("pause B", "fetch B", "Broker B is paused, not running."),
    ("fetching auto", "fetch B",
     "Followers fetch by themselves in this run; “fetching manual” changes that."),
    ("", "ask A", "Broker A follows nobody now."),
    ("", "deliver A->B", "Nothing is under way from broker A to broker B."),
    ("kill B", "deliver A->B", "Broker B is down; restart it first."),
    ("", "drop A->K", "Nothing is under way from broker A to the controller."),
    ("advance 5s", "at 4s", "The clock shows 5000 ms already."),
    ("", "detect A", "Broker A is alive and reaches the controller."),
    ("kill A", "tick A", "Broker A is down; restart it first."),
    ("kill A", "checkpoint A", "Broker A is down; restart it first."),
    ("pause A", "flush A", "Broker A is paused, not running."),
    ("", "elect preferred", "The preferred replica leads already (ELECTION_NOT_NEEDED)."),
    ("", "elect unclean", "The partition has a leader (ELECTION_NOT_NEEDED)."),
    ("", "elect A", "Broker A leads already."),
    ("kill B; detect B", "elect B", "Broker B is not in the ISR."),
    ("kill A; detect A", "elect preferred",
     "AR[0] is not alive and in sync (PREFERRED_LEADER_NOT_AVAILABLE)."),
    ("kill A; kill B; kill C; detect A; detect B; detect C", "elect unclean",
     "No replica is alive (ELIGIBLE_LEADERS_NOT_AVAILABLE)."),
    ("", "set min.insync.replicas=many",
     "min.insync.replicas is a whole number (replicas)."),
    ("", "set leader.replication.throttled.replicas=A",
     "leader.replication.throttled.replicas is * or a list like 0:1,0:2."),
    ("produce a", "delete records 1",
     "Offset 1 lies beyond the high watermark 0 (OFFSET_OUT_OF_RANGE)."),
    ("", "reassign cancel", "No reassignment is running (NO_REASSIGNMENT_IN_PROGRESS)."),
    ("", "deliver P2->A", "There is no producer P2."),
    ("ask B", "deliver B->A AlterPartition",
     "No AlterPartition is under way from broker B to broker A."),
    ("hold B->A", "hold B->A", "That is held already; “release” lets it go on to broker A."),
    ("", "hold C9->A", "There is no consumer C9."),
    ("", "release B->A", "Nothing from broker B to broker A is held so."),
    ("", "delay A->B 1s", "Nothing is under way from broker A to broker B."),
    ("produce a; ask B", "delay A->B 1s", "It waits for a hand: time does not move it."),
    ("hold B->A; fetch B", "delay B->A 1s", "It is held; release it first."),
    ("", "duplicate A->B", "Nothing is under way from broker A to broker B."),
    ("produce a; ask B", "duplicate A->B",
     "An answer travels once: TCP repeats nothing, and only requests are sent again."),
    ("", "elect A p=2", "There is no partition 2; there are 1."),
    ("delete_topic t", "reassign A p=t-0",
     "Partition t-0 is deleted (UNKNOWN_TOPIC_OR_PARTITION)."),
    ("delete_topic t", "read", "Partition t-0 is deleted (UNKNOWN_TOPIC_OR_PARTITION)."),
    ("", "create_topic t", "Topic t exists already (TOPIC_ALREADY_EXISTS)."),
    ("", "create_topic orders partitions=0", "at least one partition (INVALID_PARTITIONS)."),
    ("", "create_topic orders factor=4",
     "There are not enough usable brokers for so many replicas (INVALID_REPLICATION_FACTOR)."),
    ("", "create_topic orders partitions=64",
     "A run has at most 64 partitions; there is room for 63 more."),
    ("", "create_topic orders A,B C", "cannot be the replicas (INVALID_REPLICA_ASSIGNMENT)."),
    ("kill C; detect C", "create_topic orders C",
     "These brokers cannot be the replicas (INVALID_REPLICA_ASSIGNMENT)."),
    ("", "add_partitions orders count=1",
     "There is no topic orders (UNKNOWN_TOPIC_OR_PARTITION); there is t."),
    ("", "add_partitions t A,B", "cannot be the replicas (INVALID_REPLICA_ASSIGNMENT)."),
    ("kill K", "delete_topic t", "There is no active controller."),
    ("", "decommission A", "No other live broker can take over t-0."),
    ("", "unregister A", "Broker A is running; shut it down first."),
    ("reassign B C; settle; shutdown A; unregister A", "unregister A",
     "Broker A is not registered (BROKER_ID_NOT_REGISTERED)."),
    ("", "release md A", "Nothing of broker A is held."),
    ("", "release alter A", "Nothing of broker A is held."),
    ("kill A", "kill A", "Broker A is down already."),
    ("kill K", "kill K", "There is no active controller already."),
    ("kill A", "power A", "Broker A is down already."),
    ("", "restart A", "Broker A is running already."),
    ("", "restart K", "The controller is active."),
    ("kill A", "shutdown A", "Broker A is down; restart it first."),
    ("kill K", "pause K", "There is no active controller."),
    ("pause K; restart K", "pause K", "A controller is paused already."),
    ("", "resume K", "No controller is paused."),
    ("", "wipe A d2", "Broker A has no log directory d2; there is d1."),
    ("", "disk_fail A d2", "Broker A has no log directory d2; there is d1."),
    ("disk_fail A d1", "disk_fail A d1", "Log directory d1 of broker A has failed already."),
    ("", "move_dir A d2", "has no log directory d2; there is d1 (LOG_DIR_NOT_FOUND)."),
    ("", "move_dir A d1", "The log lies in d1 already."),
    ("", "copy A", "No log of broker A is on its way to another directory."),
    ("disk_fail A d1", "restart A",
     "Log directory d1 has failed; replace its disk first, with “wipe A d1”."),
    ("kill A", "pause A", "Broker A is down; restart it first."),
    ("", "resume A", "Broker A is not paused."),
    ("kill A", "bounce A", "Broker A is down already."),
    ("kill A", "jump A 1s", "Broker A is down; restart it first."),
    ("cut A B", "cut A B", "The link is cut already."),
    ("", "heal A B", "The link is not cut."),
    ("", "slow A P2 1s", "There is no producer P2."),
    ("", "lose A C2 10%", "There is no consumer C2."),
]  # fmt: skip
NEVER_REFUSED = {
    *("settle", "advance", "step", "run", "future", "fetching", "slow_disk")
}


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
    batches = sim.brokers[broker].disks[0].log.batches
    return " ".join(f"{'+'.join(batch.values)}@{batch.epoch}" for batch in batches)


def hw(sim: Simulation, broker: int) -> int:
    return sim.brokers[broker].disks[0].log.hw


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
     lambda sim: [sim.brokers[b].disks[0].hw_checkpoint for b in (1, 2)] == [1, 0]),
    ("flush", "produce a b; flush A upto 1", lambda sim: sim.brokers[1].disks[0].log.flushed == 1),
    ("elect", "elect B", lambda sim: (leader(sim), isr(sim)) == (2, (1, 2, 3))),
    ("set", "set min.insync.replicas=2",
     lambda sim: sim.brokers[1].replicas[0].min_isr() == 2),
    ("set", "set leader.replication.throttled.replicas=*; kill B; restart B",
     lambda sim: sim.brokers[2].quotas.leader.throttled == {"t": "*"}),
    ("set", "set leader.replication.throttled.replicas=0:1; "
     "set leader.replication.throttled.replicas=",
     lambda sim: sim.brokers[1].quotas is None),
    ("delete", "produce a b; settle; delete records 1",
     lambda sim: sim.brokers[1].disks[0].log.log_start == 1),
    ("reassign", "reassign B C; settle",
     lambda sim: sim.cluster.controller.records[0].replicas == (2, 3)),
    ("create_topic", "create_topic orders B,C C,A; produce a p=orders-0; settle",
     lambda sim: sim.brokers[3].disks[1].log.leo == 1 and 2 not in sim.brokers[2].disks),
    ("add_partitions", "add_partitions t count=2",
     lambda sim: sim.cluster.names == ("t-0", "t-1", "t-2")
     and len(sim.cluster.controller.records[2].replicas) == 3),
    ("delete_topic", "produce a; settle; delete_topic t",
     lambda sim: not any(broker.disks for broker in sim.brokers.values())),
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
    ("wipe", "produce a; wipe A", lambda sim: not sim.brokers[1].disks),
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
    ("bounce", "bounce B", lambda sim: sim.brokers[2].incarnation == 2),
    ("bounce", "produce a; bounce A power", lambda sim: log(sim, 1) == ""),
    ("jump", "produce a; jump A 1m; tick A", lambda sim: isr(sim) == (1,)),
    ("cut", "cut A->B", lambda sim: list(sim.network.links) == [(1, 2)]),
    ("heal", "cut A B; cut A K; heal", lambda sim: not sim.network.links),
    ("slow", "slow A B 50", lambda sim: sim.network.links[2, 1].delay == 50),
    ("slow_disk", "slow_disk A 0.5; produce a b; advance 2s",
     lambda sim: (log(sim, 1), sim.brokers[1].disk_free_us) == ("a@0", 4_000_000)),
    ("slow_disk", "slow_disk B 2; produce a; fetch B; slow_disk B 0; advance 500; fetch C",
     lambda sim: (log(sim, 2), log(sim, 3)) == ("a@0", "a@0")),
    ("lose", "lose A B 25%", lambda sim: sim.network.links[1, 2].loss == 0.25),
]  # fmt: skip


def test_a_broker_is_forgotten_and_may_come_back() -> None:
    gone = "reassign B C; settle; shutdown A; unregister A"
    sim = after(gone)
    assert 1 not in sim.cluster.controller.brokers
    assert all(1 not in sim.brokers[b].peers for b in (2, 3))
    assert 1 in after(f"{gone}; restart A").cluster.controller.brokers


@pytest.mark.parametrize("profile", ["K39", "Z28"])
@pytest.mark.parametrize(
    ("lines", "so"), [(lines, so) for _, lines, so in PLAYED], ids=[lines for _, lines, _ in PLAYED]
)
def test_what_a_move_does(lines: str, so: object, profile: str) -> None:
    assert callable(so)
    assert so(after(lines, profile)), (lines, profile)


def test_every_verb_is_played_above() -> None:
    # unregister is KRaft's alone; two directories are in test_directories.py and test_dir_moves.py
    elsewhere = {"unregister", "move_dir", "copy"}
    assert {verb for verb, _, _ in PLAYED} | elsewhere == set(VERBS)

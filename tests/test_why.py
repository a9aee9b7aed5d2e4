"""Why not?  The guards agree with the rules, and what they suggest makes the thing happen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from copy import copy
from itertools import islice
from typing import Any

import pytest

from engine.controlplane import election, kraft
from engine.dataplane import insync, purgatory, watermark
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import NONE, InputError
from engine.model.languages import LANGUAGES
from engine.model.state import COMMITTED, LEADER, Replica
from engine.moves import moves
from engine.moves.move_errors import Refused
from engine.replay.cursor import Cursor
from engine.scenarios.file import find, library
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation
from engine.story import story
from engine.why.guards_control import chosen
from engine.why.suggesting import suggestions
from engine.why.why import why
from tests.conftest import THOROUGH, sample

HANDS = [
    pytest.param(scenario, id=scenario.code)
    for scenario in library().values()
    if scenario.fetching == "manual"
]
MOST_CURES = 12
NO_WAY_OUT = ("S50", "M65")
"""No suggestion replaces a disk; in M65 the one to let time pass leads nowhere."""
ENDLESS = ("K39-cache_cleaned_by_noop_truncate",)
"""KAFKA-10706: a follower that truncates for ever, which is what its scenario is about."""


def is_stuck(scenario: Scenario, profile: str) -> bool:
    """Check for a museum piece under a release with its bug, where nothing helps.

    No suggestion replaces a disk either, releases a held message, or registers a broker again.
    """
    if not scenario.code.startswith("M"):
        return False
    if any(word in scenario.script for word in ("disk_fail", "hold ", "unregister")):
        return True
    return profile == scenario.profiles[0] and not any(sign in profile for sign in "+-")


def at(run: Run, count: int) -> Simulation:
    """The cluster after a number of moves of a run."""
    sim = run.simulation()
    run_to_end(sim, run.lines()[:count])
    return sim


def moments(run: Run) -> Iterator[Simulation]:
    """The cluster before the first move and after each; a test that changes it copies it first."""
    sim, lines = run.simulation(), run.lines()
    yield sim
    for count in range(len(lines)):
        run_to_end(sim, lines[: count + 1], count)
        yield sim


def leaders(sim: Simulation) -> Iterator[tuple[Process, Replica]]:
    for tp in sim.cluster.controller.records:
        replica = sim.cluster.current_leader(tp)
        if replica is not None and sim.brokers[replica.broker].status == "up":
            yield sim.brokers[replica.broker].running, replica


def cues_of(act: Callable[[Effects], object], now: int) -> list[str]:
    out = Effects(cues=True)
    out.now = now
    act(out)
    return [cue[0] for cue in out.cues or ()]


# -- the guards say what the rules do --------------------------------------------------------------


@pytest.mark.parametrize("scenario", sample(HANDS, 18))
def test_guards_are_false_exactly_when_the_rule_does_not_fire(scenario: Scenario) -> None:
    looked: Counter[str] = Counter()
    for profile in scenario.profiles if THOROUGH else scenario.profiles[:1]:
        cursor = Cursor(Run(scenario, profile))
        while cursor.advance() is not None:
            look(cursor.sim, looked)
    assert looked["steps"] > 0 or not any(scenario.lines(name) for name in scenario.profiles)


def look(sim: Simulation, looked: Counter[str]) -> None:
    looked["steps"] += 1
    for broker, replica in leaders(sim):
        if replica.tp == 0:
            mark_agrees(sim, broker, replica)
            for member in replica.assignment:
                member_agrees(sim, broker, replica, member)
            for waiting in replica.waiting:
                answer = why(sim, f"ack {waiting.request.values[0]}")
                fate = purgatory.fate(broker, replica, waiting.required)
                assert answer["holds"] == (fate == NONE)
    leader_agrees(sim)


def mark_agrees(sim: Simulation, broker: Process, replica: Replica) -> None:
    answer = why(sim, "hw")
    before = replica.log.hw
    cues = cues_of(lambda out: watermark.maybe_increment_hw(broker, replica, out), sim.now)
    replica.log.hw = before
    assert answer["holds"] == ("H-2" in cues), answer
    frozen = [one for one in answer["guards"] if one["rule"] == "CP-MINISR" and not one["ok"]]
    others = [one for one in answer["guards"] if one["rule"] == "H-2" and not one["ok"]]
    assert bool(frozen and not others) == ("H-2.min_isr" in cues), answer


def member_agrees(sim: Simulation, broker: Process, replica: Replica, member: int) -> None:
    answer = why(sim, f"isr {sim.scenario.broker_name(member)}")
    if member == broker.id:
        assert not answer["holds"]
    elif member in sim.cluster.controller.records[0].isr and member in replica.isr:
        late = replica.pending == COMMITTED and member in insync.out_of_sync(replica, sim.now)
        assert answer["holds"] == (late and replica.tp not in broker.alter_queue)
    elif member in replica.remote:
        twin, sender = copy(replica), copy(broker)
        sender.alter_queue, sender.alter_corr = dict(broker.alter_queue), 1
        cues = cues_of(lambda out: insync.maybe_expand_isr(sender, twin, member, out), sim.now)
        asked = "S-7" in cues and replica.tp not in broker.alter_queue
        own = [one["ok"] for one in answer["guards"] if one["rule"] == "S-7"]
        flight = [one["ok"] for one in answer["guards"] if one["rule"] == "CP-ALTER"]
        busy = replica.pending != COMMITTED or replica.tp in broker.alter_queue
        assert asked == (all(own) and not busy), answer
        assert not busy or not all(flight), answer


def leader_agrees(sim: Simulation) -> None:
    k = sim.cluster.controller
    if 0 not in k.records or k.records[0].leader >= 0:
        return
    answer = why(sim, "leader")
    assert answer["holds"] == (k.alive and chosen(sim, 0) >= 0), answer
    if sim.profile.kraft:
        twin = copy(k)
        twin.records = dict(k.records)
        kind = election.UNCLEAN if k.unclean_for(0) else election.ONLINE
        changed, _ = kraft.change(twin, 0, Effects(), kind=kind)
        assert chosen(sim, 0) == changed.record.leader, answer


# -- what is suggested helps -----------------------------------------------------------------------


def tp_of_group(sim: Simulation, tp: int) -> bool:
    return tp >= len(sim.scenario.partitions) and bool(sim.scenario.groups)


def wishes(sim: Simulation) -> Iterator[tuple[str, Callable[[Simulation], bool]]]:
    """(subject, has it happened?) of what does not happen here."""
    record = sim.cluster.controller.records.get(0)
    if record is None:
        return
    leader = sim.cluster.current_leader(0)
    if leader is not None:
        mark = leader.log.hw

        def moved(later: Simulation) -> bool:
            now = later.cluster.current_leader(0)
            return now is not None and now.log.hw > mark

        yield "hw", moved
    for member in record.replicas:
        if member not in record.isr:

            def joined(later: Simulation, who: int = member) -> bool:
                return who in later.cluster.controller.records[0].isr

            yield f"isr {sim.scenario.broker_name(member)}", joined
    for broker in sim.brokers.values():
        for replica in broker.replicas.values():
            for waiting in replica.waiting:
                value = waiting.request.values[0]
                if value[0] in "getax" and tp_of_group(sim, replica.tp):
                    continue  # what a coordinator writes of a group is no client's record

                def answered(later: Simulation, what: str = value) -> bool:
                    return what in later.ledger.failed or any(
                        what in one.values for acked in later.ledger.acked for one in acked
                    )

                yield f"ack {value}", answered
    if record.leader < 0:
        yield "leader", lambda later: later.cluster.controller.records[0].leader >= 0


def suggested(sim: Simulation, subject: str) -> str:
    """The move that the answer offers; where nothing stands against it, what sets it going."""
    answer = why(sim, subject)
    for one in answer["guards"]:
        if not one["ok"] and one["cure"] and one["cure"]["move"]:
            return str(one["cure"]["move"])
    assert answer["holds"], (subject, answer["guards"])
    return f"produce x{sim.ledger.sent} acks=1" if subject == "hw" else "settle"


@pytest.mark.parametrize(
    "scenario", sample([one for one in HANDS if one.values[0].code not in NO_WAY_OUT], 3)
)
def test_following_the_suggestions_makes_it_happen(scenario: Scenario) -> None:
    for profile in scenario.profiles[:2]:
        if profile in ENDLESS or is_stuck(scenario, profile):
            continue
        run = Run(scenario, profile)
        for count, here in enumerate(moments(run)):
            for subject, happened in wishes(here) if count else ():
                sim, played = here.copy(), []
                while not happened(sim):
                    line = suggested(sim, subject)
                    played.append(line)
                    assert len(played) <= MOST_CURES, (profile, count, subject, played)
                    for _ in moves.play(sim, moves.parse(line, scenario.brokers)):
                        pass


@pytest.mark.parametrize("name", ["S01", "S16", "S24", "S42", "S45"])
def test_an_impossible_move_is_possible_after_what_it_suggests(name: str) -> None:
    scenario, helped = find(name), 0
    run = Run(scenario, scenario.profiles[0])
    for here in islice(moments(run), 1, None):
        for line in suggestions(here):
            sim = here.copy()
            answer = why(sim, f"move {line}")
            reason = moves.parse(line, scenario.brokers).verb.why_not(
                sim, moves.parse(line, scenario.brokers).args
            )
            assert answer["holds"] == (not reason)
            found = answer["guards"][-1]["cure"]
            offered = reason.cure if isinstance(reason, Refused) else ""
            if offered and found and offered == found["move"]:
                helped += 1
                for _ in moves.play(sim, moves.parse(found["move"], scenario.brokers)):
                    pass
                after = why(sim, f"move {line}")
                assert answer["guards"][-1]["say"] != after["guards"][-1]["say"], line
    assert helped > 0


# -- words -----------------------------------------------------------------------------------------


def test_every_answer_can_be_told_in_both_languages() -> None:
    told: set[str] = set()
    for parameter in HANDS:
        (scenario,) = parameter.values
        assert isinstance(scenario, Scenario)
        run = Run(scenario, scenario.profiles[0])
        names = {spec.id: spec.label for spec in scenario.brokers}
        for sim in moments(run):
            record = sim.cluster.controller.records.get(0)
            if record is None:
                continue
            labels = [sim.scenario.broker_name(b) for b in record.replicas]
            asked = [f"{kind} {b}" for kind in ("hw", "isr", "leader") for b in labels]
            for subject in ("hw", "leader", *asked):
                tell(why(sim, subject), names, told)
    assert len(told) > 60


def tell(answer: dict[str, Any], names: dict[int, str], told: set[str]) -> None:
    sentences = [answer["about"], answer["then"], *(one["say"] for one in answer["guards"])]
    sentences += [one["cure"]["say"] for one in answer["guards"] if one["cure"]]
    for sentence in sentences:
        told.add(sentence["key"])
        for language in LANGUAGES:
            assert "{" not in story.render(sentence, names, language)


@pytest.mark.parametrize(
    ("subject", "code", "said"),
    [
        ("", "invalid", "hw [B]"),
        ("weather", "invalid", "weather"),
        ("x" * 500, "invalid", "440"),
        ("isr", "unknown", "there are 1, 2, 3"),
        ("isr 9", "unknown", "9"),
        ("hw p=7", "unknown", "partition 7"),
        ("ack nothing", "unknown", "nothing"),
        ("move fly", "invalid", "fly"),
        ("move", "invalid", "empty"),
    ],
)
def test_unknown_subjects_are_refused(subject: str, code: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        why(at(Run(find("S01"), "K39"), 1), subject)
    assert caught.value.code == code and said in caught.value.sentence


# -- some answers, word by word --------------------------------------------------------------------


def words(sim: Simulation, subject: str) -> list[str]:
    names = {spec.id: spec.label for spec in sim.scenario.brokers}
    return [
        ("" if one["ok"] else "not: ") + story.render(one["say"], names)
        for one in why(sim, subject)["guards"]
    ]


def test_the_mark_waits_for_the_third_broker() -> None:
    run = Run(find("S01"), "K39", 0, ("produce a to 1 acks=all", "fetch 2 x2"))
    sim = at(run, 2)
    assert words(sim, "hw") == [
        "The log of broker 1 ends at 1, beyond its high watermark 0.",
        "Broker 2 counts and is known to reach 1.",
        "not: Broker 3 counts and is known only up to 0; 1 is needed."
        if sim.brokers[1].replicas[0].remote[3].leo == 0
        else "not: Broker 3 has not fetched from broker 1 since it leads.",
        "The ISR [1, 2, 3] has at least min.insync.replicas 1.",
    ]
    assert suggested(sim, "hw") == suggested(sim, "ack a") == "fetch 3 x2"


def test_a_dead_leader_stands_until_its_session_is_over() -> None:
    sim = at(Run(find("S01"), "K39", 0, ("kill 1",)), 1)
    assert "session may last another 9000 ms" in words(sim, "leader 2")[-1]
    assert suggested(sim, "leader 2") == "detect 1"
    assert words(sim, "hw 1") == ["not: Broker 1 does not run."]


def test_a_follower_that_acts_as_leader_has_not_heard() -> None:
    moved = ("hold md 1", "elect 2")
    sim = at(Run(find("S01"), "K39", 0, moved), 2)
    assert sim.brokers[1].replicas[0].role == LEADER
    assert "not: Broker 1 does not know epoch 1; it knows epoch 0." in words(sim, "leader 1")
    assert why(sim, "leader 1")["guards"][-1]["cure"]["move"] == "release md 1"

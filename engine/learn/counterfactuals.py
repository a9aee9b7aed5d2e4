"""Questions that other runs answer: under which Kafka, because of which move, by which moves."""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from engine.learn.question_context import Answer, Kind, Places, QuestionContext, as_number, as_parts
from engine.model.declared import declared
from engine.model.errors import InputError
from engine.model.profiles import GENERATIONS, PROFILES, Profile
from engine.moves import moves
from engine.properties.moment import Moment
from engine.properties.recording import MomentRecording
from engine.sim.run import Run, play_all, run_to_end, try_move
from engine.sim.simulation import Simulation

LOST: Final = 0
"""`who` of the question about lost records; other numbers are claims."""
MOST_MOVES: Final = 60
"""A run of more moves is not asked which of them it was."""
FEWEST_MOVES: Final = 4
MOST_EVENTS: Final = 4_000
CRASHES: Final = ("kill", "power")
DEPTH: Final = 3
MOST_TRIED: Final = 100
"""Attempts after which a task counts as too long to be asked."""
KEPT: Final = "never (some record m: lost(m))"


def summary(row: dict[str, bool]) -> tuple[str, str] | None:
    """Return ("since" | "until", profile) or ("always" | "never", "") for a row of verdicts.

    `row` tells for each profile, the oldest first, if it holds there. Returns None where the
    verdict changes more than once.
    """
    names, values = list(row), list(row.values())
    turns = [i for i in range(1, len(values)) if values[i] != values[i - 1]]
    if len(turns) > 1 or not values:
        return None
    if not turns:
        return ("always" if values[0] else "never"), ""
    return ("since", names[turns[0]]) if values[-1] else ("until", names[turns[0] - 1])


# -- under which Kafka ----------------------------------------------------------------------------


def number_of(slug: str) -> int:
    """Return the number that names a claim in a question's text.

    The number of a claim does not change when claims are added.
    """
    return int(sha256(slug.encode()).hexdigest()[:8], 16) % 900_000 + 1


@lru_cache(maxsize=16)
def _claims_of(recording: MomentRecording) -> tuple[tuple[int, str, int], ...]:
    """Return (number, slug, deciding step) of the claims that this run decides.

    These are the claims that this run alone decides under every Kafka.
    """
    from engine.learn.claims import claims  # they are judged by what is asked here
    from engine.learn.judging import OWN, UNTESTED, verdicts

    run = recording.run
    choices = []
    for slug, claim in claims().items():
        own = claim.moves is None and not claim.first
        if own and run.moves is None and run.seed == 0 and claim.scenario == run.scenario.code:
            row = verdicts()[slug]
            decides = all(
                verdict.source == OWN and verdict.word != UNTESTED for verdict in row.values()
            )
            if run.profile in row and decides:
                choices.append((number_of(claim.formerly), slug, row[run.profile].step))
    return tuple(choices)


def _since_asked(recording: MomentRecording, index: int) -> Places:
    turn = recording.turns[index]
    if _first_loss(recording) == index:
        yield 0, LOST
    for number, _, step in _claims_of(recording):
        if turn.first <= step <= turn.last:
            yield 0, number


def _since_told(recording: MomentRecording, index: int, tp: int, who: int) -> str:
    """Return the name of the claim; "" for the question about lost records."""
    return next((slug for number, slug, _ in _claims_of(recording) if number == who), "")


@lru_cache(maxsize=2_000)
def _keeps(run: Run, profile: str) -> bool | None:
    """Return True if these moves keep each confirmed record; None if this Kafka lacks one."""
    try:
        return not play_all(Run(run.scenario, profile, run.seed, run.moves)).ledger.lost
    except InputError:
        return None


def _keeps_records(run: Run) -> dict[str, bool]:
    """Return for every generation that has these moves if it keeps all confirmed records."""
    found = {name: _keeps(run, name) for name in GENERATIONS}
    return {name: kept for name, kept in found.items() if kept is not None}


def row_of(recording: MomentRecording, slug: str) -> dict[str, bool]:
    """Return profile -> if it holds there; plays the run under all, or reads the verdicts."""
    if not slug:
        return _keeps_records(recording.run)
    from engine.learn.judging import verdicts

    return {name: verdict.holds for name, verdict in verdicts()[slug].items()}


def members(generation: str) -> tuple[Profile, ...]:
    """Return the Kafkas of a generation, the oldest first; its name is that of the last one."""
    return tuple(one for one in PROFILES.values() if one.generation == generation)


def _turns_at(run: Run, row: dict[str, bool], answer: tuple[str, str]) -> bool:
    """Return True if the verdict changes with the oldest release of a generation, not within it.

    It does if the oldest release of that generation agrees with the newest. The releases between
    agree with both in all of the library.
    """
    names = list(row)
    place = names.index(answer[1]) + (answer[0] == "until")
    outcomes = (_keeps(run, member.name) for member in members(names[place]))
    return next(outcome for outcome in outcomes if outcome is not None) == row[names[place]]


def _since_truth(
    context: QuestionContext, recording: MomentRecording, index: int
) -> tuple[Answer, int] | None:
    row = row_of(recording, context.told)
    summed = summary(row)
    if summed == ("always", "") and not context.told:
        return None  # this run lost a record, in a release between two generations
    if summed and summed[1] and not context.told and not _turns_at(recording.run, row, summed):
        return None
    return None if summed is None else (summed, recording.turns[index].last)


# -- because of which move ------------------------------------------------------------------------


def _first_loss(recording: MomentRecording) -> int:
    """Return the index of the turn in which a confirmed record is lost for good, 0 if none is."""
    lost = recording.known.lost
    return recording.at(min(lost.values())) if lost else 0


def _victim(recording: MomentRecording) -> str:
    lost = recording.known.lost
    return min(lost, key=lambda value: (lost[value], value))


def _cause_asked(recording: MomentRecording, index: int) -> Places:
    if index != _first_loss(recording):
        return
    if FEWEST_MOVES <= len(recording.run.lines()) <= MOST_MOVES:
        yield 0, 0


def _cause_told(recording: MomentRecording, index: int, tp: int, who: int) -> Any:
    """Return (the lost record, ((number of a move from 1, its text), ...)) up to the loss.

    The moves that write the record are left out.
    """
    value, last = _victim(recording), recording.turns[index].move
    lines = enumerate(recording.run.lines()[: last + 1], 1)
    return value, tuple((n, line) for n, line in lines if not _writes(line, value))


def _writes(line: str, value: str) -> bool:
    words = line.split()
    return words[0] == "produce" and value in words


@lru_cache(maxsize=2_000)
def saves(run: Run, number: int, value: str) -> bool:
    """Return True if the record is there at the end when this move is left out.

    Moves that cannot be made without it are left out as well.
    """
    sim = run.simulation()
    sim.rush = True
    for place, line in enumerate(run.lines(), 1):
        if place != number:
            try_move(sim, line)
    if value in sim.ledger.lost:
        return False
    logs = (disk.log for broker in sim.brokers.values() for disk in broker.machine.disks.values())
    return any(value in batch.values for log in logs for batch in log.batches)


def _cause_truth(
    context: QuestionContext, recording: MomentRecording, index: int
) -> tuple[Answer, int] | None:
    """Return the last move without which the record would still be there.

    A crash is the cause only if no other move is: brokers crash, and what made that fatal is asked.
    """
    value, lines = context.told
    crashes = []
    for number, line in reversed(lines):
        if saves(recording.run, number, value):
            if line.split()[0] not in CRASHES:
                return number, recording.turns[index].last
            crashes.append(number)
    return (crashes[0], recording.turns[index].last) if crashes else None


def _cause_holds(
    context: QuestionContext, recording: MomentRecording, index: int, answer: Answer
) -> bool:
    return saves(recording.run, as_number(answer), context.told[0])


# -- make it happen -------------------------------------------------------------------------------


@declared
class Goal:
    """Goal in partition 0: `sort` (commit, lead or join), of whom, and the property."""

    sort: str
    who: int
    value: str
    property: str

    def reached(self, sim: Simulation) -> bool:
        record = sim.cluster.controller.records[0]
        if self.sort == "lead":
            return record.leader == self.who
        if self.sort == "join":
            return self.who in record.isr
        return any(self.value in b.values for b in sim.ledger.committed[0].values())


def _do_asked(recording: MomentRecording, index: int) -> Places:
    goal = _tasks(recording).get(index)
    if goal is not None:
        yield 0, goal.who


@lru_cache(maxsize=16)
def _tasks(recording: MomentRecording) -> dict[int, Goal]:
    """Turn before which something can be done -> what: the first task of each sort."""
    goals: dict[int, Goal] = {}
    turns, scenario = recording.turns, recording.run.scenario
    if scenario.fetching == "auto" or len(scenario.partitions) != 1:
        return goals
    for index in range(1, len(turns)):
        before = turns[index - 1]
        if turns[index].move != before.move and before.last <= MOST_EVENTS:
            goal = _goal(recording, before.now)
            if goal is not None and goal.sort not in {other.sort for other in goals.values()}:
                goals[index] = goal
    return goals


def _goal(recording: MomentRecording, now: Moment) -> Goal | None:
    """Return the task that this moment sets.

    The task is to bring a broker back into the ISR, to commit a record, or to change the leader; of
    the partition with which the run begins: one that is created later has no task.
    """
    part = now.parts.get(0)
    leader = None if part is None else part.leader()
    if part is None or leader is None or leader.broker not in now.alive:
        return None
    names = {broker.id: broker.label for broker in recording.run.scenario.brokers}
    alive = [
        replica for replica in part.replicas if replica in now.alive and replica != leader.broker
    ]
    out = [replica for replica in alive if replica not in part.record.isr]
    if out:
        return Goal("join", out[0], "", f"{names[out[0]]} in isr")
    committed = now.known.committed
    waits = [v for v in leader.values() if committed.get(v, now.step + 1) > now.step]
    if waits and any(replica in part.record.isr for replica in alive):
        return Goal("commit", leader.broker, waits[-1], f"committed({waits[-1]})")
    able = [replica for replica in alive if replica in part.record.isr]
    if not able:
        return None
    return Goal("lead", able[-1], "", f"leader = {names[able[-1]]}")


def _do_told(
    recording: MomentRecording, index: int, tp: int, who: int
) -> tuple[str, str, str, Any]:
    """Return (sort, record, property, names): the goal; names are ((broker, name), ...)."""
    goal = _goal(recording, recording.turns[index - 1].now)
    assert goal is not None
    names = tuple((broker.id, broker.label) for broker in recording.run.scenario.brokers)
    return goal.sort, goal.value, goal.property, names


def begun(recording: MomentRecording, index: int) -> tuple[str, ...]:
    """Return the moves that have been made before this turn."""
    return recording.run.lines()[: recording.turns[index - 1].move + 1]


@lru_cache(maxsize=16)
def _stage(run: Run) -> Simulation:
    sim = run.simulation()
    sim.rush = True
    run_to_end(sim, run.lines())
    return sim


def _open(recording: MomentRecording, index: int) -> Simulation:
    """Return the stage on which the task is to be done."""
    run = recording.run
    return _stage(Run(run.scenario, run.profile, run.seed, begun(recording, index)))


def reaches(recording: MomentRecording, index: int, lines: tuple[str, ...]) -> bool:
    """Return True if these moves reach the goal.

    Raises InputError for a move that is malformed or impossible.
    """
    goal = _goal(recording, recording.turns[index - 1].now)
    assert goal is not None
    sim = _open(recording, index).copy()
    run_to_end(sim, lines)
    return goal.reached(sim)


def _do_truth(
    context: QuestionContext, recording: MomentRecording, index: int
) -> tuple[Answer, int] | None:
    """Return the shortest moves that do the task, found by trying all moves that belong to it."""
    goal = _goal(recording, recording.turns[index - 1].now)
    assert goal is not None
    shortest = _shortest(_open(recording, index), goal, _offered(context, goal))
    return None if shortest is None else (shortest, recording.turns[index - 1].last)


def _offered(context: QuestionContext, goal: Goal) -> tuple[str, ...]:
    names = dict(context.told[3])
    record = context.part.record
    if goal.sort == "join":
        own = names[goal.who]
        return (f"fetch {own}", f"ask {own}", "advance 1s", f"restart {own}")
    if goal.sort == "commit":
        others = [names[replica] for replica in record.isr if replica != record.leader]
        return tuple(f"{verb} {other}" for other in others for verb in ("fetch", "ask"))
    leader = names[record.leader]
    return (f"shutdown {leader}", f"kill {leader}", f"detect {leader}", "elect preferred")


def _shortest(stage: Simulation, goal: Goal, verbs: tuple[str, ...]) -> tuple[str, ...] | None:
    parsed = [(line, moves.parse(line, stage.scenario.brokers)) for line in verbs]
    waiting: deque[tuple[Simulation, tuple[str, ...]]] = deque([(stage, ())])
    tried = 0
    while waiting and tried < MOST_TRIED:
        sim, done = waiting.popleft()
        for verb in parsed:
            line, move = verb
            # A stage is not used again once its last move is tried; the first belongs to others.
            twin = sim if done and verb is parsed[-1] else sim.copy()
            tried += 1
            if _played(twin, move):
                if goal.reached(twin):
                    return (*done, line)
                if len(done) + 1 < DEPTH:
                    waiting.append((twin, (*done, line)))
    return None


def _played(sim: Simulation, move: moves.Move) -> bool:
    try:
        for _ in moves.play(sim, move):
            pass
    except InputError:
        return False
    return True


def _do_holds(
    context: QuestionContext, recording: MomentRecording, index: int, answer: Answer
) -> bool:
    """Return True if moves reach the goal or cannot be played: then they are no wrong answer."""
    try:
        return reaches(recording, index, as_parts(answer))
    except InputError:
        return True


KINDS: Final = (
    Kind("since", "kafka", 3, _since_asked, _since_truth, _since_told),
    Kind("cause", "move", 3, _cause_asked, _cause_truth, _cause_told, _cause_holds),
    Kind("do", "moves", 2, _do_asked, _do_truth, _do_told, _do_holds),
)

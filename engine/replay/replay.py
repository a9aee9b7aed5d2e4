"""Time travel over one run: any step, forwards and back, by playing it again."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from typing import Any, Final, NamedTuple

from engine import ENGINE_VERSION
from engine.export.dashboard import dashboard
from engine.model.effects import Cue
from engine.model.errors import InputError
from engine.model.json_types import Json
from engine.model.messages import ProduceRequest
from engine.moves import moves
from engine.replay import memory_estimate
from engine.replay.chapters import chapters
from engine.replay.checkpoints import EVENTS_BETWEEN, Checkpoint, Checkpoints
from engine.replay.chronicle import Chronicle
from engine.replay.cursor import Cursor, Happened, played
from engine.replay.view_cache import ViewCache
from engine.scenarios.expectations import is_kept
from engine.scenarios.scenario import Scenario
from engine.sim.kernel import DELIVERY
from engine.sim.run import Run
from engine.sim.simulation import Simulation
from engine.story import fetcher_sentences, story
from engine.story.beats import beats
from engine.story.entities import Happening, Leaders, leaders
from engine.story.verdict import Outcome
from engine.view import text
from engine.view.stage_overlays import Cut, cut_by, dress, initial, letters
from engine.view.view import node_name, view
from engine.view.wire import StepJson, View, Why
from engine.why.suggesting import PossibleMove, possible
from engine.why.why import why

CACHED_STEPS: Final = 600
CACHED_BYTES: Final = 64 * 1024 * 1024
STEP_BYTES: Final = 4_000
"""Bytes of a step beside its view."""


class CachedStep(NamedTuple):
    """A step, its size as JSON, and what it takes of memory."""

    step: StepJson
    size: int
    weight: int


class KeptSteps:
    """Steps by number, the first made forgotten first; `weight` is about what all take."""

    def __init__(self) -> None:
        self._of: OrderedDict[int, CachedStep] = OrderedDict()
        self.weight = 0

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, number: int) -> bool:
        return number in self._of

    def __getitem__(self, number: int) -> CachedStep:
        return self._of[number]

    def put(self, step: StepJson, size: int, last: bool = True) -> None:
        """Keep a step; `size`: of its view as JSON, borne by the last of those that share one."""
        weight = STEP_BYTES + (memory_estimate.OF_A_VIEW * size if last else 0)
        replaced = self._of.pop(step["n"], None)
        self.weight += weight - (replaced.weight if replaced else 0)
        self._of[step["n"]] = CachedStep(step, STEP_BYTES + size, weight)

    def make_room(self) -> None:
        """Evict steps before more are put; those of one turn of the kernel stay together."""
        while self._of and (len(self._of) > CACHED_STEPS or self.weight > CACHED_BYTES):
            self.weight -= self._of.popitem(last=False)[1].weight


STEPS_MOST: Final = 100_000
"""Most steps of a run that are shown: 4 s and 25 MB, measured; the library's longest has 2,191."""
ANSWER_BYTES: Final = 2 * 1024 * 1024
"""Most bytes of the JSON of one answer with steps."""
PAUSE: Final = 8
"""Events before a step from which on they are heard: more than nearly every turn of the kernel has,
so that a seek plays what comes before without cues."""
MOST_STEPS_AT_ONCE: Final = 64
MOST_MARKS: Final = 2_000
MOST_TICKS: Final = 400

Turn = Callable[[], AbstractContextManager[object]]
"""Held while a part of a long run is played again."""


def _nothing() -> None:
    """Do nothing: a replay built outside the web has no time limit."""


def _never() -> bool:
    """Return False: a replay plays its run to the end."""
    return False


class Replay:
    """Replay of one run.  Step 0 is the initial state; step n is the state after event n.

    It is a cache and nothing else: whatever it answers follows from the run's text.  Not safe for
    threads.  Of a run with more than `most` steps it shows these: `whole` says whether that is all.
    `check` is called between events while the run is played for the first time, and ends it by
    raising.  Once `enough` returns True the rest is not played: such a replay is `unfinished`, and
    shows the steps so far.  `written` gets the text of the golden files, part by part.  Raises
    InputError when a move of the run cannot be played.
    """

    def __init__(
        self,
        run: Run,
        most: int = STEPS_MOST,
        turn: Turn = nullcontext,
        check: Callable[[], None] = _nothing,
        enough: Callable[[], bool] = _never,
        written: Callable[[bytes], object] = len,
    ) -> None:
        self.run = run
        self.lines = run.lines()
        self.total = 0
        self.whole = True
        self.unfinished = False
        self.outcome = ""
        self.turn = turn
        self._most = most
        self._check = check
        self._move_of = array("l", [-1])  # step -> index of the move it belongs to
        self._moments = bytearray(1)
        self._weighty: list[int] = []  # steps
        self._highest: dict[int, int] = {}  # partition -> the highest end of any of its logs
        self._times = array("q", [0])
        self._marks: list[tuple[int, str]] = []
        self._outcome = Outcome()
        self._first = -1  # the partition of the first produce
        self._cuts: list[Cut] = []
        self._chronicle = Chronicle()
        self._checkpoints = Checkpoints()
        self._forget()
        self._play_through(enough, written)

    def _forget(self) -> None:
        """Drop what was found so far and can be found again."""
        self._cache = KeptSteps()
        self._cursor: Cursor | None = None
        self._recall = ViewCache()
        self._there: tuple[int, Simulation] | None = None

    def __getstate__(self) -> dict[str, object]:
        """Return the state for another process, without caches and locks."""
        self._checkpoints.finish(self.end)
        left_out = ("turn", "_check", "_cache", "_cursor", "_recall", "_there", "_end")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._end: Simulation | None = None
        self.turn, self._check = nullcontext, _nothing
        self._forget()

    def _play_through(self, enough: Callable[[], bool], written: Callable[[bytes], object]) -> None:
        """Play the run once for its length, its moments and its end."""
        course = sha256()

        def write(lines: list[str]) -> None:
            text = ("\n".join(lines) + "\n").encode()
            course.update(text)
            written(text)

        headed, cells = -1, text.CellCache()  # `headed`: the last move with its heading

        def heading(number: int) -> None:
            nonlocal headed
            if number > headed:
                headed = number
                write([self.lines[number], "----"])

        def ended(number: int) -> None:
            heading(number)  # of a move that brought no event
            write([*text.state_lines(cursor.sim, cells), ""])
            self._checkpoints.keep(cursor, number)

        cursor = Cursor(self.run, ended)
        end, broken = cursor.sim, 0
        while (events := cursor.advance()) is not None:
            self._check()
            if self.total >= self._most:
                self.whole = False
                break
            heading(cursor.move)
            self._checkpoints.keep(cursor)
            for kind, node, what, cues, _ in events:
                self.total += 1
                self._move_of.append(cursor.move)
                write(text.event_lines(kind, node, what, cues))
                now_broken = len(cursor.sim.broken)
                self._times.append(cursor.sim.now)
                self._note(kind, what, cues, now_broken > broken)
                self._outcome.note(self.total, cursor.sim, cues)
                self._chronicle.note(self.total, what, cues, cursor.sim)
                broken = now_broken
            if enough():
                self.whole, self.unfinished = False, True
                break
            if self.total >= self._most:
                end = cursor.sim.copy()  # whether anything follows, only playing on shows
        end = cursor.sim if self.whole or self.unfinished else end
        end.ledger.close(end.now)
        told_until = "" if self.whole else f" up to step {self.total}"
        write([f"verdict{told_until}", "----", *text.verdict_lines(end)])
        shown = view(end)
        bare = json.dumps(shown, sort_keys=True, separators=(",", ":"))
        course.update(bare.encode())
        self.outcome = course.hexdigest()[:16]
        self._end = end
        self._verdict = self._judged(end)
        self._final = dress(end, shown, self._ghosts(self.total, self.total), cuts=self._cuts)
        # There may be three of about this size: the end, the cursor's, that of a branch.
        self._end_weighs = 3 * memory_estimate.of_simulation(end)

    def _note(self, kind: int, what: Any, cues: list[Cue], broken: bool) -> None:
        weight = story.moment(kind, what, cues, broken)
        self._moments.append(weight)
        if weight >= story.WEIGHTY:
            self._weighty.append(self.total)
        self._cuts += [(self.total, node, tp, records) for node, tp, records in cut_by(cues)]
        for cue in cues:
            if cue.field == "leo":
                self._highest[cue.tp] = max(cue.new, self._highest.get(cue.tp, 0))
        if self._first < 0 and isinstance(what, ProduceRequest):
            self._first = what.tp
        kinds = [mark for cue in cues if (mark := story.mark(cue))]
        if broken:
            kinds.append("violation")
        for mark in dict.fromkeys(kinds) if len(self._marks) < MOST_MARKS else ():
            self._marks.append((self.total, mark))

    @property
    def weight(self) -> int:
        """About how many bytes of memory it takes now (`engine.replay.memory_estimate`)."""
        steps = memory_estimate.OF_A_STEP * self.total
        return steps + self._end_weighs + self._checkpoints.weight + self._cache.weight

    # -- what it answers -------------------------------------------------------------------------

    def golden(self) -> str:
        """Return the whole run in the notation of the golden files; it is played again for it."""
        text = bytearray()
        Replay(self.run, self._most, written=text.extend)
        return text.decode()

    def final_view(self) -> View:
        return self._final

    @property
    def end(self) -> Simulation:
        """The simulation as the run leaves it, for looking at."""
        if self._end is None:
            assert self._checkpoints.end is not None
            self._end = self._checkpoints.end.world()
        return self._end

    def verdict(self) -> Json:
        """Return {holds, expected, broken: [{invariant, step, why}], counts} and `Outcome.at_end`.

        `expected` compares with what the scenario promises for this profile; None where it
        promises nothing, as for moves of one's own, and where not the whole run is looked at.
        """
        return self._verdict

    def _judged(self, sim: Simulation) -> Json:
        broken = [{"invariant": name, "step": step, "why": why} for name, step, why in sim.broken]
        promise = None
        if self.run.moves is None and self.whole:
            promise = self.run.scenario.expectation(self.run.profile)
        expected: bool | None = None
        if promise is not None and promise["verdict"] != "statistical":
            expected = is_kept(promise["verdict"], {name for name, _, _ in sim.broken})
        counts = {
            name: count
            for name, count in sorted(sim.checker.counts.items())
            if name not in {entry["invariant"] for entry in broken}
        }
        verdict = {"holds": not broken, "expected": expected, "broken": broken, "counts": counts}
        return verdict | self._outcome.at_end(self.total, sim)

    def facts(self, translated: Scenario | None = None) -> Json:
        """Return the facts that the page needs of the run before it fetches steps.

        `translated` is the run's scenario with its texts in another language.
        """
        scenario = translated or self.run.scenario
        parts = chapters(self.run, self._move_of, translated)
        chapter_rows = [
            [chapter.first, self.lines[chapter.move], chapter.comment] for chapter in parts
        ]
        return {
            "digest": self.run.digest,
            "scenario": {
                "slug": scenario.slug,
                "code": scenario.code,
                "title": scenario.title,
                "origin": scenario.origin,
                "teaches": scenario.teaches,
                "digest": self.run.scenario.digest,
                "brokers": [
                    {"id": b.id, "name": b.label, "rack": b.rack} for b in scenario.brokers
                ],
                "profiles": list(scenario.profiles),
                "canvas": not scenario.script,
                "live": not scenario.script and bool(scenario.workload.producers),
            },
            "profile": self.run.profile,
            "seed": self.run.seed,
            "total": self.total,
            "whole": self.whole,
            "unfinished": self.unfinished,
            "moves": list(self.lines),
            "script": self.run.moves is None,
            "marks": [[step, kind] for step, kind in self._marks[:MOST_MARKS]],
            "moments": list(self._weighty),
            "chapters": chapter_rows,
            "beats": beats(
                self.total,
                chapter_rows,
                [chapter.captions for chapter in parts],
                self._marks,
                self._weighty,
                self._outcome.lost_at,
            ),
            "clock": self._clock(),
            "partition": max(0, self._first),
            "highest": {str(tp): end for tp, end in sorted(self._highest.items())},
            "verdict": self.verdict(),
            "outcome": self.outcome,
            "engine": ENGINE_VERSION,
        }

    def _clock(self) -> list[list[int]]:
        """Return [step, its time in ms], thinned where a run is long, to space a rail by time."""
        every = -(-max(self.total, 1) // MOST_TICKS)
        steps = sorted({*range(0, self.total, every), self.total})
        return [[step, self._times[step]] for step in steps]

    def begun(self) -> list[tuple[int, int]]:
        """Return (first step, number) of every move that did anything."""
        return [(one.first, one.move) for one in chapters(self.run, self._move_of)]

    # -- steps -----------------------------------------------------------------------------------

    def steps(self, first: int, count: int) -> list[StepJson]:
        """Return steps from `first` on as JSON: 1 to `count`, at most 64 and `ANSWER_BYTES`."""
        first = max(0, min(first, self.total))
        last = min(first + min(count, MOST_STEPS_AT_ONCE), self.total + 1)
        steps: list[StepJson] = []
        size = 0
        for number in range(first, last):
            if number not in self._cache:
                self._build(number, number + 1)
            cached = self._cache[number]
            size += cached.size
            if steps and size > ANSWER_BYTES:
                break
            steps.append(cached.step)
        return steps

    def around(self, first: int, step: int, count: int) -> list[StepJson]:
        """Return steps from `first` on; if these are large and end before `step`, from there."""
        found = self.steps(first, count)
        return found if found[-1]["n"] >= min(step, self.total) else self.steps(step, count)

    def each(self, first: int, last: int) -> Iterator[StepJson]:
        """Yield steps [first, last), however many these are, one after the other."""
        for number in range(max(0, first), min(last, self.total + 1)):
            yield self.steps(number, 1)[0]

    def _build(self, first: int, last: int) -> None:
        """Play until `last`, keeping the steps from `first` on."""
        cursor = self._cursor
        start = self._checkpoints.nearest(first)
        at = 0 if start is None else start.events
        if cursor is not None and not at <= cursor.sim.events < max(first, 1):
            cursor = None
        with self._turn_to_play(first - (at if cursor is None else cursor.sim.events)):
            if cursor is None:
                cursor = self._begin(start)
            if first == 0:
                first_of_all = initial(cursor.sim)
                self._cache.put(first_of_all, memory_estimate.size_of(first_of_all))
            cursor.skip(first - PAUSE)
            if cursor.sim.events >= max(first, 1):
                cursor = self._begin(start)
            while cursor.sim.events < last - 1:
                before = cursor.sim.events
                broken = len(cursor.sim.broken)
                asking = fetcher_sentences.asking(cursor.sim)
                led = leaders(cursor.sim)
                events = cursor.advance()
                if events is None:
                    break
                if cursor.sim.events >= first:
                    self._keep_events(cursor, before, broken, events, asking, led)

    def _begin(self, start: Checkpoint | None) -> Cursor:
        """Return a new cursor at a checkpoint, or at the beginning of the run."""
        self._cursor = Cursor(self.run, start=start)
        self._recall.forget_pairs()
        return self._cursor

    def _turn_to_play(self, steps: int) -> AbstractContextManager[object]:
        """Return at once if the steps are near; for more, wait for a turn."""
        return self.turn() if steps > EVENTS_BETWEEN else nullcontext()

    def _keep_events(
        self,
        cursor: Cursor,
        before: int,
        broken: int,
        events: list[Happened],
        asking: fetcher_sentences.Known,
        led: Leaders,
    ) -> None:
        """Keep events; those of one turn of the kernel share the view after the last."""
        sim = cursor.sim
        cut = {
            (node, tp): records for _, _, _, cues, _ in events for node, tp, records in cut_by(cues)
        }
        ghosts = self._ghosts(before, before + len(events))
        cuts = [entry for entry in self._cuts if entry[0] <= before + len(events)]
        shown = dress(sim, view(sim, cut, self._recall), ghosts, self._recall, cuts)
        size = memory_estimate.size_of(shown)
        self._cache.make_room()
        new = sim.broken[broken:]
        asks = fetcher_sentences.asking(sim)
        for number, (kind, node, what, cues, sends) in enumerate(events, before + 1):
            said, why = story.tell(Happening(kind, node, what, cues, sends, sim, led))
            self._cache.put(
                {
                    "n": number,
                    "t": sim.now,
                    "move": self.lines[cursor.move],
                    "line": cursor.move,
                    "moment": self._moments[number],
                    "at": node_name(node),
                    "arrived": what.id if kind == DELIVERY else None,
                    "cues": [text.cue_json(cue) for cue in cues],
                    "say": said,
                    "why": why,
                    "broken": [
                        {"inv": name, "why": reason} for name, step, reason in new if step == number
                    ],
                    **fetcher_sentences.at_work(node, what, sends, asking, asks),
                    "verdict": self._outcome.at(number, sim, number == self.total and self.whole),
                    "view": shown,
                },
                size,
                last=number == before + len(events),
            )

    def _ghosts(self, step: int, last: int) -> list[Cut]:
        """Return what was truncated since the last moment, before this turn of the kernel ends."""
        at = bisect_right(self._weighty, last)
        since = self._weighty[at - 1] if at else 0
        first = bisect_left(self._cuts, since, key=lambda entry: entry[0])
        return [cut for cut in self._cuts[first:] if cut[0] <= step]

    # -- branches --------------------------------------------------------------------------------

    def cut(self, step: int) -> tuple[str, ...]:
        """Return the moves that lead to `step`; a move that is under way there is cut short."""
        if step >= self.total and self.whole:
            return self.lines  # with the moves at the end that brought no event, but took time
        if step <= 0:
            return ()
        step = min(step, self.total)
        move = self._move_of[step]
        done = self.lines[:move]
        if step < self.total and self._move_of[step + 1] != move:
            return (*done, self.lines[move])
        first = self._move_of.index(move)
        line = self.lines[move].split(" !")[0]
        return (*done, f"{line} !{step - first + 1}")

    def branch(self, step: int, text: str) -> Run:
        """Return the run up to `step` and then the moves of `text` (`moves.split`).

        Raises InputError where one cannot be read or the first cannot be played at `step`; a later
        one that cannot be played raises it when the run is replayed.
        """
        run = self.run
        if step >= self._most:
            raise InputError(
                "too_large",
                "Only the first {0} steps of a run are shown: make the move at an earlier step, "
                "or run it at scale.",
                self._most,
            )
        first, *more = moves.split(text) or ("",)
        lines = (self._named(step, first), *more)
        parsed = [moves.parse(line, run.scenario.brokers) for line in lines]
        if reason := moves.why_not(self._at(step), parsed[0]):
            raise InputError("impossible", reason)
        played = moves.joined((*self.cut(step), *(move.text for move in parsed)))
        return Run(run.scenario, run.profile, run.seed, played)

    def _named(self, step: int, line: str) -> str:
        """Return a move with `leader` as a broker replaced by the name of the leader at `step`."""
        verb, *words = line.split()[:2] or [""]
        labels = {broker.label for broker in self.run.scenario.brokers}
        if words != ["leader"] or "leader" in labels:
            return line
        record = self._at(step).cluster.controller.records.get(max(self._first, 0))
        if record is None or record.leader < 0:
            return line
        name = self.run.scenario.broker_name(record.leader)
        return " ".join([verb, name, *line.split()[2:]])

    def _at(self, step: int) -> Simulation:
        """Return the simulation as a branch at this step begins, cached, for reading only."""
        step = max(0, min(step, self.total))
        if self._there is None or self._there[0] != step:
            lines = self.cut(step)
            # One that lies beyond a move without events, which this step does not wait for, is
            # too late.
            start = self._checkpoints.nearest(step + 1)
            if start is not None and start.move >= len(lines):
                start = self._checkpoints.nearest(start.events)
            with self._turn_to_play(step - (0 if start is None else start.events)):
                self._there = (step, played(self.run, lines, step, start))
        return self._there[1]

    def letters(self, step: int) -> dict[str, Json]:
        """Return every field of the messages under way at a step, by their id."""
        return letters(self._at(step))

    def dashboard(self, step: int) -> Json:
        """Return an operator's dashboard at this step, beside the truth."""
        return dashboard(self._at(step), self._chronicle, max(0, min(step, self.total)))

    def possible(self, step: int) -> list[PossibleMove]:
        """Return the moves that can be made at this step, and the others with the reason."""
        return possible(self._at(step))

    def why(self, step: int, subject: str) -> Why:
        """Return the guards of what does not happen here.  Raises InputError for no subject."""
        return why(self._at(step), subject)

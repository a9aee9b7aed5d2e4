"""Time travel over one run: any step, forwards and back, by playing it again."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from engine import ENGINE_VERSION
from engine.model.effects import Cue
from engine.model.errors import BadInput
from engine.model.log import Batch
from engine.scenarios.expectations import is_kept
from engine.scenarios.scenario import Scenario
from engine.show import story, text
from engine.show.chronicle import Chronicle
from engine.show.cursor import Checkpoint, Cursor, Happened
from engine.show.dashboard import dashboard
from engine.show.entities import Happening, say
from engine.show.staging import Cut, dress, letters
from engine.show.suggesting import suggestions
from engine.show.view import Json, node_name, view
from engine.show.why import why
from engine.sim import moves
from engine.sim.kernel import DELIVERY
from engine.sim.run import Run, play
from engine.sim.simulation import Simulation

CACHED_STEPS: Final = 600
EVENTS_BETWEEN: Final = 256
MOST_CHECKPOINTS: Final = 24
MOST_STEPS_AT_ONCE: Final = 64
MOST_MARKS: Final = 2_000
MOST_TICKS: Final = 400


class Replay:
    """One run, looked at.  Step 0 is the initial state; step n is the state after event n.

    It is a cache and nothing else: whatever it answers follows from the run's text.  Not safe for
    threads.  Raises BadInput when a move of the run cannot be played.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.lines = run.lines()
        self.total = 0
        self.outcome = ""
        self._move_of: list[int] = [-1]  # step -> index of the move it belongs to
        self._moments: list[int] = [0]
        self._times: list[int] = [0]
        self._marks: list[tuple[int, str]] = []
        self._cuts: list[Cut] = []
        self._golden: list[str] = []
        self._chronicle = Chronicle()
        self._cache: OrderedDict[int, Json] = OrderedDict()
        self._cursor: Cursor | None = None
        self._checkpoints: list[Checkpoint] = []
        self._there: tuple[tuple[str, ...], Simulation] | None = None
        self._play_through()

    # -- the first pass --------------------------------------------------------------------------

    def _play_through(self) -> None:
        """Learns how long the run is, where its moments are and how it ends."""
        told = -1  # the last move whose heading stands in the golden text

        def heading(number: int) -> None:
            nonlocal told
            if number > told:
                told = number
                self._golden += [self.lines[number], "----"]

        def ended(number: int) -> None:
            heading(number)  # of a move that brought no event
            self._golden += [*text.state_lines(cursor.sim), ""]

        cursor = Cursor(self.run, ended)
        broken = 0
        while (events := cursor.advance()) is not None:
            heading(cursor.move)
            self._maybe_checkpoint(cursor)
            for kind, node, what, cues, _ in events:
                self.total += 1
                self._move_of.append(cursor.move)
                self._golden += text.event_lines(kind, node, what, cues)
                now_broken = len(cursor.sim.broken)
                self._times.append(cursor.sim.now)
                self._note(kind, what, cues, now_broken > broken)
                self._chronicle.note(self.total, what, cues, cursor.sim.cluster.names)
                broken = now_broken
        cursor.sim.ledger.close(cursor.sim.now)
        self._golden += ["verdict", "----"]
        self._golden += text.verdict_lines(cursor.sim)
        self._end = cursor.sim
        bare = json.dumps(view(cursor.sim), sort_keys=True, separators=(",", ":"))
        self.outcome = sha256((self.golden() + bare).encode()).hexdigest()[:16]
        ghosts = self._ghosts(self.total, self.total)
        self._final = dress(cursor.sim, view(cursor.sim), ghosts)

    def _maybe_checkpoint(self, cursor: Cursor) -> None:
        """Every so often, where the run can be taken up again."""
        last = self._checkpoints[-1].events if self._checkpoints else 0
        if cursor.sim.events - last >= EVENTS_BETWEEN and len(self._checkpoints) < MOST_CHECKPOINTS:
            checkpoint = cursor.checkpoint()
            if checkpoint is not None:
                self._checkpoints.append(checkpoint)

    def _note(self, kind: int, what: Any, cues: list[Cue], broken: bool) -> None:
        self._moments.append(story.moment(kind, what, cues, broken))
        self._cuts += [(self.total, node, tp, gone) for node, tp, gone in _cut_by(cues)]
        kinds = [story.MARKS[cue[0]] for cue in cues if cue[0] in story.MARKS]
        if broken:
            kinds.append("violation")
        for mark in dict.fromkeys(kinds):
            self._marks.append((self.total, mark))

    # -- what it answers -------------------------------------------------------------------------

    def golden(self) -> str:
        """The whole run in the notation of the golden files."""
        return "\n".join(self._golden) + "\n"

    def final_view(self) -> Json:
        return self._final

    @property
    def end(self) -> Simulation:
        """The simulation as the run leaves it, for looking at."""
        return self._end

    def verdict(self) -> Json:
        """{holds, expected, broken: [{invariant, step, why}], counts}.

        `expected` compares with what the scenario promises for this profile; None where it
        promises nothing, as for moves of one's own.
        """
        sim = self._end
        broken = [
            {"invariant": name, "step": step, "why": why} for name, step, why in sim.broken
        ]
        promise = None
        if self.run.moves is None:
            promise = self.run.scenario.expectation(self.run.profile)
        expected: bool | None = None
        if promise is not None and promise["verdict"] != "statistical":
            expected = is_kept(promise["verdict"], {name for name, _, _ in sim.broken})
        counts = {
            name: count
            for name, count in sorted(sim.checker.counts.items())
            if name not in {entry["invariant"] for entry in broken}
        }
        return {"holds": not broken, "expected": expected, "broken": broken, "counts": counts}

    def facts(self, told: Scenario | None = None) -> Json:
        """What the page needs to know of the run before it asks for steps.

        `told` is the run's scenario with its texts in another language.
        """
        scenario = told or self.run.scenario
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
            },
            "profile": self.run.profile,
            "seed": self.run.seed,
            "total": self.total,
            "moves": list(self.lines),
            "script": self.run.moves is None,
            "marks": [[step, kind] for step, kind in self._marks[:MOST_MARKS]],
            "moments": [step for step, weight in enumerate(self._moments) if weight >= 2],
            "chapters": [
                [step, self.lines[line], text] for step, line, text in self.chapters(told)
            ],
            "clock": self._clock(),
            "verdict": self.verdict(),
            "outcome": self.outcome,
            "engine": ENGINE_VERSION,
        }

    def _clock(self) -> list[list[int]]:
        """[step, its time in ms], thinned where a run is long: what spaces a rail by time."""
        every = -(-max(self.total, 1) // MOST_TICKS)
        steps = sorted({*range(0, self.total, every), self.total})
        return [[step, self._times[step]] for step in steps]

    def chapters(self, told: Scenario | None = None) -> list[tuple[int, int, str]]:
        """(first step, number of the move, comment) of every move that did anything."""
        comments = self.comments(told)
        first: dict[int, int] = {}
        for step, move in enumerate(self._move_of):
            if move >= 0:
                first.setdefault(move, step)
        return [(step, move, comments[move]) for move, step in first.items()]

    def comments(self, told: Scenario | None = None) -> list[str]:
        """What the script tells with each move, as far as the moves are those of the script."""
        comments = [""] * len(self.lines)
        scenario = told or self.run.scenario
        script = [line for line in scenario.lines(self.run.profile) if not line.is_expect]
        for number, line in enumerate(script[: len(self.lines)]):
            if line.text != self.lines[number].split(" !")[0]:
                break
            comments[number] = line.comment
        return comments

    # -- steps -----------------------------------------------------------------------------------

    def steps(self, first: int, count: int) -> list[Json]:
        """Steps [first, first + count) as JSON, clipped to the run and to 64 at once."""
        first = max(0, min(first, self.total))
        last = min(first + min(count, MOST_STEPS_AT_ONCE), self.total + 1)
        wanted = range(first, last)
        if any(step not in self._cache for step in wanted):
            self._build(first, last)
        return [self._cache[step] for step in wanted]

    def _build(self, first: int, last: int) -> None:
        """Plays until `last`, keeping the steps from `first` on."""
        cursor = self._cursor
        start = self._nearest(first)
        at = 0 if start is None else start.events
        if cursor is None or cursor.sim.events >= max(first, 1) or cursor.sim.events < at:
            cursor = self._cursor = Cursor(self.run, start=start)
            if first == 0:
                self._keep(self._initial(cursor.sim))
        while cursor.sim.events < last - 1:
            before = cursor.sim.events
            broken = len(cursor.sim.broken)
            events = cursor.advance()
            if events is None:
                break
            if cursor.sim.events >= first:
                self._keep_events(cursor, before, broken, events)

    def _nearest(self, step: int) -> Checkpoint | None:
        """The last checkpoint before a step."""
        at = bisect_left(self._checkpoints, step, key=lambda one: one.events)
        return self._checkpoints[at - 1] if at else None

    def _keep_events(
        self,
        cursor: Cursor,
        before: int,
        broken: int,
        events: list[Happened],
    ) -> None:
        """Events that one turn of the kernel brought share the view after the last of them."""
        sim = cursor.sim
        cut = {(node, tp): gone for _, _, _, cues, _ in events for node, tp, gone in _cut_by(cues)}
        shown = dress(sim, view(sim, cut), self._ghosts(before, before + len(events)))
        new = sim.broken[broken:]
        for number, (kind, node, what, cues, sends) in enumerate(events, before + 1):
            said, why = story.tell(Happening(kind, node, what, cues, sends, sim))
            self._keep(
                {
                    "n": number,
                    "t": sim.now,
                    "move": self.lines[cursor.move],
                    "line": cursor.move,
                    "moment": self._moments[number],
                    "at": node_name(node),
                    "arrived": what.id if kind == DELIVERY else None,
                    "cues": [_cue_json(cue) for cue in cues],
                    "say": said,
                    "why": why,
                    "broken": [
                        {"inv": name, "why": reason} for name, step, reason in new if step == number
                    ],
                    "view": shown,
                }
            )

    def _ghosts(self, step: int, last: int) -> list[Cut]:
        """What was cut before this turn of the kernel, since the last moment up to its end."""
        since = next((n for n in range(last, 0, -1) if self._moments[n] >= story.WEIGHTY), 0)
        first = bisect_left(self._cuts, since, key=lambda one: one[0])
        return [one for one in self._cuts[first:] if one[0] <= step]

    def _initial(self, sim: Simulation) -> Json:
        return {
            "n": 0,
            "t": 0,
            "move": "",
            "line": -1,
            "moment": 0,
            "at": None,
            "arrived": None,
            "cues": [],
            "say": [say("run.begins")],
            "why": [],
            "broken": [],
            "view": dress(sim, view(sim)),
        }

    def _keep(self, step: Json) -> None:
        self._cache[step["n"]] = step
        while len(self._cache) > CACHED_STEPS:
            self._cache.popitem(last=False)

    # -- branches --------------------------------------------------------------------------------

    def cut(self, step: int) -> tuple[str, ...]:
        """The moves that lead to `step`; a move that is under way there is cut short."""
        if step >= self.total:
            return self.lines  # with the moves at the end that brought no event, but took time
        if step <= 0:
            return ()
        move = self._move_of[step]
        done = self.lines[:move]
        if self._move_of[step + 1] != move:
            return (*done, self.lines[move])
        first = self._move_of.index(move)
        line = self.lines[move].split(" !")[0]
        return (*done, f"{line} !{step - first + 1}")

    def branch(self, step: int, line: str) -> Run:
        """The run up to `step` and then this move; raises BadInput if it cannot be played there."""
        run = self.run
        move = moves.parse(line, run.scenario.brokers)
        kept = self.cut(step)
        sim = self._at(kept)
        reason = move.verb.why_not(sim, move.args)
        if reason:
            raise BadInput("impossible", reason)
        return Run(run.scenario, run.profile, run.seed, (*kept, move.text))

    def _at(self, lines: tuple[str, ...]) -> Simulation:
        """The simulation after these moves, kept as long as nobody asks for another; to look at."""
        if self._there is None or self._there[0] != lines:
            sim = self.run.simulation()
            for _ in play(sim, lines):
                pass
            self._there = (lines, sim)
        return self._there[1]

    def letters(self, step: int) -> dict[str, Json]:
        """Every field of the messages under way at a step, by their id."""
        return letters(self._at(self.cut(step)))

    def dashboard(self, step: int) -> Json:
        """What an operator would see at this step, beside what is so."""
        step = max(0, min(step, self.total))
        return dashboard(self._at(self.cut(step)), self._chronicle, step)

    def possible(self, step: int) -> list[Json]:
        """What a hand may do at this step, grouped; the impossible with its reason."""
        sim = self._at(self.cut(step))
        found = []
        for line in suggestions(sim):
            move = moves.parse(line, self.run.scenario.brokers)
            reason = move.verb.why_not(sim, move.args)
            shown: Json = {
                "text": line,
                "group": move.verb.group,
                "enabled": not reason,
                "why": reason,
            }
            found.append(shown)
        return found

    def why(self, step: int, subject: str) -> Json:
        """The guards of what does not happen at this step.  Raises BadInput for no subject."""
        return why(self._at(self.cut(step)), subject)


def _cut_by(cues: list[Cue]) -> Iterator[tuple[int, int, tuple[Batch, ...]]]:
    """(broker, partition, batches) of what these cues cut from logs."""
    for rule, node, field, tp, batches in cues:
        if field == "cut" and rule in ("L-14", "L-11.lost") and batches:
            yield node, tp, batches


def _cue_json(cue: Cue) -> Json:
    rule, node, field, old, new = cue
    return {
        "rule": rule,
        "node": node_name(node),
        "field": field,
        "old": _plain(old),
        "new": _plain(new),
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | str | None) else text.value_text(value)

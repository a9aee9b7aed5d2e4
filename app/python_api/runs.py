"""A run as an object: its verdict, its steps in words, why something does not happen, a link."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any, TypeVar, overload
from urllib.parse import quote

from app.core.memoize import once
from app.core.refusals import RequestError
from app.core.request_fields import RequestFields
from app.core.verdict_text import verdict_text
from app.core.words import Catalogue
from app.python_api.picture import page
from app.python_api.steps import Broken, Step, WhyNot, names_of, step_of
from app.questions import comparing, exports, registry
from app.questions import runs as questions
from app.questions.context import Context
from app.questions.local import LocalRuns, local_context
from app.questions.runs import RunEnding
from engine.export.exports import FORMATS
from engine.model.errors import InputError
from engine.model.profiles import PROFILES, get_profile
from engine.moves.moves import split
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.sim import run as runs
from engine.story import story

LANGUAGE = "en"
T = TypeVar("T")


@dataclass(frozen=True)
class Comparison:
    """Two runs in lock-step: how each ends, and where they first differ.

    >>> print(run("R20", kafka="0.10.2.2").compare("4.1"))
    Kafka 0.10.2: Lost: m1. Kafka had promised to keep it.
    Kafka 4.1 – 4.2: Kept: all 2 acknowledged records, through a crash of the leader.
    Only Kafka 0.10.2 loses m1, at step 137.
    ...
    """

    one: Run
    other: Run
    parts: tuple[tuple[int, int, tuple[tuple[str, Any, Any], ...]], ...]
    """(step of the one, step of the other, ((thing, the one's, the other's), ...))"""

    def __str__(self) -> str:
        release, other = (get_profile(run.kafka).stands_for for run in (self.one, self.other))
        if not self.parts:
            return f"{release} and {other} do the same."
        lines = [f"{release}: {self.one.verdict}", f"{other}: {self.other.verdict}"]
        for name, run, against in ((release, self.one, self.other), (other, self.other, self.one)):
            alone = [record for record in run.lost if record not in against.lost]
            if alone:
                lines.append(f"Only {name} loses {', '.join(alone)}, at step {run.lost_at}.")
        mine, theirs, _ = self.parts[0]
        lines.append(f"They first differ here: {release} {self.one[mine]}")
        lines.append(f"{' ' * 24}{other} {self.other[theirs]}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


class Run(Sequence[Step]):
    """A run: scenario, version of Kafka, seed and moves.  It is played on first use.

    A sequence of its steps; step 0 is the state it begins in.  The same run has the same
    `digest` on every machine: by it runs are equal, and a pickle holds no more than their text.

    >>> again = run("R20", kafka="0.10.2.2")
    >>> again == run("R20", kafka="0.10.2.2"), len(again)
    (True, 189)
    >>> print(again[137])
    137 (6000 ms) detect 2: Broker 3 becomes leader in epoch 4. ...
    """

    def __init__(self, run: runs.Run) -> None:
        self._run = run
        self._runs = LocalRuns()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Callable[[str], Run], tuple[str]]:
        return _from_text, (self.text,)

    @cached_property
    def _context(self) -> Context:
        context = local_context(self._runs, LANGUAGE)
        context.runs.register(self._run)
        return context

    def _ask(self, question: Callable[[Context, RequestFields], T], **request: object) -> T:
        """Return the answer to a question about this run.  Raises InputError."""
        try:
            return question(self._context, RequestFields({"run": self.digest, **request}))
        except RequestError as refusal:
            raise InputError(refusal.code, refusal.sentence(LANGUAGE)) from None

    @cached_property
    def _ending(self) -> RunEnding:
        return self._ask(questions.ending)

    @property
    def digest(self) -> str:
        """16 hex digits that name this run for ever."""
        return self._run.digest

    @property
    def text(self) -> str:
        """The whole run as text: what links, bug reports and `highwater run` take."""
        return self._run.text()

    @property
    def title(self) -> str:
        return self._run.scenario.title

    @property
    def kafka(self) -> str:
        """The version of Kafka that is played."""
        return self._run.profile

    @property
    def moves(self) -> tuple[str, ...]:
        return self._run.lines()

    @property
    def holds(self) -> bool:
        """True if no invariant broke."""
        return bool(self._ending["verdict"]["holds"])

    @property
    def broken(self) -> list[Broken]:
        """Each invariant that broke, at its first step."""
        return [
            Broken(breach["invariant"], breach["step"], breach["why"])
            for breach in self._ending["verdict"]["broken"]
        ]

    @property
    def verdict(self) -> str:
        """Sentence of what was promised to clients, and what became of it."""
        return verdict_text(partial(catalogue().text, LANGUAGE), self._ending["verdict"])

    @property
    def lost_at(self) -> int | None:
        """First step at which an acknowledged record is gone; None if none is."""
        found = self._ending["verdict"]["lost_at"]
        return None if found is None else int(found)

    @property
    def lost(self) -> list[str]:
        """Records that were acknowledged with acks=all and are gone, as they were lost."""
        return list(self._ending["lost"])

    def __len__(self) -> int:
        return int(self._ending["total"]) + 1

    @overload
    def __getitem__(self, index: int) -> Step: ...

    @overload
    def __getitem__(self, index: slice) -> list[Step]: ...

    def __getitem__(self, index: int | slice) -> Step | list[Step]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        (step,) = self._ask(questions.steps, first=number, count=1)["steps"]
        return step_of(step, names_of(self._run.scenario))

    def __iter__(self) -> Iterator[Step]:
        return (self[number] for number in range(len(self)))

    def _told(self, sentence: Any) -> str:
        return story.render(sentence, names_of(self._run.scenario), LANGUAGE)

    def why(self, step: int, subject: str) -> WhyNot:
        """Explain why something does not happen at a step.

        >>> run("S30", kafka="3.9").why(5, "hw").happens
        False

        `subject`: `hw [B]` (why the high watermark does not move), `isr B` (why broker B is not in
        the ISR), `ack RECORD`, `leader [B]` or `move LINE`, as in `run.why(12, "isr 2")`.  A
        negative step counts from the end.  Raises InputError.
        """
        answer = self._ask(questions.why, step=step_number(self, step), subject=subject)
        guards = tuple(
            (
                bool(guard["ok"]),
                self._told(guard["say"]),
                (guard["cure"]["move"] or "") if guard["cure"] else "",
            )
            for guard in answer["guards"]
        )
        return WhyNot(self._told(answer["about"]), bool(answer["holds"]), guards)

    def then(self, *moves: str) -> Run:
        """Return this run with more moves.  Raises InputError for one that cannot be made.

        >>> run("S60").then("produce a to 1 acks=all", "settle").moves[-1]
        'settle'
        """
        grown = self._run
        for move in _lines(moves):
            grown = grown.then(move)
        made = Run(grown)
        assert made._ending  # a move that cannot be played is an error here, not on first use
        return made

    def under(self, kafka: str) -> Run:
        """Return the same script under another version, as far as that one can play it.

        >>> run("R20", kafka="0.10.2.2").under("4.1").lost
        []
        """
        return Run(comparing.other_run(self._context, self._run, get_profile(kafka).name)[0])

    def compare(self, other: str | Run) -> Comparison:
        """Compare this run with another one, or with its script under another version of Kafka.

        >>> run("R20", kafka="0.10.2.2").compare("4.1").parts[0][:2]
        (2, 1)
        """
        other = self.under(other) if isinstance(other, str) else other
        self._runs.borrow(other._runs)
        compared = self._ask(comparing.pairs, other=self._runs.register(other._run))
        parts = tuple(
            (mine, theirs, tuple((name, a, b) for name, a, b in part["what"]))
            for part in compared["parts"]
            for mine, theirs in (compared["pairs"][part["at"]],)
        )
        return Comparison(self, other, parts)

    def link(self, server: str = "http://localhost:8000", step: int | None = None) -> str:
        """Return the address that opens it on any server.

        A run of one's own travels within it whole.

        >>> run("R20").link(step=137)
        'http://localhost:8000/s/gone-after-a-clean-election?profile=Z0102&seed=0&step=137'
        """
        at = "" if step is None else f"step={step}"
        scenario = self._run.scenario
        if file.library().get(scenario.slug) == scenario and self._run.moves is None:
            query = f"profile={quote(self.kafka)}&seed={self._run.seed}"
            return f"{server}/s/{scenario.slug}?{'&'.join(filter(None, (query, at)))}"
        return f"{server}/r{at and '?' + at}#run={packed(self.text)}"

    def export(self, form: str) -> str:
        """Return the run as yaml, json, steps, golden, mermaid, shiviz or pytest.

        >>> run("R20").export("yaml").splitlines()[0]
        'slug: gone-after-a-clean-election'
        """
        if form not in FORMATS:
            raise ValueError(f"{form!r} is none of {', '.join(FORMATS)}.")
        return str(self._ask(exports.exported, form=form)["text"])

    def _repr_html_(self) -> str:
        step = self[self.broken[0].step if self.broken else -1]
        return page(self.title, step)

    def show(self, step: int | None = None) -> Any:
        """Return the stage for a notebook, opened at the first thing that broke."""
        try:
            from app.python_api.stage import Stage
        except ImportError:
            raise ImportError(
                "The stage needs anywidget: pip install 'highwater[notebook]'."
            ) from None
        first = self.broken[0].step if step is None and self.broken else step or 0
        return Stage(self.title, self, first)

    def __repr__(self) -> str:
        return f"<Run {self.digest}: {self.title!r}, Kafka {self.kafka}, {len(self)} steps>"


def step_number(run: Run, step: int) -> int:
    """Return the number of a step; a negative one counts from the end.  Raises InputError."""
    if not -len(run) <= step < len(run):
        raise InputError(
            "invalid", f"The run has steps 0 to {len(run) - 1}; there is no step {step}."
        )
    return step % len(run)


def packed(text: str) -> str:
    """Return a run's text for a link: "2.<length>.<deflated, in the alphabet of addresses>"."""
    data = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")
    return f"2.{len(data)}.{data}"


def run(
    scenario: str | Path,
    kafka: str = "",
    seed: int = 0,
    moves: str | Sequence[str] | None = None,
) -> Run:
    """Return a run to look at.

    `scenario`: a code or name of the library, a YAML file, or the text of a run, which needs
    nothing else and has its own seed.  `kafka`: a version; "" for the first that the scenario is
    about.  `moves` replace the scenario's script: a text such as "produce m1; settle", or a
    sequence of them.
    Raises InputError with one sentence.

    >>> run("S60", kafka="4.1", moves="produce a to 1 acks=all; settle")
    <Run ...>
    """
    if not isinstance(scenario, str | Path) or isinstance(seed, bool) or not isinstance(seed, int):
        raise InputError("invalid", "A scenario is a name or a path, and a seed a whole number.")
    if isinstance(scenario, str) and scenario.lstrip().startswith("{"):
        own = runs.Run.from_text(scenario)
        script = own.moves if moves is None else moves
        return run_of(own.scenario, kafka or own.profile, own.seed, script)
    loaded = file.load_path(scenario) if isinstance(scenario, Path) else file.find(scenario)
    return run_of(loaded, kafka, seed, moves)


def _lines(moves: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(
        line for text in ([moves] if isinstance(moves, str) else moves) for line in split(text)
    )


def run_of(scenario: Scenario, kafka: str, seed: int, moves: str | Sequence[str] | None) -> Run:
    """Return the run of a scenario; "" for the first version that it is about."""
    usual = scenario.profiles[0] if scenario.profiles else next(reversed(PROFILES))
    profile = get_profile(kafka or usual).name
    return Run(runs.Run(scenario, profile, seed, None if moves is None else _lines(moves)))


def scenarios() -> list[dict[str, str]]:
    """Return the library: {"code", "slug", "title", "teaches"} of each scenario.

    >>> scenarios()[0]["code"]
    'S01'
    """
    return registry.library(LANGUAGE)


def versions() -> dict[str, str]:
    """Return name of a version -> the releases it stands for, the oldest first.

    >>> versions()["K39"]
    'Kafka 3.9.1'
    """
    return registry.versions()


def moves() -> dict[str, str]:
    """Return the grammar of each move -> what it does.

    >>> moves()["flush B [upto O]"]
    '...'
    """
    return {str(verb["grammar"]): str(verb["help"]) for verb in registry.registry()["verbs"]}


def find(words: str, limit: int = 8) -> list[dict[str, str]]:
    """Return what matches these words, best first: {"kind", "name", "title", "url"} of each.

    A question, an issue (KAFKA-6361), an error, a setting, a metric or a log line.

    >>> find("KAFKA-6361")[0]["name"]
    'fast-failover'
    """
    from app.find.answers import results

    hits = results(words, LANGUAGE, limit=limit)["hits"]
    return [{key: str(hit[key]) for key in ("kind", "name", "title", "url")} for hit in hits]


def _from_text(text: str) -> Run:
    return Run(runs.Run.from_text(text))


@once
def catalogue() -> Catalogue:
    """Return the words of pages."""
    return Catalogue()

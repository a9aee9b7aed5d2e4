"""The course: chapters that walk through a run, as Markdown files that a teacher can write.

A chapter is one file in one language: a title, a block that names the run, scenes with text and at
most one block each (a moment, a question, a task), and a recap (docs/how-to/course.md).
Everything is read strictly: a refusal is one sentence with line and column.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

from engine.learn.kinds import KINDS
from engine.learn.probes import Probe, probe_at, probes_of
from engine.learn.texts import move_lines, profile_name, property_text, require, scenario_code
from engine.model.declared import declared, fresh
from engine.model.errors import InputError
from engine.model.languages import LANGUAGES, USUAL
from engine.model.profiles import get_profile
from engine.properties.evaluate import judge
from engine.properties.recording import MomentRecording
from engine.scenarios.file import find, load_value
from engine.scenarios.places import Reader
from engine.sim.run import Run

FOLDER: Final = "chapters"
MOST_SCENES: Final = 24
MOST_TEXT: Final = 2_000
MOST_LINE: Final = 300
MOST_MOVES: Final = 60
BLOCKS: Final = ("chapter", "moment", "probe", "do", "recap", "remember")
_SLUG: Final = re.compile(r"\d{2}-([a-z0-9-]+)")


@dataclass(frozen=True, slots=True)
class CourseScene:
    """Text beside a stage.  `block` is moment, probe, do or "": then the stage stays as it was.

    `at` is a step, a property whose deciding step is meant, or "" for the beginning; `ask` a kind
    of question or one question; `goal`, `first`, `solution` and `hint` are a task's.
    """

    title: str
    text: tuple[str, ...]
    block: str = ""
    scenario: str = ""
    profile: str = ""
    at: int | str = ""
    ask: str = ""
    goal: str = ""
    first: tuple[str, ...] | None = None
    solution: tuple[str, ...] = ()
    hint: str = ""
    where: str = ""

    @property
    def run(self) -> Run:
        """The run it tells; of a task the moves that have been made before."""
        return Run(find(self.scenario), self.profile, 0, self.first)


@dataclass(frozen=True, slots=True)
class Chapter:
    """One file.  `cards` are (question, answer), to be remembered."""

    title: str
    scenario: str
    profile: str
    minutes: int
    lead: tuple[str, ...]
    scenes: tuple[CourseScene, ...]
    recap: tuple[str, ...]
    cards: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Stand:
    """A scene, played: the run, the step where the stage stands, and what is asked there."""

    run: Run
    step: int
    probe: Probe | None = None


# -- reading --------------------------------------------------------------------------------------


@declared
class _Part:
    """A heading and what is under it: lines of text, blocks as (name, number of line, text)."""

    title: str
    line: int
    text: list[str] = fresh(list)
    blocks: list[tuple[str, int, str]] = fresh(list)


def read(text: str, where: str = "course.md") -> Chapter:
    """Read a chapter from its text.

    Raises InputError: one sentence, where = "file:line:column".
    """
    parts = _parts(text, where)
    head = parts[0]
    if [name for name, _, _ in head.blocks] != ["chapter"]:
        sentence = "A chapter begins with its title and one block ```chapter that names its run."
        raise InputError("invalid", sentence, where=f"{where}:{head.line}:1")
    value, check = _value(head.blocks[0], where)
    fields = check.mapping(value, (), ("run", "profile", "minutes"))
    require(check, fields, ("run",), (), "A chapter")
    scenario, profile = _run(check, fields, "", "")
    minutes = check.integer(fields.get("minutes", 6), ("minutes",), 1, 60)
    recap: tuple[str, ...] = ()
    cards: tuple[tuple[str, str], ...] = ()
    scenes = []
    for part in parts[1:]:
        names = [name for name, _, _ in part.blocks]
        if "recap" in names or "remember" in names:
            recap, cards = _ending(part, where)
        else:
            scenes.append(_scene(part, scenario, profile, where))
    if not 0 < len(scenes) <= MOST_SCENES:
        sentence = f"A chapter has 1 to {MOST_SCENES} scenes, each under a line that begins with ##"
        raise InputError("invalid", f"{sentence}.", where=f"{where}:1:1")
    lead = _paragraphs(head, where)
    return Chapter(
        head.title, scenario, profile, minutes, lead, tuple(_followed(scenes)), recap, cards
    )


def _followed(scenes: list[CourseScene]) -> list[CourseScene]:
    """Place each scene without a block at the moment of the scene before it."""
    followed: list[CourseScene] = []
    for scene in scenes:
        before = followed[-1] if followed else None
        if not scene.block and before is not None and before.block in ("", "moment"):
            scene = replace(scene, scenario=before.scenario, profile=before.profile, at=before.at)
        followed.append(scene)
    return followed


def _parts(text: str, where: str) -> list[_Part]:
    parts: list[_Part] = []
    block: tuple[str, int] | None = None
    held: list[str] = []
    for number, row in enumerate(text.splitlines(), 1):
        at = f"{where}:{number}:1"
        if block is not None:
            if row.strip() == "```":
                parts[-1].blocks.append((*block, "\n".join(held)))
                block, held = None, []
            else:
                held.append(row)
        elif row.startswith(("# ", "## ")):
            if (len(row) - len(row.lstrip("#")) == 1) == bool(parts):
                raise InputError(
                    "invalid", "One line with # first, then only lines with ##.", where=at
                )
            parts.append(_Part(row.lstrip("#").strip()[:MOST_LINE], number))
        elif not parts and row.strip():
            raise InputError(
                "invalid", "A chapter begins with its title, a line like # Title.", where=at
            )
        elif row.startswith("```"):
            name = row[3:].strip()
            if name not in BLOCKS:
                names = ", ".join(BLOCKS)
                sentence = f"There is no block {name[:40] or 'without a name'}; known are {names}."
                raise InputError("unknown", sentence, where=f"{where}:{number}:4")
            block = name, number
        elif parts:
            parts[-1].text.append(row)
    if block is not None:
        sentence = f"The block {block[0]} is not closed; a line with ``` closes it."
        raise InputError("invalid", sentence, where=f"{where}:{block[1]}:1")
    if not parts:
        raise InputError(
            "invalid", "A chapter begins with its title, a line like # Title.", where=where
        )
    return parts


def _value(block: tuple[str, int, str], where: str) -> tuple[Any, Reader]:
    """Return the block's value; empty lines before it keep the numbers of lines right."""
    name, line, text = block
    if not text.strip():
        raise InputError("invalid", f"The block {name} is empty.", where=f"{where}:{line}:1")
    return load_value("\n" * line + text, where)


def _paragraphs(part: _Part, where: str) -> tuple[str, ...]:
    """Return the paragraphs; a list is one paragraph whose lines begin with "- "."""
    paragraphs, held = [], list[str]()
    for row in [*part.text, ""]:
        if row.strip():
            held.append(row.strip())
        elif held:
            listed = held[0].startswith("- ")
            paragraphs.append(("\n" if listed else " ").join(held))
            held = []
    if sum(map(len, paragraphs)) > MOST_TEXT:
        sentence = f"The text under one heading has at most {MOST_TEXT} characters."
        raise InputError("too_large", sentence, where=f"{where}:{part.line}:1")
    return tuple(paragraphs)


def _scene(part: _Part, scenario: str, profile: str, where: str) -> CourseScene:
    text = _paragraphs(part, where)
    at = f"{where}:{part.line}:1"
    if len(part.blocks) > 1:
        sentence = "A scene has one block at most; begin another scene with ##."
        raise InputError("invalid", sentence, where=f"{where}:{part.blocks[1][1]}:1")
    if not part.blocks:
        return CourseScene(part.title, text, "", scenario, profile, where=at)
    name = part.blocks[0][0]
    if name == "chapter":
        sentence = "The block chapter stands under the title only."
        raise InputError("invalid", sentence, where=f"{where}:{part.blocks[0][1]}:1")
    value, check = _value(part.blocks[0], where)
    return {"moment": _moment, "probe": _asking, "do": _task}[name](
        check, value, CourseScene(part.title, text, name, scenario, profile, where=at)
    )


def _moment(check: Reader, value: object, scene: CourseScene) -> CourseScene:
    fields = check.mapping(value, (), ("at", "run", "profile"))
    if "at" not in fields:
        raise check.bad((), "A moment needs at: a step, or a property that is decided there.")
    code, profile = _run(check, fields, scene.scenario, scene.profile)
    return replace(scene, scenario=code, profile=profile, at=_at(check, fields["at"]))


def _at(check: Reader, value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool):
        return check.integer(value, ("at",), 0, 1_000_000)
    return property_text(check, value, ("at",))


def _asking(check: Reader, value: object, scene: CourseScene) -> CourseScene:
    fields = check.mapping(value, (), ("ask", "run", "profile"))
    ask = check.text(fields.get("ask", ""), ("ask",), 60)
    if ask.split("@")[0] not in KINDS:
        names = ", ".join(KINDS)
        sentence = f"ask is a kind of question or one question like hw@8.0.1; kinds are {names}."
        raise check.bad(("ask",), sentence)
    code, profile = _run(check, fields, scene.scenario, scene.profile)
    return replace(scene, scenario=code, profile=profile, ask=ask)


def _task(check: Reader, value: object, scene: CourseScene) -> CourseScene:
    fields = check.mapping(value, (), ("goal", "first", "solution", "hint", "run", "profile"))
    require(check, fields, ("goal", "solution", "hint"), (), "A task")
    code, profile = _run(check, fields, scene.scenario, scene.profile)
    return replace(
        scene,
        scenario=code,
        profile=profile,
        goal=property_text(check, fields["goal"], ("goal",)),
        first=move_lines(check, fields.get("first", []), ("first",), code),
        solution=move_lines(check, fields["solution"], ("solution",), code),
        hint=check.text(fields["hint"], ("hint",), MOST_LINE),
    )


def _run(check: Reader, fields: dict[str, object], code: str, profile: str) -> tuple[str, str]:
    """Return (scenario, profile) that the block names, or those of the chapter."""
    if "run" in fields:
        code = scenario_code(check, fields["run"], ("run",))
        profile = find(code).profiles[0]
    if "profile" in fields:
        profile = get_profile(profile_name(check, fields["profile"], ("profile",))).name
    return code, profile


def _ending(part: _Part, where: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    recap: tuple[str, ...] = ()
    cards: list[tuple[str, str]] = []
    for block in part.blocks:
        value, check = _value(block, where)
        if block[0] == "recap":
            rows = check.listing(value, (), 6, 1)
            recap = tuple(check.text(line, (i,), MOST_LINE) for i, line in enumerate(rows))
        elif block[0] == "remember":
            for i, row in enumerate(check.listing(value, (), 12, 1)):
                fields = check.mapping(row, (i,), ("ask", "answer"))
                require(check, fields, ("ask", "answer"), (i,), "A card")
                ask, answer = (
                    check.text(fields[name], (i, name), MOST_LINE) for name in ("ask", "answer")
                )
                cards.append((ask, answer))
        else:
            sentence = "A recap stands with nothing but what is to be remembered."
            raise InputError("invalid", sentence, where=f"{where}:{block[1]}:1")
    return recap, tuple(cards)


# -- playing --------------------------------------------------------------------------------------


def stand(scene: CourseScene, record: Callable[[Run], MomentRecording] = MomentRecording) -> Stand:
    """Play a scene.

    Raises InputError where its moment never comes, its question cannot be asked or its task is not
    done by the solution.
    """
    recording = record(scene.run)
    if scene.block == "probe":
        probe = _probe(scene, recording)
        return Stand(scene.run, probe.step, probe)
    if scene.block == "do":
        return Stand(scene.run, recording.end.step)
    if isinstance(scene.at, int):
        if scene.at > recording.end.step:
            raise InputError(
                "unknown", f"The run ends at step {recording.end.step}.", where=scene.where
            )
        return Stand(scene.run, recording.turns[recording.at(scene.at)].last)
    if not scene.at:
        return Stand(scene.run, 0)
    verdict = judge(scene.at, recording)
    if not verdict.holds:
        raise InputError(
            "unknown", "The property of this moment does not hold here.", where=scene.where
        )
    return Stand(scene.run, verdict.step)


def _probe(scene: CourseScene, recording: MomentRecording) -> Probe:
    if "@" in scene.ask:
        try:
            return probe_at(recording, scene.ask)
        except InputError as bad:
            raise InputError(bad.code, bad.sentence, where=scene.where) from bad
    probe = next(
        (candidate for candidate in probes_of(recording) if candidate.kind == scene.ask), None
    )
    if probe is None:
        sentence = f"Nothing in this run can be asked as {scene.ask}."
        raise InputError("unknown", sentence, where=scene.where)
    return probe


def done(scene: CourseScene, lines: tuple[str, ...]) -> tuple[bool, Run, int]:
    """Return (if these moves do the task, the run they make, its last step).

    Raises InputError.
    """
    run = Run(find(scene.scenario), scene.profile, 0, (*(scene.first or ()), *lines))
    recording = MomentRecording(run)
    return judge(scene.goal, recording).holds, run, recording.end.step


def check(text: str, where: str) -> Chapter:
    """Read a chapter and play all of it.

    Raises InputError at the first thing that is wrong.
    """
    chapter = read(text, where)
    for scene in chapter.scenes:
        stand(scene)
        if scene.block == "do":
            if done(scene, ())[0]:
                raise InputError(
                    "invalid", "This task is done before it begins.", where=scene.where
                )
            if not done(scene, scene.solution)[0]:
                sentence = "The solution of this task does not reach its goal."
                raise InputError("invalid", sentence, where=scene.where)
    return chapter


# -- the course that comes with the engine --------------------------------------------------------


@cache
def slugs() -> tuple[str, ...]:
    folder = files("engine.learn") / FOLDER
    names = sorted(one.name for one in folder.iterdir() if one.name.endswith(".en.md"))
    return tuple(match[1] for match in map(_SLUG.match, names) if match)


@lru_cache(maxsize=64)
def chapter(slug: str, language: str) -> Chapter:
    """Return a chapter of the course, in the usual language if it has no other.

    Raises InputError where there is none of that name.
    """
    if slug not in slugs() or language not in LANGUAGES:
        raise InputError("unknown", "There is no such chapter.")
    number, folder = slugs().index(slug) + 1, files("engine.learn") / FOLDER
    names = [f"{number:02}-{slug}.{tag}.md" for tag in (language, USUAL)]
    name = next(file for file in names if (folder / file).is_file())
    return read((folder / name).read_text("utf-8"), name)

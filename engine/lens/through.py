"""Chains of a step through all releases.

There are stretches of releases that run them alike, and methods that were renamed, split or moved
where one stretch ends and the next begins.
"""

from __future__ import annotations

from typing import Any

from engine.lens.lens_json import aligned_frames, at_work, followed, stacks_of
from engine.lens.source import mode_in, source
from engine.lens.stacks import Frame, Stack, thread_name
from engine.model.json_types import Json
from engine.view.wire import StepJson

Form = tuple[Any, ...]
"""Parts of a chain that must be equal for two releases to run a step alike: all but the lines."""


def through(step: StepJson, mode: str) -> Json:
    """Return {"forms": [...]}, from old to new.

    Each form has the releases `since` and `until`, and the frames of each of the step's chains,
    with what became of each since the form before.

    A frame is [name, file, gap, kind, of]: `kind` as `beside` has it, "" for "same", in the first
    form and where the form before has no chain; `of` what it was renamed, moved, split or joined
    from.  `moved`: another kind of thread than in the form before, which does it another way.
    """
    forms: list[Json] = []
    before: list[Stack] = []
    known: tuple[Form, ...] | None = None
    for release in source().releases:
        there = mode_in(release, mode)
        found = stacks_of(step, release, there)
        stacks = [one for _, one in found]
        form = tuple(_form(one) for one in stacks)
        if form == known:
            forms[-1]["until"] = release
        else:
            forms.append(
                {
                    "since": release,
                    "until": release,
                    "mode": there,
                    "stacks": [
                        _stack_json(step, at, one, before[number] if before else None)
                        for number, (at, one) in enumerate(found)
                    ],
                }
            )
        known, before = form, stacks
    return {"forms": forms}


def _file(frame: Frame) -> str:
    return frame.place.file if frame.place else ""


def _form(one: Stack) -> Form:
    frames = tuple((frame.name, _file(frame), frame.gap) for frame in one.frames)
    return one.cue, one.reason, thread_name(one), one.acting, frames


def _stack_json(step: StepJson, cues: list[int], one: Stack, before: Stack | None) -> Json:
    node = at_work(one, step["cues"][cues[0]]["node"], step["view"])
    kinds: dict[int, tuple[str, str]] = {}
    gone: list[str] = []
    moved = bool(before and before.thread and one.thread and one.thread != before.thread)
    if before is not None and before.frames and one.frames and not moved:
        for i, j, kind in aligned_frames(before, one):
            if j is not None:
                kinds[j] = (kind, before.frames[i].name if i is not None else "")
            elif i is not None and kind == "gone":
                gone.append(before.frames[i].name)
    return {
        "rule": one.cue,
        "thread": "" if one.reason else thread_name(one, node, *followed(step, node)),
        "moved": moved,
        "reason": one.reason,
        "acting": one.acting,
        "frames": [
            [frame.name, _file(frame), frame.gap, *_since(frame.name, *kinds.get(at, ("", "")))]
            for at, frame in enumerate(one.frames)
        ],
        "gone": gone,
    }


def _since(name: str, kind: str, of: str) -> tuple[str, str]:
    return ("", "") if kind == "same" else (kind, "" if of == name else of)

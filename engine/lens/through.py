"""Call stacks of a step in all releases.

Releases with equal stacks form a stretch.  Between two stretches stand the methods that were
renamed, split or moved.
"""

from __future__ import annotations

from typing import Any

from engine.lens.lens_json import aligned_frames, at_work, followed, stacks_of
from engine.lens.source import mode_in, source
from engine.lens.stacks import Stack, thread_name
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
    previous: tuple[Form, ...] | None = None
    for release in source().releases:
        there = mode_in(release, mode)
        rows = stacks_of(step, release, there)
        stacks = [row for _, row in rows]
        form = tuple(_form(stack) for stack in stacks)
        if form == previous:
            forms[-1]["until"] = release
        else:
            forms.append(
                {
                    "since": release,
                    "until": release,
                    "mode": there,
                    "stacks": [
                        _stack_json(step, at, stack, before[number] if before else None)
                        for number, (at, stack) in enumerate(rows)
                    ],
                }
            )
        previous, before = form, stacks
    return {"forms": forms}


def _form(call_stack: Stack) -> Form:
    frames = tuple((frame.name, frame.file, frame.gap) for frame in call_stack.frames)
    return call_stack.cue, call_stack.reason, thread_name(call_stack), call_stack.acting, frames


def _stack_json(step: StepJson, cues: list[int], stack: Stack, before: Stack | None) -> Json:
    node = at_work(stack, step["cues"][cues[0]]["node"], step["view"])
    kinds: dict[int, tuple[str, str]] = {}
    left: list[str] = []
    moved = bool(before and before.thread and stack.thread and stack.thread != before.thread)
    if before is not None and before.frames and stack.frames and not moved:
        for i, j, kind in aligned_frames(before, stack):
            if j is not None:
                kinds[j] = (kind, before.frames[i].name if i is not None else "")
            elif i is not None and kind == "gone":
                left.append(before.frames[i].name)
    return {
        "rule": stack.cue,
        "thread": "" if stack.reason else thread_name(stack, node, *followed(step, node)),
        "moved": moved,
        "reason": stack.reason,
        "acting": stack.acting,
        "frames": [
            [frame.name, frame.file, frame.gap, *_since(frame.name, *kinds.get(at, ("", "")))]
            for at, frame in enumerate(stack.frames)
        ],
        "gone": left,
    }


def _since(name: str, kind: str, of: str) -> tuple[str, str]:
    return ("", "") if kind == "same" else (kind, "" if of == name else of)

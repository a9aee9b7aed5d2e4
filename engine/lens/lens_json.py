"""JSON of the lens for a step, and one stack beside that of another release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import Any, Final

from engine.lens.source import key, mode_in, release_of, source
from engine.lens.stacks import (
    ALONG,
    WITHIN,
    Frame,
    Stack,
    completing,
    counterpart,
    of_client,
    resized,
    stack,
    thread_name,
    within,
)
from engine.model.errors import InputError
from engine.model.json_types import Json
from engine.model.phrases import phrase
from engine.model.profiles import get_profile
from engine.view.wire import StepJson, View

MOST: Final = 2
"""Releases that are looked at beside each other."""


def parse_releases(text: str) -> tuple[str, ...]:
    """Convert "2.5.1,3.9.1" to these releases.

    Raises InputError "unknown" for one that is not in the index, "invalid" for too many.
    """
    names = [part.strip() for part in text[:80].split(",") if part.strip()]
    if not 1 <= len(names) <= MOST:
        raise InputError("invalid", "One release or {0} can be looked at, like 2.5.1,3.9.1.", MOST)
    for name in names:
        if name not in source().releases:
            near = _near(name)
            raise InputError("unknown", "The index has no Kafka {0}{1}", name[:20], near)
    return tuple(names)


def _near(name: str) -> str:
    """Return the end of the sentence that rejects a release: the next one that there is."""
    try:
        number = key(f"{name}.0.0")
    except ValueError:
        return "; releases are written like 3.9.1."
    older = [release for release in source().releases if key(release) <= number]
    return phrase("; the one before it is {0}.", older[-1] if older else source().releases[0])


def stacks_by_release(step: StepJson, releases: tuple[str, ...], mode: str) -> Json:
    """Return the stacks of a step's cues in each release.

    Two releases are compared side by side.  `step` is a step of a replay and stays as it is; `mode`
    that of its run.
    """
    rows = [_release(step, release, mode_in(release, mode)) for release in releases]
    answer: Json = {"releases": rows}
    if len(releases) == MOST:
        left, right = (stacks_of(step, release, mode_in(release, mode)) for release in releases)
        answer["beside"] = [
            list(aligned_frames(a, b)) for (_, a), (_, b) in zip(left, right, strict=True)
        ]
    return answer


def _release(step: StepJson, release: str, mode: str) -> Json:
    return {
        "release": release,
        "mode": mode,
        "tag": source().tag(release),
        "stacks": [
            _json(at, step, call_stack) for at, call_stack in stacks_of(step, release, mode)
        ],
    }


def stacks_of(step: StepJson, release: str, mode: str) -> list[tuple[list[int], Stack]]:
    """Return (numbers of its cues, stack) for each rule and node, in the order of the cues."""
    order: dict[tuple[str, Any], list[int]] = {}
    cues = [(cue["rule"], cue["node"]) for cue in step["cues"]]
    for at, (rule, node) in enumerate(cues):
        leading = [(cue, node) for cue in ALONG.get(rule, ()) if (cue, node) in cues]
        order.setdefault(leading[0] if leading else (rule, node), []).append(at)
    profile = get_profile(step["view"]["profile"])
    own = release == release_of(profile) and mode == profile.mode

    def found(rule: str) -> Stack:
        return stack(rule if own else counterpart(rule, release, mode), release, mode)

    return [(at, _here(found, rule, node, cues)) for (rule, node), at in order.items()]


def _here(
    stack_for: Callable[[str], Stack], rule: str, node: Any, cues: list[tuple[str, Any]]
) -> Stack:
    """Return the stack of a cue, by the thread that reached it at this step."""
    call_stack = stack_for(rule)
    if call_stack.reason:
        return call_stack
    if call_stack.thread == "fetcher" and _is_client(node):
        return of_client(call_stack)
    if rule in CHOOSES and ("F-1", node) in cues and (FOLLOWS, node) not in cues:
        return resized(call_stack)
    if rule in COMPLETED and (DONE, node) in cues and not CHANGED & {name for name, _ in cues}:
        return completing(stack_for(DONE), call_stack)
    for other in WITHIN.get(rule, ()):
        if (other, node) in cues:
            return within(stack_for(other), call_stack)
    return call_stack


CHOOSES: Final = ("F-1", "F-2")
FOLLOWS: Final = "CP-MAKE-FOLLOWER"
COMPLETED: Final = ("CP-ISR", "CP-ELECT-KR")
DONE: Final = "CP-REASSIGN.done"
CHANGED: Final = {"CP-REASSIGN", "CP-KR-FENCE", "CP-KR-UNFENCE", "CP-KR-SHUTDOWN"}
"""A reassignment is done with a leader's AlterPartition, where none of these was the cause."""
CONTROLLER: Final = "K"


def _is_client(node: Any) -> bool:
    return isinstance(node, str) and node != CONTROLLER


def _leading(step: StepJson, at: list[int]) -> str:
    """Return the run's own cue of these, which the others go along with."""
    rules = [str(step["cues"][one]["rule"]) for one in at]
    return next((rule for rule in rules if not set(ALONG.get(rule, ())) & set(rules)), rules[0])


def _json(at: list[int], step: StepJson, call_stack: Stack) -> Json:
    node = at_work(call_stack, step["cues"][at[0]]["node"], step["view"])
    return {
        "cues": at,
        "of": _leading(step, at),
        "rule": call_stack.cue,
        "node": node,
        "where": "" if call_stack.reason else call_stack.where,
        "thread": "" if call_stack.reason else thread_name(call_stack, node, *followed(step, node)),
        "frames": [_frame(frame) for frame in call_stack.frames],
        "acting": call_stack.acting,
        "reason": call_stack.reason,
    }


def _frame(frame: Frame) -> Json:
    file, line = frame.place or ("", 0)
    return {
        "name": frame.name,
        "file": file,
        "line": line,
        "calls": frame.calls,
        "gap": frame.gap,
    }


def at_work(call_stack: Stack, node: Any, view: View) -> Any:
    """Return the node that runs a stack.

    A controller's answer is handled at a broker, what a leader read for a consumer at the consumer.
    """
    if call_stack.where == "controller" and not call_stack.reason:
        voters = view.get("quorum", {}).get("voters", [])
        return node if any(voter["id"] == node for voter in voters) else CONTROLLER
    if call_stack.where == "broker" and not call_stack.reason and _is_client(node):
        for client in view["clients"]:
            if client["id"] == node:
                nearest = client.get("preferred")
                return client["believes"] if nearest is None else nearest
    return node


def followed(step: StepJson, node: Any) -> tuple[int | None, int]:
    """Return (leader, number) of the fetcher of this broker that is at work at a step.

    None and -1 where that is not known.  Only where it has several does the step say which.
    """
    fetcher = step.get("fetcher")
    if fetcher is not None and fetcher["node"] == node:
        return fetcher["leader"], fetcher["number"]
    brokers = step["view"]["brokers"]
    several = any(broker["id"] == node and broker.get("fetchers", 1) > 1 for broker in brokers)
    return leader_of(step["view"], node), -1 if several else 0


def leader_of(view: View, node: Any) -> int | None:
    """Return the broker that a follower fetches from; None without a leader, or with several."""
    leaders = set()
    for partition in view["partitions"]:
        replica = partition["replicas"].get(str(node)) or partition["replicas"].get(node)
        if replica and replica["role"] == "follower":
            leaders.add((replica.get("belief") or {}).get("leader"))
    leader = leaders.pop() if len(leaders) == 1 else None
    return leader if isinstance(leader, int) else None


# -- two releases beside each other ---------------------------------------------------------------


def aligned_frames(old: Stack, new: Stack) -> Iterator[tuple[int | None, int | None, str]]:
    """Return (frame of the one, frame of the other, what became of it), in the order of the calls.

    same: class, method and file; file: in another file; moved: the method in another class;
    renamed: one method for one; split: one for several; joined: several for one; new; gone.
    Of what runs on another kind of thread nothing was renamed: it is done another way.
    """
    same = old.thread == new.thread
    a = [frame.name for frame in old.frames]
    b = [frame.name for frame in new.frames]
    for kind, i, i2, j, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            for step in range(i2 - i):
                old_frame, other = old.frames[i + step], new.frames[j + step]
                yield i + step, j + step, "same" if old_frame.file == other.file else "file"
        elif same:
            yield from _changed(a, b, (i, i2), (j, j2))
        else:
            yield from ((place, None, "gone") for place in range(i, i2))
            yield from ((None, place, "new") for place in range(j, j2))


def _changed(
    a: list[str], b: list[str], left: tuple[int, int], right: tuple[int, int]
) -> Iterator[tuple[int | None, int | None, str]]:
    """Pair frames that differ: first those whose method kept its name, then the others."""
    (i, i2), (j, j2) = left, right
    names, other = ([name.rpartition(".")[2] for name in row] for row in (a[i:i2], b[j:j2]))
    for kind, x, x2, y, y2 in SequenceMatcher(None, names, other, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from ((i + x + at, j + y + at, "moved") for at in range(x2 - x))
        else:
            yield from _between(range(i + x, i + x2), range(j + y, j + y2))


def _between(old: range, new: range) -> Iterator[tuple[int | None, int | None, str]]:
    if len(old) == len(new):
        yield from ((index, other, "renamed") for index, other in zip(old, new, strict=True))
    elif len(old) == 1 and new:
        yield from ((old[0] if at == 0 else None, index, "split") for at, index in enumerate(new))
    elif len(new) == 1 and old:
        yield from ((index, new[0] if at == 0 else None, "joined") for at, index in enumerate(old))
    else:
        yield from ((index, None, "gone") for index in old)
        yield from ((None, index, "new") for index in new)

"""Wrong beliefs about what follows what, since when, why, and how to bring it about.

Each is a rule that can be run, as in `wrong_rules`: it knows what the question tells, no more.
"""

from __future__ import annotations

from typing import Any, Final

from engine.learn.question_context import Answer, QuestionContext, in_order
from engine.learn.sequences import Happening

# -- what comes after what ------------------------------------------------------------------------


def _ranked(context: QuestionContext, *first: str) -> Answer | None:
    """Return the happenings with these sorts first, in this order; the rest in the usual order.

    Returns None if fewer than two of these sorts are shown.
    """
    happenings: tuple[Happening, ...] = context.told
    sorts = {sort for sort, _ in happenings}
    if len(sorts.intersection(first)) < 2:
        return None
    places = {sort: place for place, sort in enumerate(first)}
    usual = {sort: place for place, sort in enumerate(_USUAL)}

    def key(happening: Happening) -> tuple[int, int, int]:
        return places.get(happening[0], len(first)), usual[happening[0]], happening[1]

    return tuple(sorted(happenings, key=key))


_USUAL: Final = (
    "start",
    "die",
    "notice",
    "elect",
    "lead",
    "cut",
    "append",
    "copy",
    "mark",
    "answer",
    "follow",
)


def order_answer_first(context: QuestionContext) -> Answer | None:
    """Answer as if the producer were answered as soon as the leader has written."""
    return _ranked(context, "append", "answer", "copy", "mark", "follow")


def order_mark_first(context: QuestionContext) -> Answer | None:
    """Answer as if the mark moved with the write, and copies came later."""
    return _ranked(context, "append", "mark", "copy", "answer", "follow")


def order_follow_first(context: QuestionContext) -> Answer | None:
    """Answer as if a follower's mark moved with the copy, before the leader's."""
    return _ranked(context, "append", "copy", "follow", "mark", "answer")


def order_copy_first(context: QuestionContext) -> Answer | None:
    """Answer as if followers had to have a record before the leader writes it."""
    return _ranked(context, "copy", "append", "mark", "follow", "answer")


def order_elect_first(context: QuestionContext) -> Answer | None:
    """Answer as if the next leader were chosen the moment the old one dies.

    The other brokers hear of the death later.
    """
    return _ranked(context, "die", "elect", "lead", "notice", "cut")


def order_lead_first(context: QuestionContext) -> Answer | None:
    """Answer as if a broker took over by itself, and the controller noted it afterwards."""
    return _ranked(context, "die", "lead", "notice", "elect", "cut")


def order_cut_first(context: QuestionContext) -> Answer | None:
    """Answer as if logs were cut before a new leader is chosen."""
    return _ranked(context, "start", "cut", "die", "notice", "elect", "lead", "append")


def order_log_first(context: QuestionContext) -> Answer | None:
    """Answer as if a returning replica copied first and truncated later."""
    return _ranked(context, "append", "copy", "mark", "follow", "start", "cut", "elect", "lead")


def order_by_number(context: QuestionContext) -> Answer | None:
    """Answer as if brokers acted in the order of their numbers."""
    happenings: tuple[Happening, ...] = context.told
    if len({node for _, node in happenings}) < 3:
        return None
    usual = {sort: place for place, sort in enumerate(_USUAL)}
    return tuple(sorted(happenings, key=lambda happening: (happening[1], usual[happening[0]])))


# -- under which Kafka ----------------------------------------------------------------------------


def since_always(context: QuestionContext) -> Answer | None:
    """Answer as if it had always been so."""
    return "always", ""


def since_never(context: QuestionContext) -> Answer | None:
    """Answer as if no Kafka did it."""
    return "never", ""


def since_epochs(context: QuestionContext) -> Answer | None:
    """Answer as if leader epochs (KIP-101) had settled it."""
    return "since", "Z011"


def since_kraft(context: QuestionContext) -> Answer | None:
    """Answer as if KRaft had settled it."""
    return "since", "K33"


def until_epochs(context: QuestionContext) -> Answer | None:
    """Answer as if it had been so until leader epochs came."""
    return "until", "Z0102"


# -- because of which move ------------------------------------------------------------------------


def _moved(context: QuestionContext, *verbs: str, last: bool = True) -> Answer | None:
    """Return the number of the last (or first) move with one of these verbs.

    Without verbs, any move counts. Returns None if there is no such move.
    """
    lines: Any = context.told[1]
    numbers = [number for number, line in lines if not verbs or line.split()[0] in verbs]
    return int(numbers[-1 if last else 0]) if numbers else None


def cause_last(context: QuestionContext) -> Answer | None:
    """Answer as if the last event were the cause."""
    return _moved(context)


def cause_first_fault(context: QuestionContext) -> Answer | None:
    """Answer as if the first fault were the cause."""
    return _moved(
        context, "kill", "power", "cut", "pause", "shutdown", "bounce", "drop", last=False
    )


def cause_notice(context: QuestionContext) -> Answer | None:
    """Answer as if the controller had been too quick."""
    return _moved(context, "detect", "elect", "fence")


def cause_write(context: QuestionContext) -> Answer | None:
    """Answer as if a later write had pushed the record out."""
    return _moved(context, "produce")


def cause_fetch(context: QuestionContext) -> Answer | None:
    """Answer as if the last fetch had taken the record away."""
    return _moved(context, "fetch", "ask", "deliver", "settle")


def cause_beginning(context: QuestionContext) -> Answer | None:
    """Answer as if the run had been wrong from the first move on."""
    return _moved(context, last=False)


# -- make it happen -------------------------------------------------------------------------------


def _name(context: QuestionContext, broker: int) -> str:
    return str(dict(context.told[3])[broker])


def _follower(context: QuestionContext) -> int | None:
    record = context.part.record
    return next((one for one in in_order(record.isr) if one != record.leader), None)


def do_copy(context: QuestionContext) -> Answer | None:
    """Answer as if copied were committed, so that one fetch does the task."""
    one = _follower(context)
    wanted = context.told[0] == "commit" and one is not None
    return (f"fetch {_name(context, one)}",) if wanted and one is not None else None


def do_wait(context: QuestionContext) -> Answer | None:
    """Answer as if time alone did the task."""
    return ("advance 1s",)


def do_read(context: QuestionContext) -> Answer | None:
    """Answer as if a record counted once it is read."""
    return ("read",) if context.told[0] == "commit" else None


def do_kill(context: QuestionContext) -> Answer | None:
    """Answer as if a leader that dies were replaced that instant."""
    if context.told[0] != "lead":
        return None
    return (f"kill {_name(context, context.part.record.leader)}",)


def do_ahead(context: QuestionContext) -> Answer | None:
    """Answer as if the replica that is furthest took over, so that a fetch does the task."""
    return (f"fetch {_name(context, context.who)}",) if context.told[0] == "lead" else None


def do_bounce(context: QuestionContext) -> Answer | None:
    """Answer as if a restart brought a replica back into the ISR."""
    return (f"bounce {_name(context, context.who)}",) if context.told[0] == "join" else None


def do_write(context: QuestionContext) -> Answer | None:
    """Answer as if a further write carried the record or the replica along."""
    leader = _name(context, context.part.record.leader)
    return (f"produce next to {leader} acks=1",) if context.told[0] != "lead" else None

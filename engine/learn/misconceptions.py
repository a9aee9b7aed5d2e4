"""The misconceptions: every wrong answer that is offered is one of these rules, run.

So an answer is wrong for a reason, and the reason has a name.  Names and sentences are in
`engine/words/learn.en.json`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.learn import wrong_rules as wrong
from engine.learn import wrong_stories as stories
from engine.learn.question_context import Answer, QuestionContext
from engine.model.declared import declared

WrongRule = Callable[[QuestionContext], Answer | None]


@declared
class Misconception:
    """A row of the table of misconceptions.

    It has its id, the kind of questions it answers, the rule, and the scenario and profile whose
    run refutes it. `until` names the last profile under which it was true, "" if never.
    """

    id: str
    kind: str
    rule: WrongRule
    shown_by: tuple[str, str]
    until: str = ""


_ROWS: Final = (
    Misconception("MC-HW-SAME-TRIP", "hw", wrong.hw_same_trip, ("S31B", "K41")),
    Misconception("MC-HW-ALL", "hw", wrong.hw_of_all, ("S72", "K39")),
    Misconception("MC-HW-MAJORITY", "hw", wrong.hw_of_majority, ("S31B", "K41")),
    Misconception("MC-HW-LEO", "hw", wrong.hw_is_leo, ("S72", "K39")),
    Misconception("MC-HW-ACK", "hw", wrong.hw_needs_ack, ("S02", "K39")),
    Misconception("MC-HW-PUSH", "hw", wrong.hw_is_pushed, ("S02", "K39")),
    Misconception("MC-HW-OWN-LEO", "hw", wrong.hw_is_own_leo, ("S02", "K39")),
    Misconception("MC-HW-STAYS", "hw", wrong.hw_stays_below, ("S08", "K39")),
    Misconception("MC-LEO-COMMITTED", "leo", wrong.leo_of_committed, ("S45", "K39")),
    Misconception("MC-LEO-ONE", "leo", wrong.leo_one_by_one, ("S45", "K39")),
    Misconception("MC-LEO-PUSH", "leo", wrong.leo_as_leader, ("S72", "K39")),
    Misconception("MC-LEO-WAITS", "leo", wrong.leo_waits, ("S45", "K39")),
    Misconception("MC-TRUNC-HW", "truncate", wrong.cut_to_hw, ("S14", "K39"), "Z0102"),
    Misconception("MC-TRUNC-NEVER", "truncate", wrong.cut_never, ("S03", "K39")),
    Misconception("MC-TRUNC-LEO", "truncate", wrong.cut_to_leader_end, ("S14", "K39")),
    Misconception("MC-TRUNC-EPOCH", "truncate", wrong.cut_whole_epoch, ("S14", "K39")),
    Misconception("MC-TRUNC-LEADER-HW", "truncate", wrong.cut_to_leader_hw, ("S27", "Z011")),
    Misconception("MC-TRUNC-ALL", "truncate", wrong.cut_all, ("S14", "Z33")),
    Misconception("MC-ELECT-KNOWS", "leader", wrong.elect_knowing, ("S19", "K39")),
    Misconception("MC-ELECT-LONGEST", "leader", wrong.elect_longest, ("S19", "K39")),
    Misconception("MC-ELECT-VOTE", "leader", wrong.elect_by_vote, ("S19", "K39")),
    Misconception("MC-ELECT-ANY-ALIVE", "leader", wrong.elect_any_alive, ("S27", "K39")),
    Misconception("MC-ELECT-LAST", "leader", wrong.elect_last_in_isr, ("S45", "K39")),
    Misconception("MC-ELECT-NOBODY", "leader", wrong.elect_nobody, ("S19", "K39")),
    Misconception("MC-ELECT-NEXT", "leader", wrong.elect_neighbour, ("S19B", "K39")),
    Misconception("MC-ISR-EQUAL-LEO", "isr", wrong.isr_equal_ends, ("S19", "K39")),
    Misconception("MC-ISR-HEARTBEAT", "isr", wrong.isr_alive, ("S21", "K39")),
    Misconception("MC-ISR-ALL", "isr", wrong.isr_all, ("S19", "K39")),
    Misconception("MC-ISR-MAJORITY", "isr", wrong.isr_majority, ("S19", "K39")),
    Misconception("MC-ISR-MESSAGES", "isr", wrong.isr_in_records, ("S19", "K39"), "Z08"),
    Misconception("MC-ISR-STAYS", "isr", wrong.isr_stays, ("S40", "K39")),
    Misconception("MC-ISR-AT-ONCE", "isr", wrong.isr_at_once, ("S40", "K39")),
    Misconception("MC-ISR-LEADER", "isr", wrong.isr_moves_leader, ("S54", "K39")),
    Misconception("MC-ACKS-LEADER", "ack", wrong.acks_leader, ("S03", "K39")),
    Misconception("MC-ACKS-AR", "ack", wrong.acks_assigned, ("S03", "K39")),
    Misconception("MC-ACKS-MAJORITY", "ack", wrong.acks_majority, ("S03", "K39")),
    Misconception("MC-ACKS-MINISR", "ack", wrong.acks_min_isr, ("S03", "K39")),
    Misconception("MC-ACKS1-FOLLOWER", "ack", wrong.acks_one_follower, ("S64", "K39")),
    Misconception("MC-ACKS1-MINISR", "ack", wrong.acks_1_min_isr, ("S08", "K39")),
    Misconception("MC-ACKS1-ALL", "ack", wrong.acks_1_all, ("S64", "K39")),
    Misconception("MC-MINISR-WAITS", "ack", wrong.min_isr_waits, ("S05", "K39")),
    Misconception("MC-MINISR-ASSIGNED", "ack", wrong.min_isr_assigned, ("S11C", "K39")),
    Misconception("MC-REFUSED-WRITTEN", "ack", wrong.refused_is_written, ("S05", "K39")),
    Misconception("MC-EPOCH-ON-WRITE", "epochs", wrong.epochs_on_write, ("S47", "K39")),
    Misconception("MC-EPOCH-NEWEST", "epochs", wrong.epochs_newest, ("S47", "K39")),
    Misconception("MC-EPOCH-FROM-HW", "epochs", wrong.epochs_from_hw, ("S03", "K39")),
    Misconception("MC-EPOCH-PER-BROKER", "epochs", wrong.epochs_per_broker, ("S47", "K39")),
    Misconception("MC-EPOCH-LEADERS", "epochs", wrong.epochs_of_leader, ("S48", "K39")),
    Misconception("MC-KEEP-ALL", "survive", wrong.keep_all, ("S28", "K39")),
    Misconception("MC-KEEP-ACKED", "survive", wrong.keep_acked, ("S22", "K39")),
    Misconception("MC-KEEP-COMMITTED", "survive", wrong.keep_committed, ("S28", "K39")),
    Misconception("MC-KEEP-MAJORITY", "survive", wrong.keep_majority, ("S28", "K39")),
    Misconception("MC-KEEP-COMMON", "survive", wrong.keep_common, ("S66", "K39")),
    Misconception("MC-KEEP-MARK", "survive", wrong.keep_shortest_mark, ("S22", "K39"), "Z0102"),
    Misconception("MC-ORDER-ANSWER", "order", stories.order_answer_first, ("S02", "K39")),
    Misconception("MC-ORDER-MARK", "order", stories.order_mark_first, ("S01", "Z0102")),
    Misconception("MC-ORDER-FOLLOW", "order", stories.order_follow_first, ("S02", "K39")),
    Misconception("MC-ORDER-ELECT", "order", stories.order_elect_first, ("S53", "K39")),
    Misconception("MC-ORDER-LEAD", "order", stories.order_lead_first, ("M05", "K39")),
    Misconception("MC-ORDER-CUT", "order", stories.order_cut_first, ("S11", "K39")),
    Misconception("MC-ORDER-LOG", "order", stories.order_log_first, ("S11", "K39")),
    Misconception("MC-ORDER-COPY", "order", stories.order_copy_first, ("S01", "Z0102")),
    Misconception("MC-ORDER-NUMBER", "order", stories.order_by_number, ("S52", "Z24")),
    Misconception("MC-SINCE-ALWAYS", "since", stories.since_always, ("S01", "K39")),
    Misconception("MC-SINCE-EPOCHS", "since", stories.since_epochs, ("S01", "K39")),
    Misconception("MC-SINCE-NEVER", "since", stories.since_never, ("S09", "K39")),
    Misconception("MC-SINCE-KRAFT", "since", stories.since_kraft, ("S01", "K39")),
    Misconception("MC-UNTIL-EPOCHS", "since", stories.until_epochs, ("S01", "K39")),
    Misconception("MC-CAUSE-LAST", "cause", stories.cause_last, ("R20", "Z0102")),
    Misconception("MC-CAUSE-NOTICE", "cause", stories.cause_notice, ("S14", "Z0102")),
    Misconception("MC-CAUSE-FIRST", "cause", stories.cause_first_fault, ("S14", "Z0102")),
    Misconception("MC-CAUSE-WRITE", "cause", stories.cause_write, ("S14", "Z0102")),
    Misconception("MC-CAUSE-FETCH", "cause", stories.cause_fetch, ("S14", "Z0102")),
    Misconception("MC-CAUSE-BEGINNING", "cause", stories.cause_beginning, ("S09B", "Z08")),
    Misconception("MC-DO-COPY", "do", stories.do_copy, ("S20", "Z0102")),
    Misconception("MC-DO-KILL", "do", stories.do_kill, ("S02", "K39")),
    Misconception("MC-DO-BOUNCE", "do", stories.do_bounce, ("S51", "K39")),
    Misconception("MC-DO-AHEAD", "do", stories.do_ahead, ("S02", "K39")),
    Misconception("MC-DO-WAIT", "do", stories.do_wait, ("S20", "Z0102")),
    Misconception("MC-DO-WRITE", "do", stories.do_write, ("S20", "Z0102")),
    Misconception("MC-DO-READ", "do", stories.do_read, ("S20", "Z0102")),
)
MISCONCEPTIONS: Final = {row.id: row for row in _ROWS}


def of_kind(kind: str) -> tuple[Misconception, ...]:
    """Return the misconceptions that answer this kind of question.

    Where two give the same answer, the first one is named.
    """
    return tuple(row for row in _ROWS if kind == row.kind)

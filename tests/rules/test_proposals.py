"""CP-ALTER, S-9, as the leader sees it: what it proposes, and what the controller's answer does."""

from __future__ import annotations

import pytest

from engine.dataplane import insync
from engine.model import errors
from engine.model.broker import Process
from engine.model.control_messages import AlterAnswer, AlterItem, AlterPartitionResponse
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.state import COMMITTED, SHRINK
from engine.model.timers import ALTER_RETRY
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all

CORR = 77


def waiting(le: int = 0, pe: int = 0) -> Process:
    """Broker 1 leads in epoch 5, partition epoch 7, and has proposed to be alone in the ISR; its
    proposal named epochs that are greater by this much."""
    sim = play_all(Run(Scenario.from_dict({"title": "x", "brokers": 2}), "K39", 0, ("settle",)))
    leader: Process = sim.brokers[1].running
    replica = leader.replicas[0]
    replica.leader_epoch, replica.partition_epoch = 5, 7
    replica.pending, replica.pending_isr = SHRINK, (1,)
    leader.alter_corr = CORR
    leader.alter_queue[0] = AlterItem(0, 5 + le, 7 + pe, ((1, 1),))
    return leader


def answered(leader: Process, error: int, le: int = 5, pe: int = 8) -> Effects:
    out = Effects()
    answer = AlterAnswer(0, error, 1, le, pe, (1,))
    m = AlterPartitionResponse(CONTROLLER, 1, CORR, errors.NONE, (answer,))
    insync.on_alter_partition_response(leader, m, out)
    return out


@pytest.mark.parametrize(
    ("le", "pe", "heard"), [(0, 0, True), (-1, 0, False), (0, -1, False), (-1, -1, False)]
)
@pytest.mark.parametrize("error", [errors.NONE, errors.INELIGIBLE_REPLICA])
def test_an_answer_to_what_was_proposed_in_other_epochs_changes_nothing(
    le: int, pe: int, heard: bool, error: int
) -> None:
    """S-9: newer metadata has overtaken it."""
    leader = waiting(le=le, pe=pe)
    answered(leader, error)
    replica = leader.replicas[0]
    assert (replica.pending == COMMITTED) is heard
    assert replica.isr == ((1,) if heard and error == errors.NONE else (1, 2))


@pytest.mark.parametrize(
    ("le", "pe", "heard"), [(5, 8, True), (5, 7, True), (5, 6, False), (4, 8, False), (6, 8, False)]
)
def test_an_answer_of_another_epoch_than_the_leaders_is_not_taken(
    le: int, pe: int, heard: bool
) -> None:
    """S-9: nor one that is older than what is known."""
    leader = waiting()
    answered(leader, errors.NONE, le, pe)
    replica = leader.replicas[0]
    assert (replica.isr, replica.pending == COMMITTED) == (
        ((1,), True) if heard else ((1, 2), False)
    )
    assert replica.partition_epoch == (pe if heard else 7)


@pytest.mark.parametrize("corr", [CORR, CORR + 1])
def test_a_proposal_is_sent_again_until_the_controller_answers(corr: int) -> None:
    """CP-ALTER: 50 ms after an error, a second after the connection broke; an answer to another
    request is none."""
    waits = []
    for refused in (True, False):
        leader, out = waiting(), Effects()
        if refused:
            m = AlterPartitionResponse(CONTROLLER, 1, corr, errors.NOT_CONTROLLER, ())
            insync.on_alter_partition_response(leader, m, out)
        else:
            insync.on_alter_partition_broken(leader, corr, out)
        waits += [(kind, delay) for _, delay, kind, _ in out.timers]
        insync.send_alter_partition(leader, out)
        assert 0 in leader.alter_queue and len(out.sends) == (corr == CORR)
    assert waits == ([(ALTER_RETRY, 50), (ALTER_RETRY, 1_000)] if corr == CORR else [])

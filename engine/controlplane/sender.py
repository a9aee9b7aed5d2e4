"""The controller's sender threads of the ZooKeeper era, one for each live broker (5.1)."""

from __future__ import annotations

from engine.model.control_messages import ControlRequest
from engine.model.controller import Controller
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.timers import CONTROL_RETRY


def send(k: Controller, request: ControlRequest, out: Effects) -> None:
    """Send a request, or queue it behind those that the broker has not answered."""
    unsent = k.brokers[request.dst].unsent
    if unsent:
        unsent.append(request)
    else:
        out.send(request)


def keep(k: Controller, request: ControlRequest, was_sent: bool) -> bool:
    """Queue a lost request, to send it again; False if its thread has ended or gives up.

    `ControllerChannelManager.RequestSendThread` tries until the broker has answered or has left:
    not at all in 0.8.0, and in 0.8.1 only until a request is sent (KAFKA-1187, KAFKA-1738).
    """
    registration = k.brokers.get(request.dst)
    if registration is None or request.controller_epoch != k.epoch:
        return False
    profile = k.profile
    if profile.lost_requests_not_repeated or (was_sent and profile.lost_answers_not_repeated):
        return False
    registration.unsent.append(request)
    return True


def retry_later(k: Controller, broker: int, out: Effects) -> None:
    """Set the timer of the back-off: 300 ms before 0.10.1, 100 ms since."""
    out.timer(CONTROLLER, 100 if k.profile.release >= (0, 10, 1) else 300, CONTROL_RETRY, broker)


def repeat(k: Controller, broker: int, out: Effects) -> bool:
    """Send the queued requests, in their order, to a broker that can be reached."""
    registration = k.brokers.get(broker)
    if not k.alive or registration is None or not registration.unsent:
        return False
    waiting, registration.unsent = registration.unsent, []
    out.cue("CP-LISR.again", CONTROLLER, "requests", len(waiting), 0, about=broker)
    for request in waiting:
        out.send(request.again())
    return True

"""The live channel: every event is a question, and its acknowledgement is the answer.

The server remembers nothing of a client but its limits: a run is named by its digest, so a
question may be asked again, after a reconnect or a restart, and gets the same answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from flask import request
from flask_socketio import ConnectionRefusedError, SocketIO, disconnect, join_room

from app.admission import client_disconnect, connections
from app.admission.connections import SocketLink
from app.admission.cpu_quota import payer
from app.admission.rates import Bucket
from app.batch.announcer import room
from app.core.config import Settings
from app.core.refusals import RequestError
from app.live import class_questions, classroom
from app.live.channel import MALFORMED, UNKNOWN, sid
from app.live.classroom_registry import rooms_here
from app.live.questions import Client, Clients, Question
from app.questions import table
from app.questions.context import Answer, Context
from app.questions.table import OPENS, STEPS
from app.server import visitor
from app.server.services import services
from app.web.questioning import question_context
from engine.model.languages import language_of

log = logging.getLogger(__name__)


Handler = Callable[[Question], Answer]


def _shared(question: table.Question) -> Handler:
    """Return the handler of a question that other doors answer alike."""
    return lambda asked: question(asked.context, asked.asked)


def _watch(question: Question) -> Answer:
    """Return the progress of a batch, and subscribe this client to it."""
    batch = question.asked.text("batch")
    snapshot = services().jobs.snapshot(batch)
    join_room(room(batch))
    return {"batch": snapshot}


def _cancel(question: Question) -> Answer:
    if not question.client.trusted:
        raise RequestError("forbidden")
    return {"batch": services().jobs.cancel(question.asked.text("batch"), visitor.owner())}


EVENTS: dict[str, tuple[Handler, str]] = {
    **{name: (_shared(question), "opens") for name, question in OPENS.items()},
    **{name: (_shared(question), "moves") for name, question in STEPS.items()},
    "watch": (_watch, "moves"),
    "cancel": (_cancel, "moves"),
    "join": (classroom.join, "moves"),
    "lead": (classroom.lead, "moves"),
    "questions": (class_questions.questions, "opens"),
    "ask": (class_questions.ask, "moves"),
    "asked": (class_questions.asked, "moves"),
    "answer": (class_questions.answer, "moves"),
}
"""Event -> its handler, and the bucket of the client that pays for it."""


def register(socketio: SocketIO, settings: Settings) -> None:
    """Connect the handlers: the events above, unknown events, connecting and disconnecting."""
    clients = Clients(settings.sockets_per_address)

    def connect(auth: object = None) -> None:
        link: SocketLink = request.environ.get(connections.KEY) or SocketLink(None)
        # A second CONNECT on the same connection keeps the client's spent budget.
        client = link.client = link.client or client_of(auth)
        if not clients.join(sid(), client):
            refusal = RequestError("slow_down", key="slow_down.sockets", limit=clients.most)
            raise ConnectionRefusedError(refusal.answer(client.lang))
        link.connected()

    def client_of(auth: object) -> Client:
        given = auth if isinstance(auth, dict) else {}
        return Client(
            address=payer(request.remote_addr or ""),
            lang=language_of(str(given.get("lang", ""))) or visitor.lang(),
            cookie=visitor.browser_token(),
            trusted=visitor.is_own_token(given.get("csrf")),
            moves=Bucket(settings.moves_per_s, settings.moves_burst),
            opens=Bucket(settings.opens_per_s, settings.opens_burst),
        )

    def leave(*_: object) -> None:
        clients.leave(sid())
        rooms_here().leave(sid())

    def unknown(event: str, *_: object) -> Answer | None:
        name = event.removeprefix(UNKNOWN)

        def refuse(_question: Question) -> Answer:
            if name == MALFORMED:
                raise RequestError("invalid", key="invalid.packet")
            raise RequestError("invalid", key="invalid.event", event=name[:40])

        return _answering(clients, refuse, "moves")({})

    socketio.on_event("connect", connect)
    socketio.on_event("disconnect", leave)
    socketio.on_event("*", unknown)
    for event, (handler, bucket) in EVENTS.items():
        socketio.on_event(event, _answering(clients, handler, bucket))


def _answering(clients: Clients, handler: Handler, bucket: str) -> Callable[..., Answer | None]:
    """Charge for the question, call the handler, and turn any outcome into an answer."""

    def answering(*data: object) -> Answer | None:
        client = clients.get(sid())
        if client is None:
            disconnect()
            return None
        wait_ms = client.may(getattr(client, bucket))
        if wait_ms < 0:
            disconnect()
            return None
        if wait_ms:
            return RequestError("slow_down", ms=wait_ms).answer(client.lang)
        link = request.environ.get(connections.KEY)
        try:
            with (
                services().accounts.charged(client.address, client.cookie),
                client_disconnect.asking(link.has_hung_up if link else None),
            ):
                return answer(client, handler, data[0] if data else {})
        except RequestError as refusal:
            return refusal.answer(client.lang)

    return answering


def _context(client: Client) -> Context:
    """Return the context of a client's question; an open class question hides what comes."""
    context = question_context(client.lang)
    context.visible_until = lambda digest: rooms_here().horizon(sid(), digest)
    return context


def answer(client: Client, handler: Handler, data: object) -> Answer:
    """Return {"ok": True, ...} or a refusal with its sentence; never raise."""
    context = _context(client)
    return table.answered(context, lambda asked: handler(Question(client, asked, context)), data)

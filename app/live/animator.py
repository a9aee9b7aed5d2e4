"""The live channel: every event is a question, and its acknowledgement is the answer.

The server remembers nothing of a client but its limits: a run is named by its digest, so a
question may be asked again, after a reconnect or a restart, and gets the same answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flask import request
from flask_socketio import ConnectionRefusedError, SocketIO, disconnect, join_room

from app.batch.announcer import room
from app.context import naming, visitor
from app.context.services import services
from app.core import client_disconnect
from app.core.config import Settings
from app.core.cpu_quota import payer
from app.core.limits import Bucket
from app.core.refusals import RequestError, from_bad_input, from_engine_error
from app.core.request_fields import SEED_MAX, RequestFields
from app.live import asking, classroom, gateway
from app.live.channel import MALFORMED, UNKNOWN, sid
from app.live.gateway import Link
from app.live.questions import Answer, Client, Clients, Question, at_step
from engine.model.errors import InputError
from engine.model.languages import language_of
from engine.replay.replay import Replay
from engine.sim.run import Run
from engine.story.sayings import translate
from engine.why.why import MAX_SUBJECT

log = logging.getLogger(__name__)

AHEAD = 32
"""The most steps of one answer."""
WINDOW = 8
"""Steps sent when nobody said how many."""
MOVE_CHARS = 2_000


def _steps(replay: Replay, first: int, count: int) -> list[dict[str, Any]]:
    return replay.steps(first, count) if first <= replay.total else []


def _shown(digest: str, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps without those behind a question that this page's class is asked."""
    horizon = classroom.rooms_here().horizon(sid(), digest)
    return steps if horizon is None else [one for one in steps if one["n"] <= horizon]


def _open(question: Question) -> Answer:
    """Return the run.

    Of one whose script cannot be played to its end, as one of another release or of an older engine
    may be, what comes before that move, with the sentence that says why.
    """
    question.run = naming.run_asked(question.asked)
    try:
        return _opened(question, question.run)
    except InputError as bad:
        word, _, number = bad.where.partition(" ")
        if word != "Move":
            raise
        run = question.run
        question.run = Run(run.scenario, run.profile, run.seed, run.lines()[: int(number) - 1])
        answer = _opened(question, question.run)
        answer["facts"]["stops"] = translate(bad.sentence, question.client.lang)
        return answer


def _opened(question: Question, run: Run) -> Answer:
    asked = question.asked
    replays = services().replays
    digest = replays.register(run)
    saved = replays.saved(digest)
    with replays.using(digest) as replay:
        step = min(asked.whole("step", 0, SEED_MAX, default=0), replay.total)
        have = asked.whole("have", -1, SEED_MAX, default=-1)
        ahead = asked.count("ahead", AHEAD, WINDOW)
        first = max(0, step - 1)
        if have >= step:
            first = have + 1
            steps = _steps(replay, first, ahead)
        else:
            steps = replay.around(first, step, max(1, ahead))
        return {
            "run": digest,
            "text": run.text(),
            "facts": replays.facts(replay, saved, question.client.lang),
            "first": first,
            "steps": _shown(digest, steps),
        }


def _move(question: Question) -> Answer:
    asked = question.asked
    replays = services().replays
    parent = naming.digest_asked(asked)
    text = asked.text("text", most=MOVE_CHARS)
    ahead = asked.count("ahead", AHEAD, WINDOW)
    run = question.run = replays.run(parent)
    with replays.using(parent) as replay:
        step = naming.step_asked(asked, parent, replay.total)
        # Should the move fail, this is what plays it again.
        question.run = replace(run, moves=(*replay.cut(step), text))
        question.run = replay.branch(step, text)
    digest = replays.register(question.run)
    saved = replays.saved(digest)
    with replays.using(digest) as replay:
        return {
            "run": digest,
            "at": step + 1,
            "text": question.run.text(),
            "facts": replays.facts(replay, saved, question.client.lang),
            "steps": _steps(replay, step + 1, ahead),
        }


def _play(question: Question) -> Answer:
    with at_step(question) as (digest, replay, step):
        steps = _steps(replay, step + 1, question.asked.count("count", AHEAD, WINDOW))
        return {
            "run": digest,
            "first": step + 1,
            "total": replay.total,
            "steps": _shown(digest, steps),
        }


def _seek(question: Question) -> Answer:
    with at_step(question) as (digest, replay, step):
        first = max(0, step - 2)
        return {
            "run": digest,
            "first": first,
            "total": replay.total,
            "steps": _shown(digest, replay.around(first, step, WINDOW)),
        }


def _possible(question: Question) -> Answer:
    with at_step(question) as (digest, replay, step):
        lang = question.client.lang
        return {
            "run": digest,
            "step": step,
            "moves": [
                {**one, "help": translate(one["help"], lang), "why": translate(one["why"], lang)}
                for one in replay.possible(step)
            ],
            "messages": replay.letters(step),
        }


def _metrics(question: Question) -> Answer:
    """Return an operator's dashboard at a step, beside the true values."""
    with at_step(question) as (digest, replay, step):
        return {"run": digest, "step": step, "metrics": replay.dashboard(step)}


def _why(question: Question) -> Answer:
    """Explain why something does not happen at a step: its guards, and how to meet them."""
    subject = question.asked.text("subject", most=MAX_SUBJECT)
    with at_step(question) as (digest, replay, step):
        return {"run": digest, "step": step, **replay.why(step, subject)}


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


Handler = Callable[[Question], Answer]

EVENTS: dict[str, tuple[Handler, str]] = {
    "open": (_open, "opens"),
    "move": (_move, "moves"),
    "play": (_play, "moves"),
    "seek": (_seek, "moves"),
    "possible": (_possible, "moves"),
    "metrics": (_metrics, "moves"),
    "why": (_why, "moves"),
    "watch": (_watch, "moves"),
    "cancel": (_cancel, "moves"),
    "join": (classroom.join, "moves"),
    "lead": (classroom.lead, "moves"),
    "questions": (asking.questions, "opens"),
    "ask": (asking.ask, "moves"),
    "asked": (asking.asked, "moves"),
    "answer": (asking.answer, "moves"),
}
"""Event -> who answers it, and from which bucket of the client it is paid."""


def register(socketio: SocketIO, settings: Settings) -> None:
    """Connect the handlers: the events above, unknown events, connecting and disconnecting."""
    clients = Clients(settings.sockets_per_address)

    def connect(auth: object = None) -> None:
        link: Link = request.environ.get(gateway.KEY) or Link(None)
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
            cookie=visitor.cookie(),
            trusted=visitor.is_own_token(given.get("csrf")),
            moves=Bucket(settings.moves_per_s, settings.moves_burst),
            opens=Bucket(settings.opens_per_s, settings.opens_burst),
        )

    def leave(*_: object) -> None:
        clients.leave(sid())
        classroom.rooms_here().leave(sid())

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
        link = request.environ.get(gateway.KEY)
        try:
            with (
                services().accounts.charged(client.address, client.cookie),
                client_disconnect.asking(link.has_hung_up if link else None),
            ):
                return answer(client, handler, data[0] if data else {})
        except RequestError as refusal:
            return refusal.answer(client.lang)

    return answering


def answer(client: Client, handler: Handler, data: object) -> Answer:
    """Return {"ok": True, ...} or a refusal with its sentence; never raise."""
    question: Question | None = None
    try:
        question = Question(client, RequestFields(data))
        return {"ok": True, **handler(question)}
    except RequestError as refusal:
        return refusal.answer(client.lang)
    except InputError as error:
        return from_bad_input(error).answer(client.lang)
    except Exception as error:
        log.exception("A socket question failed")
        run = question.run if question else None
        return from_engine_error(run, error).answer(client.lang)

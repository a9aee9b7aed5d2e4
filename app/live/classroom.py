"""The questions of a class: to lead one, and to join it."""

from __future__ import annotations

from flask import Flask
from flask_socketio import SocketIO, join_room, leave_room

from app.core.refusals import RequestError
from app.core.request_fields import RequestFields
from app.live.channel import sid
from app.live.classroom_registry import KEY, Place, Rooms, RoomState, rooms_here
from app.live.questions import Question
from app.questions.context import Answer
from app.server import visitor
from app.server.services import services

CUES_MOST = 9_999
PARTITIONS_MOST = 9_999


def open_rooms(app: Flask, key: str, socketio: SocketIO) -> None:
    """Give an application its rooms; their news is sent as the event ``room``."""

    def tell(to: str, state: RoomState) -> None:
        socketio.emit("room", state, to=to)

    app.extensions[KEY] = Rooms(key, tell)


def lead(question: Question) -> Answer:
    """Start a class where no room is named; take a class to a step, or end it.

    Costs a little memory, and so a new one is paid for like something that is saved.
    """
    fields, rooms = question.asked, rooms_here()
    if not question.client.trusted:
        raise RequestError("forbidden")
    owner, name = visitor.owner(), fields.text("room", default="")
    if fields.raw("over") is True:
        rooms.end(name, owner)
        leave_room(name)
        return {"room": name, "over": True}
    place = _place(question)
    before = rooms.where(sid())
    if name:
        state = rooms.lead(name, owner, sid(), place)
    else:
        services().accounts.take(question.client.address, "saves")
        state = rooms.start(owner, sid(), place)
    _listen(before, state["room"])
    return state


def _listen(before: str, room: str) -> None:
    """Subscribe this page to that room, and to no other."""
    if before and before != room:
        leave_room(before)
    join_room(room)


def _place(question: Question) -> Place:
    """Return the leader's place.  Raises `RequestError` "gone" or "stale" for what is not there."""
    with question.context.at_step(question.asked) as (_, replay, step):
        asked = question.asked
        return Place(replay.run, step, _cue(asked), asked.whole("p", 0, PARTITIONS_MOST, default=0))


def _cue(asked: RequestFields) -> int | None:
    return asked.whole("cue", 0, CUES_MOST) if asked.has("cue") else None


def join(question: Question) -> Answer:
    """Return the place of a class, and subscribe this page to it, if ``following``."""
    fields, rooms = question.asked, rooms_here()
    name = fields.text("room").lower()
    before = rooms.where(sid())
    state = rooms.join(name, sid(), visitor.owner(), fields.raw("following") is not False)
    _listen(before, name)
    # A server may evict a run that was not saved; a late pupil still finds this one.
    services().replays.register(rooms.get(name).place.run)
    return state

"""Rooms of classes: leader, place and followers; in memory and bounded.

A room's name holds a code of the browser it was made for, signed with this server's key.  After
a restart only that browser can make the room again, and nothing had to be stored for it.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NotRequired, TypedDict

from flask import current_app

from app.admission.rates import Clock
from app.core import clock
from app.core.refusals import RequestError
from app.live.polls import HEAD, POLLS_MOST, Cell, Poll, PollState, PreparedQuestion, PupilAnswer
from app.web.question_view import GivenAnswer
from engine.sim.run import Run

KEY: Final = "highwater.rooms"
ROOMS_MOST = 200
ROOMS_OF_ONE = 3
MEMBERS_MOST = 200
"""Pages in one room, whether they follow or look around."""
LIFE_S = 12 * 3600.0
"""A room ends when its leader has said nothing for so long."""
TELL_EVERY_S = 0.25

ALPHABET = "23456789abcdefghijkmnpqrstuvwxyz"
"""Without 0, 1, l and o, which are misread from a blackboard."""
NAME = re.compile("-".join(f"[{ALPHABET}]{{{count}}}" for count in (3, 4, 3)) + r"\Z")
SALT_CHARS = 3
CODE_CHARS = 7
"""35 bits of the signature: each guess is a request to this server."""


class RoomState(TypedDict):
    """State of a class as its browsers receive it.

    `cue` and `p` are the cue of the step to come and the partition; `following` and `looking` count
    pages. `taken` tells a page that another one leads now, `over` that the class has ended, `mine`
    that the receiving browser started the class.
    """

    room: str
    run: str
    step: int
    cue: int | None
    p: int
    led: bool
    following: int
    looking: int
    poll: PollState | None
    taken: NotRequired[bool]
    mine: NotRequired[bool]
    over: NotRequired[bool]


Tell = Callable[[str, RoomState], None]
Later = Callable[[float, Callable[[], None]], object]


@dataclass(frozen=True)
class Place:
    """Place of a class: a run, its step, the cue of the step to come, and the partition."""

    run: Run
    step: int
    cue: int | None = None
    partition: int = 0


@dataclass
class Room:
    """One class.  ``leader`` is the connection that leads now, "" while there is none."""

    name: str
    owner: str
    place: Place
    leader: str = ""
    members: dict[str, bool] = field(default_factory=dict)
    """connection -> does it follow?  The others look around on their own."""
    last_request_at: float = 0.0
    last_sent_at: float = float("-inf")
    waiting: bool = False
    polls: list[Poll] = field(default_factory=list)
    asked: Poll | None = None
    """What the class has before it: open, or closed and not put away yet."""
    pupils: dict[str, int] = field(default_factory=dict)
    """Browser -> the number under which its answers stand in the table."""

    def state(self) -> RoomState:
        following = sum(self.members.values())
        return {
            "room": self.name,
            "run": self.place.run.digest,
            "step": self.place.step,
            "cue": self.place.cue,
            "p": self.place.partition,
            "led": bool(self.leader),
            "following": following,
            "looking": len(self.members) - following,
            "poll": None if self.asked is None else self.asked.state(),
        }


def start_timer(wait_s: float, then: Callable[[], None]) -> None:
    """Start a timer that does not keep a stopping server alive."""
    timer = threading.Timer(wait_s, then)
    timer.daemon = True
    timer.start()


def rooms_here() -> Rooms:
    """Return the rooms of the current application."""
    found: Rooms = current_app.extensions[KEY]
    return found


class Rooms:
    """All classes of this server.

    ``tell`` gets the name of a room, or a connection, and its new state: at most four times a
    second for a room, and then the state by that time.
    """

    def __init__(
        self, key: str, tell: Tell, clock: Clock = clock.monotonic, later: Later = start_timer
    ) -> None:
        self._key = key.encode()
        self._tell = tell
        self._clock = clock
        self._later = later
        # Sending may find that a connection has ended, and then `leave` is called from within.
        self._lock = threading.RLock()
        self._of: dict[str, Room] = {}
        self._where: dict[str, str] = {}

    def get(self, name: str) -> Room:
        """Return the room of a class.  Raises `RequestError` "gone" where there is none now."""
        with self._lock:
            self._let_go()
            room = self._of.get(name)
            if room is None:
                raise RequestError("gone", key="gone.class", room=name[:20])
            return room

    def start(self, owner: str, sid: str, place: Place) -> RoomState:
        """Return a new room, led by this connection; a second call returns the same room.

        Raises `RequestError` "busy" when there are too many.
        """
        with self._lock:
            led = self._of.get(self.where(sid))
            if led is not None and led.leader == sid:
                return self.lead(led.name, owner, sid, place)
            while True:
                name = self._name(owner, "".join(secrets.choice(ALPHABET) for _ in "123"))
                if name not in self._of:
                    return self.lead(name, owner, sid, place)

    def lead(self, name: str, owner: str, sid: str, place: Place) -> RoomState:
        """Move the class to a place; recreate the room if the server has lost it.

        Raises `RequestError` "forbidden" for any browser but the one that started the class.
        """
        with self._lock:
            self._may_lead(name, owner)
            room = self._of.get(name)
            if room is None:
                self._make_place(owner)
                room = self._of[name] = Room(name, owner, place)
            self._enter(sid, room)
            room.members.pop(sid, None)
            if room.leader not in ("", sid):
                # Another page of the same browser: it stays, as one that looks around.
                room.members[room.leader] = False
                self._tell(room.leader, {**room.state(), "taken": True})
            room.leader, room.place, room.last_request_at = sid, place, self._clock()
            self._changed(room)
            return room.state()

    def end(self, name: str, owner: str) -> None:
        """End the class.  Raises `RequestError` "forbidden" as `lead` does."""
        with self._lock:
            self._may_lead(name, owner)
            if name in self._of:
                self._drop(self._of[name])

    def join(self, name: str, sid: str, owner: str, following: bool = True) -> RoomState:
        """Enter a room; return whether this page follows.

        Raises `RequestError` "gone" or "busy".
        """
        with self._lock:
            room = self.get(name)
            if sid not in room.members and len(room.members) >= MEMBERS_MOST:
                raise RequestError("busy", key="class.full", limit=MEMBERS_MOST)
            self._enter(sid, room)
            if room.leader == sid:
                room.leader = ""
            room.members[sid] = following
            self._changed(room)
            return {**room.state(), "mine": room.owner == owner}

    def where(self, sid: str) -> str:
        """Return the room of this connection, or ""."""
        return self._where.get(sid, "")

    def leave(self, sid: str) -> None:
        """Take the connection out of its room, as it ended or goes elsewhere."""
        with self._lock:
            room = self._of.get(self._where.pop(sid, ""))
            if room is None:
                return
            room.members.pop(sid, None)
            if room.leader == sid:
                room.leader = ""
            self._changed(room)

    # -- questions -----------------------------------------------------------------------------

    def ask(self, name: str, owner: str, asking: PreparedQuestion) -> Poll:
        """Put a question to the class; the one before it is removed.

        Raises `RequestError` "forbidden" as `lead` does, "gone", and "busy" for one question too
        many.
        """
        with self._lock:
            room = self._led(name, owner)
            if len(room.polls) >= POLLS_MOST:
                raise RequestError("busy", key="class.asked.most", limit=POLLS_MOST)
            self._put_away(room)
            room.asked = Poll(len(room.polls) + 1, asking, self._clock())
            room.polls.append(room.asked)
            self._changed(room)
            return room.asked

    def close(self, name: str, owner: str, done: bool) -> None:
        """Close the question and show its answers to the class; with `done` remove it, too."""
        with self._lock:
            room = self._led(name, owner)
            if room.asked is not None:
                room.asked.is_open = False
            if done:
                self._put_away(room)
            self._changed(room)

    def asked(self, sid: str) -> tuple[Poll, bool]:
        """Return the question of this connection's room, and whether the connection leads it.

        Raises `RequestError` "gone" where nothing is asked.
        """
        with self._lock:
            room = self._of.get(self.where(sid))
            if room is None or room.asked is None:
                raise RequestError("gone", key="class.asked.none")
            return room.asked, room.leader == sid

    def answer(
        self,
        sid: str,
        browser: str,
        number: int,
        given: GivenAnswer,
        text: dict[str, str],
        sure: int = 0,
    ) -> Poll:
        """Store the answer of a browser to question `number`; the first one counts.

        Raises `RequestError` "gone" where another question is asked by now, else "invalid".
        """
        with self._lock:
            poll, leads = self.asked(sid)
            if poll.number != number:
                raise RequestError("gone", key="class.asked.closed")
            if leads:
                raise RequestError("invalid", key="class.asked.leader")
            room = self._of[self.where(sid)]
            pupil = room.pupils.setdefault(browser, len(room.pupils) + 1)
            after_s = self._clock() - poll.opened_at
            poll.take(browser, PupilAnswer(pupil, given, text, after_s, sure))
            self._changed(room)
            return poll

    def table(self, name: str, owner: str) -> list[list[Cell]]:
        """Return every answer of a class, the head first.  Raises `RequestError` as `ask` does."""
        with self._lock:
            room = self._led(name, owner)
            return [list(HEAD), *(row for poll in room.polls for row in poll.rows())]

    def horizon(self, sid: str, digest: str) -> int | None:
        """Return the last step of this run that may be sent to this connection, None for all.

        While a follower's class answers a question about the run, it is the step of the question.
        """
        with self._lock:
            room = self._of.get(self.where(sid))
            poll = None if room is None or room.leader == sid else room.asked
            open_here = poll is not None and poll.is_open and poll.asking.run == digest
            return poll.asking.probe.step if poll is not None and open_here else None

    def _led(self, name: str, owner: str) -> Room:
        self._may_lead(name, owner)
        return self.get(name)

    @staticmethod
    def _put_away(room: Room) -> None:
        if room.asked is not None:
            room.asked.is_open = False
            room.asked = None

    # -- names and bounds ----------------------------------------------------------------------

    def _name(self, owner: str, salt: str) -> str:
        code = hmac.digest(self._key, f"class {salt} {owner}".encode(), "sha256")
        text = salt + "".join(ALPHABET[byte % len(ALPHABET)] for byte in code[:CODE_CHARS])
        return f"{text[:3]}-{text[3:7]}-{text[7:]}"

    def _may_lead(self, name: str, owner: str) -> None:
        own = NAME.match(name) and hmac.compare_digest(name, self._name(owner, name[:SALT_CHARS]))
        if not own:
            raise RequestError("forbidden", key="class.foreign")

    def _enter(self, sid: str, room: Room) -> None:
        """Put a connection into a room, its only one."""
        if self._where.get(sid) != room.name:
            self.leave(sid)
            self._where[sid] = room.name

    def _make_place(self, owner: str) -> None:
        self._let_go()
        own = [room for room in self._of.values() if room.owner == owner]
        if len(own) >= ROOMS_OF_ONE:
            self._drop(min(own, key=lambda room: room.last_request_at))
        if len(self._of) < ROOMS_MOST:
            return
        empty = [room for room in self._of.values() if not room.leader and not room.members]
        if not empty:
            raise RequestError("busy", key="class.rooms", limit=ROOMS_MOST)
        self._drop(min(empty, key=lambda room: room.last_request_at))

    def _let_go(self) -> None:
        now = self._clock()
        for room in [one for one in self._of.values() if now - one.last_request_at > LIFE_S]:
            self._drop(room)

    def _drop(self, room: Room) -> None:
        del self._of[room.name]
        for sid in (room.leader, *room.members):
            self._where.pop(sid, None)
        self._tell(room.name, {**room.state(), "over": True})

    # -- sending -------------------------------------------------------------------------------

    def _changed(self, room: Room) -> None:
        if room.waiting or self._of.get(room.name) is not room:
            return
        wait_s = room.last_sent_at + TELL_EVERY_S - self._clock()
        if wait_s > 0:
            room.waiting = True
            self._later(wait_s, lambda: self._tell_late(room))
        else:
            self._tell_now(room)

    def _tell_late(self, room: Room) -> None:
        with self._lock:
            room.waiting = False
            if self._of.get(room.name) is room:
                self._tell_now(room)

    def _tell_now(self, room: Room) -> None:
        room.last_sent_at = self._clock()
        self._tell(room.name, room.state())

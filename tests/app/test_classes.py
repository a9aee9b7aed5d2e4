"""Classes: a leader and followers at her step; permission, limits, and what a restart leaves."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.config import Settings
from app.core.refusals import RequestError
from app.live import classroom_registry as bounds
from app.live.classroom_registry import NAME, Place, Rooms
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.app.conftest import Socket, browser, sent

RUN = Run(find("S01"), "K39")
OTHER = Run(find("S01"), "Z0102")
Told = dict[str, Any]


class Hall:
    """Rooms under a clock one sets by hand, and what was told."""

    def __init__(self) -> None:
        self.now = 0.0
        self.told: list[tuple[str, Told]] = []
        self.due: list[tuple[float, Callable[[], None]]] = []
        self.rooms = self.restart()

    def restart(self) -> Rooms:
        self.rooms = Rooms("key", self._tell, lambda: self.now, self._later)
        return self.rooms

    def _tell(self, to: str, told: Told) -> None:
        self.told.append((to, told))

    def _later(self, wait_s: float, then: Callable[[], None]) -> None:
        self.due.append((self.now + wait_s, then))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        ripe = [then for at, then in self.due if at <= self.now]
        self.due = [(at, then) for at, then in self.due if at > self.now]
        for then in ripe:
            then()

    def start(self, owner: str = "teacher", sid: str = "t", step: int = 0) -> str:
        return str(self.rooms.start(owner, sid, Place(RUN, step))["room"])


@pytest.fixture
def hall() -> Hall:
    return Hall()


# -- rooms ----------------------------------------------------------------------------------------


def test_names_are_short_and_not_alike(hall: Hall) -> None:
    names = {Hall().start() for _ in range(20)}
    assert len(names) > 15
    assert all(NAME.match(name) and len(name) == 12 for name in names)
    assert len({hall.rooms._name(f"owner {n}", "abc") for n in range(100)}) == 100


def test_followers_that_join_get_the_step_of_the_class(hall: Hall) -> None:
    room = hall.start(step=3)
    hall.rooms.lead(room, "teacher", "t", Place(OTHER, 5, 1, 2))
    told = hall.rooms.join(room, "a", "pupil")
    assert (told["run"], told["step"], told["cue"], told["p"]) == (OTHER.digest, 5, 1, 2)
    assert (told["led"], told["following"], told["looking"]) == (True, 1, 0)
    assert told["mine"] is False
    told = hall.rooms.join(room, "a", "pupil", following=False)
    assert (told["following"], told["looking"]) == (0, 1)
    assert hall.rooms.join(room, "b", "teacher")["mine"] is True


def test_a_room_is_told_at_most_four_times_a_second_and_then_the_newest(hall: Hall) -> None:
    room = hall.start()
    for step in range(1, 11):
        hall.rooms.lead(room, "teacher", "t", Place(RUN, step))
    assert [told["step"] for _, told in hall.told] == [0]
    hall.wait(0.25)
    assert [told["step"] for _, told in hall.told] == [0, 10]
    for tenth in range(20):
        hall.rooms.lead(room, "teacher", "t", Place(RUN, tenth))
        hall.wait(0.1)
    hall.wait(1)
    assert len(hall.told) <= 2 + 10
    assert hall.told[-1] == (room, hall.rooms.get(room).state())


@pytest.mark.parametrize("name", ["", "abc", "222-2222-222", "../../etc", "AAA-AAAA-AAA"])
def test_only_the_browser_that_started_a_class_leads_it(hall: Hall, name: str) -> None:
    room = hall.start()
    for asked, owner in ((room, "pupil"), (name, "teacher")):
        for sid in ("a", "t"):
            with pytest.raises(RequestError) as refused:
                hall.rooms.lead(asked, owner, sid, Place(RUN, 1))
            assert refused.value.code == "forbidden"
        with pytest.raises(RequestError):
            hall.rooms.end(asked, owner)
    assert hall.rooms.get(room).place.step == 0


def test_after_a_restart_only_the_leader_makes_the_room_again(hall: Hall) -> None:
    room = hall.start(step=2)
    hall.restart()
    with pytest.raises(RequestError, match="no class"):
        hall.rooms.join(room, "a", "pupil")
    with pytest.raises(RequestError):
        hall.rooms.lead(room, "pupil", "a", Place(RUN, 1))
    hall.rooms.lead(room, "teacher", "t2", Place(RUN, 2))
    assert hall.rooms.join(room, "a", "pupil")["step"] == 2


def test_another_page_of_the_leader_takes_the_lead_and_the_first_is_told(hall: Hall) -> None:
    room = hall.start()
    hall.rooms.lead(room, "teacher", "t2", Place(RUN, 4))
    assert [to for to, told in hall.told if told.get("taken")] == ["t"]
    hall.rooms.leave("t")
    assert hall.rooms.get(room).state()["led"] is True
    hall.rooms.leave("t2")
    assert hall.rooms.get(room).state()["led"] is False


def test_asking_twice_for_a_class_starts_one(hall: Hall) -> None:
    assert hall.start() == hall.start(step=1)
    assert len(hall.rooms._of) == 1


def test_a_page_is_in_one_room_at_a_time(hall: Hall) -> None:
    first, second = hall.start(), hall.start("other", "o")
    hall.rooms.join(first, "a", "pupil")
    hall.rooms.join(second, "a", "pupil")
    assert hall.rooms.get(first).state()["following"] == 0
    assert (hall.rooms.where("a"), hall.rooms.get(second).state()["following"]) == (second, 1)


def test_rooms_are_bounded(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "ROOMS_MOST", 4)
    monkeypatch.setattr(bounds, "MEMBERS_MOST", 2)
    mine = []
    for n in range(4):  # a fourth of one browser ends its oldest
        mine.append(hall.start(sid=f"t{n}"))
        hall.wait(1)
    assert sorted(hall.rooms._of) == sorted(mine[1:])
    full = hall.start("other", "o")
    hall.rooms.leave("t1")  # a class that everybody has left makes room
    fifth = hall.start("third", "p")
    assert sorted(hall.rooms._of) == sorted([*mine[2:], full, fifth])
    with pytest.raises(RequestError, match="4 classes already"):
        hall.start("fourth", "q")
    for sid in ("a", "b", "b"):
        hall.rooms.join(full, sid, "pupil")
    with pytest.raises(RequestError, match="2 pages already"):
        hall.rooms.join(full, "c", "pupil")


def test_an_idle_class_ends(hall: Hall) -> None:
    room = hall.start()
    hall.rooms.join(room, "a", "pupil")
    hall.wait(bounds.LIFE_S - 1)
    hall.rooms.get(room)
    hall.wait(2)
    with pytest.raises(RequestError, match="no class"):
        hall.rooms.get(room)
    assert hall.told[-1][1]["over"] is True
    assert hall.rooms._where == {}


# -- sockets --------------------------------------------------------------------------------------


def classroom(app: Flask) -> tuple[Socket, str, str]:
    """(the leader, the room, its run)."""
    leader = Socket(app)
    run = leader.open(scenario="S01", step=0)["run"]
    answer = leader.ask("lead", {"run": run, "step": 2})
    assert answer["ok"], answer
    return leader, answer["room"], run


def pupil(app: Flask) -> Socket:
    client = app.test_client()
    with client.session_transaction() as session:
        session["csrf"] = "another-browser"
    return Socket(app, client, csrf=sent("another-browser"))


def hears(socket: Socket, **wanted: Any) -> None:
    """Waits until this page is told so."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        for one in socket.raw.get_received():
            told = one["args"][0] if one["name"] == "room" else {}
            if wanted.items() <= told.items():
                return
        time.sleep(0.01)
    raise AssertionError(f"nobody said {wanted}")


def test_moves_of_the_leader_reach_followers(app: Flask) -> None:
    leader, room, run = classroom(app)
    follower = pupil(app)
    joined = follower.ask("join", {"room": room.upper()})
    assert (joined["ok"], joined["run"], joined["step"]) == (True, run, 2)
    branch = leader.ask("move", {"run": run, "step": 2, "text": "kill 3"})
    answer = leader.ask("lead", {"room": room, "run": branch["run"], "step": branch["at"]})
    assert (answer["ok"], answer["following"]) == (True, 1)
    hears(follower, run=branch["run"], step=branch["at"])
    assert follower.ask("open", {"run": branch["run"]})["ok"]
    follower.raw.disconnect()
    hears(leader, following=0)


def test_followers_cannot_lead(app: Flask) -> None:
    _, room, run = classroom(app)
    other = pupil(app)
    refused = other.ask("lead", {"room": room, "run": run, "step": 1})
    assert (refused["ok"], refused["code"]) == (False, "forbidden")
    refused = other.ask("lead", {"room": room, "over": True})
    assert (refused["ok"], refused["code"]) == (False, "forbidden")
    stranger = Socket(app, browser(app), csrf="wrong")
    assert stranger.ask("lead", {"run": run})["code"] == "forbidden"


@pytest.mark.parametrize(
    ("event", "data", "code"),
    [
        ("join", {}, "invalid"),
        ("join", {"room": 5}, "invalid"),
        ("join", {"room": "x" * 300}, "too_large"),
        ("join", {"room": "abc-defg-hjk"}, "gone"),
        ("lead", {"run": "nothing"}, "invalid"),
        ("lead", {"run": "0123456789abcdef"}, "gone"),
        ("lead", {"step": 100_000}, "stale"),
        ("lead", {"step": -1}, "invalid"),
        ("lead", {"cue": 10**6}, "invalid"),
        ("lead", {"p": "0"}, "invalid"),
        ("lead", {"room": "abc-defg-hjk"}, "forbidden"),
    ],
)
def test_impossible_events_get_a_sentence(
    app: Flask, event: str, data: dict[str, Any], code: str
) -> None:
    leader, _, run = classroom(app)
    answer = leader.ask(event, {"run": run, "step": 0, **data})
    assert (answer["ok"], answer["code"]) == (False, code), answer
    assert answer["sentence"].endswith(".")


def test_classes_are_started_only_so_often(
    settings: Settings, make_app: Callable[[Settings], Flask]
) -> None:
    app = make_app(replace(settings, saves_per_s=0.001, saves_burst=1))
    leader, room, run = classroom(app)
    assert leader.ask("lead", {"run": run})["code"] == "slow_down"
    assert leader.ask("lead", {"room": room, "run": run})["ok"]


def test_a_class_has_a_page_while_it_lasts(app: Flask, client: FlaskClient) -> None:
    leader, room, run = classroom(app)
    page = client.get(f"/class/{room}")
    assert page.status_code == 200
    assert f'"room": "{room}"' in page.text and f'"run": "{run}"' in page.text
    assert client.get(f"/class/{room.upper()}").status_code == 200
    assert "2" in client.get(f"/class/{room}?plain=1").text
    assert leader.ask("lead", {"room": room, "over": True})["ok"]
    gone = client.get(f"/class/{room}?lang=zh")
    assert gone.status_code == 404 and room in gone.text and "主讲人" in gone.text

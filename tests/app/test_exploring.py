"""Every future from here, over HTTP: asked, answered, shared, cancelled, refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from app.core.refusals import RequestError
from app.explore import answering, worker
from app.explore.pages import move_told
from app.explore.search import DONE, REFUSED, RUNS, Search
from app.explore.search_request import Ask, budgets_of
from app.explore.searches import PER_ADDRESS, Searches
from app.server.services import KEY
from engine.model.errors import InputError
from engine.scenarios import file
from engine.sim.run import Run
from tests.app import hands
from tests.waiting import until

PAGE_EVERY_S = 0.1


def ask(code: str, profile: str, step: int, goal: str = "loss", **budgets: int) -> Ask:
    return Ask(Run(file.find(code), profile), step, budgets_of(budgets), goal)


def over(search: Search) -> Search:
    until(lambda: search.over)
    return search


@pytest.fixture
def searches() -> Any:
    made = Searches()
    yield made
    made.close()


LOSS = ask("S20", "Z0102", 20, crashes=2)
LONG = ask("S30", "K41", 10, crashes=2, writes=2, losses=2)


def test_the_same_question_is_searched_once_and_answered_to_all(searches: Searches) -> None:
    first = searches.ask(LOSS, "1.1.1.1")
    assert searches.ask(LOSS, "2.2.2.2") is first
    over(first)
    assert first.state == DONE
    near = next(one for one in first.answer["ways"] if one["name"] == "I7")
    assert near["moves"] == ["kill A", "restart A", "kill B", "restart B"]
    assert ["bounce A", "safe", 0] in first.answer["distances"]
    assert ["kill A", "near", 4] in first.answer["distances"]
    assert searches.ask(LOSS, "3.3.3.3") is first


def test_a_search_that_ends_does_not_change_under_the_page_that_reads_it(
    searches: Searches,
) -> None:
    live = searches.ask(LOSS, "1.1.1.1")
    read = searches.find(live.ask.number)
    over(live)
    assert read is not None and not read.over and read.answer is None
    now = searches.find(live.ask.number)
    assert now is not None and now.state == DONE and now.answer == live.answer


def test_a_cancelled_search_tells_what_it_saw_and_the_next_one_begins(searches: Searches) -> None:
    long, short = searches.ask(LONG, "1.1.1.1"), searches.ask(LOSS, "2.2.2.2")
    assert searches.place(short) == 1
    until(lambda: long.progress)
    with pytest.raises(RequestError, match="token"):
        searches.cancel(LONG.number, "9.9.9.9")  # it is not theirs
    searches.cancel(LONG.number, "1.1.1.1")
    over(long)
    assert long.state == DONE
    assert not long.answer["card"]["complete"]
    assert long.answer["card"]["distinct"] >= long.progress["states"]
    assert over(short).state == DONE


def test_searches_are_limited_by_address(searches: Searches) -> None:
    for step in range(PER_ADDRESS):
        searches.ask(ask("S30", "K41", step, crashes=2, writes=2), "1.1.1.1")
    with pytest.raises(RequestError, match="not finished"):
        searches.ask(LOSS, "1.1.1.1")
    searches.ask(LOSS, "2.2.2.2")


def test_addresses_take_turns(searches: Searches) -> None:
    """Further searches of an address wait behind its own, not those of others behind it."""
    first, *mine = [
        searches.ask(ask("S30", "K41", step, crashes=2, writes=2), "1.1.1.1") for step in range(3)
    ]
    until(lambda: first.state == RUNS)
    theirs = searches.ask(LOSS, "2.2.2.2")
    assert [searches.place(one) for one in (theirs, *mine)] == [1, 2, 3]


def test_a_crashed_process_is_reported_and_leaves_others_alone() -> None:
    searches = Searches(hands.falls)
    try:
        fallen = over(searches.ask(LOSS, "1.1.1.1"))
        assert fallen.state == REFUSED
        assert "without an answer" in str(fallen.refusal)
    finally:
        searches.close()


def test_an_answer_cut_off_ends_its_search_and_no_other() -> None:
    searches = Searches(hands.falls)
    try:
        first = over(searches.ask(LOSS, "1.1.1.1"))
        assert first.state == REFUSED
        again = over(searches.ask(LOSS, "1.1.1.1"))
        assert again is not first, "what fell is asked anew, by a thread that is still there"
    finally:
        searches.close()


def test_distances_that_take_too_much_memory_leave_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def greedy(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(answering, "distances", greedy)
    told: list[dict[str, Any]] = []
    found = worker.answer(LOSS, told.append, lambda: False)
    assert found["missing"] == "memory" and found["distances"] == []
    assert "I7" in {one["name"] for one in found["ways"]} and not found["cancelled"]
    (first,) = (one["first"] for one in told if "first" in one)
    assert first["card"] == found["card"]


def test_a_process_that_falls_after_its_first_answer_has_answered() -> None:
    searches = Searches(hands.answers_and_falls)
    try:
        found = over(searches.ask(LOSS, "1.1.1.1"))
        assert found.state == DONE and found.answer == hands.FIRST
        assert searches.ask(LOSS, "1.1.1.1") is found, "and is not searched again"
    finally:
        searches.close()


def test_facts_unknown_to_the_search_are_named(searches: Searches) -> None:
    refused = over(searches.ask(ask("S61", "K39", 10, crashes=1), "1.1.1.1"))
    assert refused.state == REFUSED
    assert "The search does not know" in str(refused.refusal)


def test_budgets_and_goals_are_bounded(searches: Searches) -> None:
    with pytest.raises(InputError, match="at most 3"):
        searches.ask(ask("S20", "Z0102", 20, crashes=4), "1.1.1.1")
    own = Ask(Run(file.find("S20"), "Z0102"), 20, budgets_of({}), "own", "rm -rf")
    with pytest.raises(InputError, match="A goal is written like"):
        searches.ask(own, "1.1.1.1")


# -- the page -------------------------------------------------------------------------------------


def opened(client: Any, code: str = "S20", profile: str = "Z0102") -> tuple[str, str]:
    """(digest of the library's run, the page's token)"""
    digest = client.application.extensions[KEY].replays.register(Run(file.find(code), profile))
    page = client.get(f"/explore/{digest}?step=20").get_data(as_text=True)
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found, page
    return digest, found[1]


def test_a_broker_is_no_number() -> None:
    """A broker called 1 does not read as one of something that crashes."""
    scenario, labelled = file.find("S14"), file.find("S20")
    assert move_told("kill 1", scenario)["args"] == {"a": "Broker 1"}
    assert move_told("deliver 2->1", scenario)["args"] == {"a": "Broker 2", "b": "Broker 1"}
    assert move_told("kill A", labelled)["args"] == {"a": "A"}
    assert move_told("produce s1 acks=all", scenario)["args"] == {"a": "s1"}


@pytest.mark.parametrize(("lang", "yes"), [("en", "Yes: 4 moves"), ("zh", "会：从这里 4 步")])
def test_a_question_is_put_and_answered_on_its_page(client: Any, lang: str, yes: str) -> None:
    digest, token = opened(client)
    asked = {"csrf": token, "step": "20", "goal": "loss", "crashes": "2"}
    answer = client.post(f"/explore/{digest}?lang={lang}", data=asked)
    assert answer.status_code == 303
    page = page_over(client, answer.headers["Location"])
    assert yes in page, told_by(page)
    assert ("(reproducible)" in page) is (lang == "en")
    assert ("is gone: broker A leads" in page) is (lang == "en")
    found = re.search(r'class="btn primary" href="(/r/[0-9a-f]{16}\?step=20)"', page)
    assert found, page
    assert client.get(found[1]).status_code == 200


def page_when(client: Any, address: str, ready: Callable[[str], bool]) -> str:
    """The page of a search once it tells what is waited for; a busy server is asked again."""
    page = ""

    def asked() -> bool:
        nonlocal page
        answer = client.get(address)
        page = answer.get_data(as_text=True)
        return answer.status_code not in (429, 503) and ready(page)

    until(asked, PAGE_EVERY_S)
    return page


def told_by(page: str) -> str:
    """The text of a page, for a failure."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def page_over(client: Any, address: str) -> str:
    """The page once its search is over."""
    return page_when(client, address, lambda page: "data-running" not in page)


def test_a_search_that_was_cancelled_has_no_answer_that_is_the_same_everywhere(client: Any) -> None:
    digest, token = opened(client, "S30", "K41")
    asked = {"step": "10", "goal": "loss", "crashes": "2", "writes": "2", "losses": "2"}
    answer = client.post(f"/explore/{digest}", data={**asked, "csrf": token})
    address = answer.headers["Location"]
    page = page_when(client, address, lambda page: " states, up to " in page)
    hidden = dict(re.findall(r'type="hidden" name="([a-z_]+)" value="([^"]*)"', page))
    assert client.post(f"/explore/{digest}/cancel", data=hidden).status_code == 303
    page = page_over(client, address)
    assert "With smaller budgets it may finish" in page, told_by(page)
    assert "Continue in a terminal:" in page and "(reproducible)" not in page


def test_a_visitor_in_the_queue_keeps_the_page(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what was chosen, and when to ask again."""
    digest, token = opened(client)
    refusal = RequestError("slow_down", "search.yours", n=PER_ADDRESS, ms=3000)
    monkeypatch.setattr(Searches, "ask", lambda *_: (_ for _ in ()).throw(refusal))
    asked = {"csrf": token, "step": "20", "goal": "nobody", "crashes": "3"}
    answer = client.post(f"/explore/{digest}?lang=zh", data=asked)
    page = answer.get_data(as_text=True)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "3")
    assert "来自你所在地址的 4 个搜索尚未完成" in page
    assert '<option value="nobody" selected>' in page
    assert "<option selected>3</option>" in page


@pytest.mark.parametrize(
    "asked",
    [
        {"step": "20", "goal": "loss", "crashes": "9"},
        {"step": "20", "goal": "everything"},
        {"step": "20", "goal": "own", "own": "what?"},
        {"step": "-1"},
    ],
)
def test_invalid_searches_are_refused(client: Any, asked: dict[str, str]) -> None:
    digest, token = opened(client)
    answer = client.post(f"/explore/{digest}", data={**asked, "csrf": token})
    assert answer.status_code == 400


def test_requests_without_the_token_of_the_page_are_refused(client: Any) -> None:
    digest, _ = opened(client)
    assert client.post(f"/explore/{digest}", data={"step": "20"}).status_code == 403
    assert client.get(f"/explore/{digest}?step=999999").status_code == 409
    assert client.get("/explore/0123456789abcdef").status_code == 404

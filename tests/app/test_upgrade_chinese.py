"""Tests of the Chinese ledger: complete, spelled like the other catalogues, and on the page."""

from __future__ import annotations

import re
from html import unescape

from flask.testing import FlaskClient

from engine.catalogue.bugs import LedgerEntry, entries
from engine.model.languages import words_of

CHINESE = "zh-Hans"
HAN = "[\u4e00-\u9fff]"
TIGHT = re.compile(f"{HAN}[ A-Za-z0-9]|[ A-Za-z0-9]{HAN}")
"""A Han character that touches a Latin one, or has a wide space instead of U+2009."""


def listed_on(page: str) -> list[LedgerEntry]:
    shown = set(re.findall(r'<li class="\w+" id="((?:KAFKA-|MINOR )\w+)"', page))
    return [entry for entry in entries() if entry.jira in shown]


def test_every_entry_has_a_chinese_statement() -> None:
    words = words_of("ledger", CHINESE)
    missing = [entry.jira for entry in entries() if not re.search(HAN, words.get(entry.jira, ""))]
    assert missing == [], "add to engine/words/ledger.zh-Hans.json"
    assert len({entry.said_in(CHINESE)[0] for entry in entries()}) == len(entries())


def test_numbers_of_the_catalogue_are_in_the_ledger() -> None:
    numbers = {key for key in words_of("ledger", CHINESE) if re.match("KAFKA-|MINOR ", key)}
    assert numbers <= {entry.jira for entry in entries()}


def test_a_thin_space_stands_between_han_and_latin() -> None:
    wrong = [key for key, text in words_of("ledger", CHINESE).items() if TIGHT.search(text)]
    assert wrong == []


def test_the_page_shows_the_chinese_ledger(client: FlaskClient) -> None:
    page = unescape(client.get("/upgrade?from=2.4.1&to=3.9.1&lang=zh").text)
    listed = listed_on(page)
    assert len(listed) > 20
    for entry in listed:
        statement, reason = entry.said_in(CHINESE)
        assert statement in page, entry.jira
        assert entry.statement not in page, entry.jira
        assert f"没有运行：{reason}。" in page or not reason, entry.jira
    assert any(re.search(HAN, entry.said_in(CHINESE)[1]) for entry in listed)


def test_english_stays_english(client: FlaskClient) -> None:
    page = unescape(client.get("/upgrade?from=2.4.1&to=3.9.1").text)
    for entry in listed_on(page):
        assert entry.said_in("en") == (entry.statement, entry.not_played)
        assert entry.statement in page, entry.jira

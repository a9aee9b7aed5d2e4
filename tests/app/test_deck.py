"""The deck for Anki, opened by Anki's own library."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from anki.collection import Collection, ImportAnkiPackageOptions, ImportAnkiPackageRequest
from click.testing import CliRunner
from flask.testing import FlaskClient

from app.command.cli import main
from app.learn import deck
from engine.learn.course import slugs
from engine.learn.interview import questions
from engine.learn.misconceptions import MISCONCEPTIONS

PLAYED = deck.cards


@cache
def cards(lang: str) -> tuple[deck.DeckCard, ...]:
    return tuple(PLAYED(lang, deck.Catalogue()))


@pytest.fixture(scope="module", autouse=True)
def played_once() -> Iterator[None]:
    """A hundred runs are played for the cards of a language: not again for each package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deck, "cards", lambda lang, _words: iter(cards(lang)))
        yield


@pytest.fixture(scope="module")
def packed(played_once: None) -> bytes:
    return deck.package("https://kafka.example/", "en", deck.Catalogue())


def imported(collection: Collection, path: Path) -> Any:
    options = ImportAnkiPackageOptions(with_scheduling=False)
    request = ImportAnkiPackageRequest(package_path=str(path), options=options)
    return collection.import_anki_package(request).log


def notes(collection: Collection) -> dict[str, Any]:
    found = [collection.get_note(one) for one in collection.find_notes("")]
    return {note["Id"]: note for note in found}


@pytest.mark.night
def test_anki_shows_every_card_and_a_second_import_updates(
    tmp_path: Path, packed: bytes, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "deck.apkg"
    path.write_bytes(packed)
    collection = Collection(str(tmp_path / "mine.anki2"))
    try:
        assert len(imported(collection, path).new) == len(notes(collection)) >= 160
        for name, note in notes(collection).items():
            shown = note.cards()[0]
            assert note["Question"] in shown.question() and note["Link"] in shown.answer(), name
            for picture in re.findall(r'<img src="([^"]+)"', shown.answer()):
                svg = Path(collection.media.dir(), picture).read_text("utf-8")
                assert svg.startswith("<svg") and "var(--" not in svg
        belief = notes(collection)["MC-HW-ALL"]
        assert "All replicas count" in belief["Question"] and "ISR" in belief["Answer"]
        for name in MISCONCEPTIONS:
            assert "<img" in notes(collection)[name]["After"], name
            assert "&amp;q=" in notes(collection)[name]["Link"], name
        for slug in slugs():
            note = notes(collection)[f"{slug}-1"]
            assert (
                "<img" in note["After"]
                and client.get(urlsplit(note["Link"]).path).status_code == 200
            )
        item = questions()["Q1"]
        assert item.facts[0]["en"] in unescape(notes(collection)["Q1"]["Answer"])
        link = urlsplit(unescape(notes(collection)["Q1"]["Link"]))
        assert client.get(f"{link.path}?{link.query}").status_code == 200
        # A review, then a later deck with another text: the text is new, the review still there.
        card = notes(collection)["Q1"].cards()[0]
        collection.decks.select(card.did)
        card.start_timer()
        card.ivl, card.type, card.queue, card.due, card.reps = 9, 2, 2, 9, 1
        collection.update_card(card)
        later_cards = [
            replace(one, question="Changed?") if one.id == "Q1" else one for one in cards("en")
        ]
        monkeypatch.setattr(deck, "cards", lambda _lang, _words: iter(later_cards))
        later = time.time() + 60
        monkeypatch.setattr("genanki.package.time.time", lambda: later)
        path.write_bytes(deck.package("https://kafka.example/", "en", deck.Catalogue()))
        count = len(notes(collection))
        log = imported(collection, path)
        assert not log.new and len(notes(collection)) == count
        assert "Changed?" in notes(collection)["Q1"]["Question"]
        kept = notes(collection)["Q1"].cards()[0]
        assert (kept.id, kept.ivl, kept.reps) == (card.id, 9, 1)
    finally:
        collection.close()


@pytest.mark.night
def test_both_languages_stand_beside_each_other(tmp_path: Path, packed: bytes) -> None:
    collection = Collection(str(tmp_path / "mine.anki2"))
    try:
        for lang, content in (
            ("en", packed),
            ("zh", deck.package("https://kafka.example/", "zh-Hans", deck.Catalogue())),
        ):
            path = tmp_path / f"{lang}.apkg"
            path.write_bytes(content)
            assert len(imported(collection, path).new) >= 80
        chinese = [
            one
            for one in collection.find_notes("")
            if "什么" in collection.get_note(one)["Question"]
        ]
        assert chinese
    finally:
        collection.close()


def test_it_is_on_the_page(client: FlaskClient, tmp_path: Path) -> None:
    assert 'href="/learn/deck.apkg"' in client.get("/practice").text
    bad = CliRunner().invoke(main, ["learn", "deck", str(tmp_path / "a"), "--site", "javascript:"])
    assert bad.exit_code == 2 and bad.output.count("\n") == 1


@pytest.mark.night
def test_a_server_and_a_command_write_it(client: FlaskClient, tmp_path: Path) -> None:
    answer = client.get("/learn/deck.apkg")
    assert answer.data[:2] == b"PK" and "highwater-en.apkg" in answer.headers["Content-Disposition"]
    nowhere = CliRunner().invoke(main, ["learn", "deck", str(tmp_path / "no" / "a.apkg")])
    assert nowhere.exit_code == 2 and "cannot be written" in nowhere.output
    told = CliRunner().invoke(main, ["learn", "deck", str(tmp_path / "a.apkg"), "--lang", "zh"])
    assert told.exit_code == 0 and (tmp_path / "a.apkg").read_bytes()[:2] == b"PK"


@pytest.mark.night
@pytest.mark.parametrize("lang", ["en", "zh-Hans"])
def test_no_card_names_kafka_twice_in_a_row(lang: str) -> None:
    texts = [f"{card.question} {card.answer}" for card in cards(lang)]
    assert any("until Kafka" in text or "及以前" in text for text in texts)
    assert not [text for text in texts if "Kafka Kafka" in text]

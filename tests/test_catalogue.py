"""One catalogue: what is said stands in files by subject and language, and in no other place."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from app.core import words as app_words
from app.core.refusals import STATUS, RequestError
from app.core.words import Catalogue, sentence
from engine.learn.course import chapter, slugs
from engine.model import languages
from engine.model.languages import LANGUAGES, NAMES, USUAL, WHOLE, language_of, short, words_of
from engine.scenarios.file import library
from engine.scenarios.translated import in_language
from engine.story import story
from tests.translations import FOLDERS, ROOT, files, missing

PLACE = re.compile(r"\{\w+\}")
PLURAL = re.compile(r"\.(?:zero|one|two|few|many|other)$")
HAN = re.compile(r"[\u3400-\u9fff]{2}")
OTHERS = LANGUAGES[1:]


def differs(usual: dict[str, str], own: dict[str, str]) -> list[str]:
    """The keys that English does not have, but for further plurals, or with other places."""
    found = []
    for key, text in own.items():
        there = usual.get(key, usual.get(PLURAL.sub("", key)))
        if there is None or set(PLACE.findall(there)) != set(PLACE.findall(text)):
            found.append(key)
    return found


def test_every_file_is_of_a_language_that_is_known() -> None:
    for folder in FOLDERS:
        tags = {path.stem.rpartition(".")[2] for path in (ROOT / folder).glob("*.json")}
        assert tags <= set(LANGUAGES), f"{folder}: add it to NAMES of engine/model/languages.py"
    assert set(WHOLE) <= set(LANGUAGES)
    assert len({short(one) for one in LANGUAGES}) == len(LANGUAGES), "addresses tell them apart"


@pytest.mark.parametrize("language", OTHERS)
def test_each_language_has_the_keys_and_places_of_the_usual_one(language: str) -> None:
    usual, own = files(USUAL), files(language)
    for subject, words in own.items():
        if subject in usual:  # the others are said by code, in English
            assert differs(usual[subject], words) == [], f"{subject}.{language}.json"


@pytest.mark.night
@pytest.mark.parametrize("language", WHOLE)
def test_a_release_misses_nothing_in_a_whole_language(language: str) -> None:
    """A commit may: a contributor need not know Chinese."""
    assert missing(language) == []


@pytest.mark.parametrize("language", WHOLE)
def test_words_are_in_the_order_of_the_usual_language(language: str) -> None:
    own = files(language)
    for subject, words in files(USUAL).items():
        there = own.get(subject, {})
        assert list(there) == [key for key in words if key in there], subject


def test_differing_keys_are_noticed() -> None:
    usual = {"a": "{n} runs of {b}", "b": "none"}
    assert differs(usual, {"a": "{b}: {n} Läufe", "a.few": "{n} {b}", "b.one": "eins"}) == []
    assert differs(usual, {"a": "{n} Läufe", "c": "?", "b": "{n}", "b.more": "x"}) == [
        *("a", "c", "b", "b.more")
    ]
    gone = missing("nowhere")
    assert len(gone) > 1_000
    assert any(line.startswith("static/i18n/nowhere.json: ") for line in gone)
    assert any(line.startswith("engine/words/phrases.nowhere.json: ") for line in gone)


NOBODYS = "qaa"
"""A tag that is kept for private use: no language will ever have it."""


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch) -> str:
    """A language of which not one file is there yet."""
    monkeypatch.setattr(languages, "LANGUAGES", (*LANGUAGES, NOBODYS))
    monkeypatch.setitem(NAMES, NOBODYS, "Nobody's")
    return NOBODYS


def test_a_language_without_files_is_told_in_the_usual_one(unknown: str, tmp_path: Path) -> None:
    assert language_of("qaa-AT") == unknown and language_of("qab") is None
    assert words_of("story", unknown) == words_of("story", USUAL)
    told = {"key": "entity.controller", "args": {}}
    assert story.render(told, {}, unknown) == "The controller"
    assert RequestError("busy").sentence(unknown) == RequestError("busy").sentence()
    assert Catalogue().words(unknown) == Catalogue().words(USUAL)
    scenario = library()["happy-path"]
    assert in_language(scenario, unknown) is scenario
    (tmp_path / "en.json").write_text('{"a": "one", "b": "two"}')
    (tmp_path / f"{unknown}.json").write_text('{"a": "eins"}')
    few = Catalogue(tmp_path, ())
    assert (few.text(unknown, "a", {}), few.text(unknown, "b", {})) == ("eins", "two")
    sent = json.loads(few.packed(unknown)[0])
    assert (sent["a"], sent["b"]) == ("eins", "two")


def test_untranslated_chapters_are_shown_in_the_usual_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.learn.course.LANGUAGES", (*LANGUAGES, NOBODYS))
    (first, *_) = slugs()
    assert chapter(first, NOBODYS).title == chapter(first, USUAL).title


# -- refusals -------------------------------------------------------------------------------------


class Source(NamedTuple):
    path: Path
    calls: list[ast.Call]
    """Of `RequestError`."""
    literals: set[str]


@cache
def sources() -> list[Source]:
    """What is asked of all code below, read once."""
    found = []
    for room in ("app", "engine"):
        for path in sorted((ROOT / room).rglob("*.py")):
            source = Source(path, [], set())
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "RequestError":
                    source.calls.append(node)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    source.literals.add(node.value)
            found.append(source)
    return found


def test_every_refusal_has_its_sentence_and_its_places() -> None:
    known = files(USUAL)["app/words/refusals"]
    found = 0
    for source in sources():
        for call in source.calls:
            given = {one.arg: one.value for one in call.keywords}
            if "text" in given or None in given:
                continue
            key = given.pop("key", [*call.args, None][1 if len(call.args) > 1 else 0])
            if isinstance(key, ast.Constant):
                found += 1
                where = f"{source.path.name}:{call.lineno}"
                text = known[app_words.ERROR + str(key.value)]
                places = {one[1:-1] for one in PLACE.findall(text)}
                assert places <= set(given), f"{where}: {text}"
    assert found > 100


def test_no_refusal_is_unused() -> None:
    said = set().union(*(one.literals for one in sources() if "app" in one.path.parts))
    own = {key.removeprefix(app_words.ERROR) for key in files(USUAL)["app/words/refusals"]}
    assert own - said - set(STATUS) == set()


def test_an_unknown_refusal_is_that_of_bad_input() -> None:
    assert sentence("nobody.wrote.this") == sentence("invalid")


def test_no_code_speaks_another_language() -> None:
    """Words stand in files, but for what a language calls itself."""
    for path, _, literals in sources():
        if path.name == "languages.py":
            continue
        said = [text for text in literals if HAN.search(text)]
        assert said == [], path


def test_no_word_is_declared_twice_in_a_file() -> None:
    def unique(pairs: list[tuple[str, str]]) -> dict[str, str]:
        twice = [key for key, _ in pairs if [one for one, _ in pairs].count(key) > 1]
        assert twice == [], "the second declaration hides the first"
        return dict(pairs)

    for folder in FOLDERS:
        for path in (ROOT / folder).glob("*.json"):
            json.loads(path.read_text("utf-8"), object_pairs_hook=unique)

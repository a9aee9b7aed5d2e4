"""The card at the end of every scenario of the library, in every language."""

from __future__ import annotations

import pytest

from app.core.words import Catalogue
from engine.learn.interview import questions
from engine.learn.takeaways import SAYS, takeaways
from engine.model.languages import LANGUAGES
from engine.scenarios.file import library
from engine.scenarios.translated import in_language

CODES = sorted(one.code for one in library().values())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_scenario_ends_with_an_answer_and_what_to_take_along(lang: str) -> None:
    words = Catalogue().words(lang)
    for scenario in library().values():
        card = takeaways(scenario.code)
        assert in_language(scenario, lang).teaches, scenario.code
        assert card.item.ask[lang] and len(card.item.facts[:SAYS]) == SAYS, scenario.code
        assert all(fact[lang] for fact in card.item.facts), scenario.code
        assert words[f"after.{card.topic}"], scenario.code


def test_a_run_that_proves_a_question_ends_with_it() -> None:
    proofs = {item.scenario for item in questions().values()}
    assert proofs and all(takeaways(code).proves == (code in proofs) for code in CODES)


def test_from_end_to_end_one_comes_through_the_whole_library() -> None:
    seen = []
    code = CODES[0]
    while code not in seen:
        seen.append(code)
        code = takeaways(code).next.code
    assert sorted(seen) == CODES

"""Entries of the search index: kind, name, address, title and searchable text of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from app.core import features
from app.core.search_entry import SearchEntry
from app.core.words import Catalogue
from engine.catalogue.rulebook import title_of
from engine.catalogue.sourcemap import cards
from engine.checks.catalogue import INVARIANTS
from engine.learn import claims, course, guides, interview, levels
from engine.model.configs import CATALOGUE
from engine.model.errors import all_names
from engine.model.languages import LANGUAGES, USUAL
from engine.model.profiles import FLAGS
from engine.scenarios import file
from engine.scenarios.keywords import keywords
from engine.scenarios.scenario import Scenario
from engine.scenarios.script import lessons_of
from engine.scenarios.translated import in_language

Words = Mapping[str, Mapping[str, str]]
"""The catalogue of each language."""


def _texts(words: Words, key: str, usual: str) -> dict[str, str]:
    """Return a text of the engine's own tables: English as given, the others from the catalogue."""
    return {one: usual if one == USUAL else words[one].get(key, usual) for one in LANGUAGES}


def _scenario(scenario: Scenario) -> SearchEntry:
    translated = {language: in_language(scenario, language) for language in LANGUAGES}
    comments = [lessons_of(text.script) for text in translated.values()]
    return SearchEntry(
        "scenario",
        scenario.slug,
        f"/s/{scenario.slug}",
        {language: text.title for language, text in translated.items()},
        (
            *keywords().get(scenario.code, ()),
            scenario.origin,
            *scenario.configs,
            *(fault.kind for fault in scenario.faults),
        ),
        (
            {language: text.teaches for language, text in translated.items()},
            *(dict(zip(translated, texts, strict=True)) for texts in zip(*comments, strict=False)),
        ),
        scenario.code,
    )


def _rules(words: Words) -> Iterator[SearchEntry]:
    for name, card in cards().items():
        kafka = tuple(line.text for line in (*card.kafka, *card.kip))
        lines = tuple({USUAL: line.text.strip()} for line in card.lines)
        title = _texts(words, f"rule.{name}", title_of(name))
        yield SearchEntry("rule", name, f"/glossary#{name}", title, kafka, lines, name)


def _glossary(words: Words) -> Iterator[SearchEntry]:
    usual = words[USUAL]
    for key in usual:
        if not key.startswith("term.") or f"{key}.why" not in usual:
            continue
        title, why = (
            {lang: words[lang][each] for lang in LANGUAGES} for each in (key, f"{key}.why")
        )
        name = key.removeprefix("term.")
        yield SearchEntry("term", name, f"/glossary#term-{name}", title, (), (why,))
    for name in all_names():
        if name != "NONE":
            why = {lang: words[lang].get(f"wire.{name}", "") for lang in LANGUAGES}
            yield SearchEntry("error", name, f"/glossary#{name}", {USUAL: name}, (name,), (why,))
    for config in CATALOGUE.values():
        why = _texts(words, f"config.{config.name}", config.meaning)
        url = f"/glossary#{config.name}"
        yield SearchEntry("setting", config.name, url, {USUAL: config.name}, (config.name,), (why,))
    for promise in INVARIANTS.values():
        why = _texts(words, f"invariant.{promise.name}", promise.statement)
        keys = (promise.name, promise.also)
        url = f"/glossary#{promise.name}"
        yield SearchEntry("promise", promise.name, url, {USUAL: promise.title}, keys, (why,))
    for flag in FLAGS.values():
        why = _texts(words, f"flag.{flag.name}", flag.meaning)
        url = f"/glossary#{flag.name}"
        yield SearchEntry("flag", flag.name, url, {USUAL: flag.name}, (flag.source,), (why,))


def _metrics(words: Words) -> Iterator[SearchEntry]:
    """Yield metrics of the dashboard, each in the first scenario whose keywords name it."""
    for scenario in file.library().values():
        for name in keywords().get(scenario.code, ()):
            if f"metric.{name}" in words[USUAL]:
                why = {lang: words[lang].get(f"metric.{name}", "") for lang in LANGUAGES}
                url = f"/s/{scenario.slug}?tab=metrics"
                yield SearchEntry("metric", name, url, {USUAL: name}, (), (why,))


def _learning() -> Iterator[SearchEntry]:
    for claim in claims.claims().values():
        url = f"/practice/{claim.slug}"
        keys = tuple(part.replace("-", " ") for part in dict.fromkeys((claim.slug, claim.formerly)))
        yield SearchEntry(
            "claim", claim.slug, url, claim.sentence, keys, (claim.truth,), "", claim.scenario
        )
    for item in interview.questions().values():
        said = (*item.facts, item.wrong, item.follow, item.answer)
        yield SearchEntry(
            "question", item.id, f"/practice/{item.id}", item.ask, (), said, "", item.scenario
        )
    for level in levels.levels().values():
        yield SearchEntry(
            "level", level.slug, f"/levels/{level.slug}", level.goal, (), (level.hint,)
        )
    for guide in guides.guides().values():
        titles = tuple(section.title for section in guide.sections)
        yield SearchEntry(
            "guide", guide.name, f"/read/{guide.name}", guide.title, (), (guide.lead, *titles)
        )
    for slug in course.slugs():
        chapters = {language: course.chapter(slug, language) for language in LANGUAGES}
        title = {language: chapter.title for language, chapter in chapters.items()}
        lead = {
            language: " ".join((*chapter.lead, *chapter.recap))
            for language, chapter in chapters.items()
        }
        yield SearchEntry("chapter", slug, f"/learn/{slug}/1", title, (), (lead,))


def entries() -> list[SearchEntry]:
    """Return all entries, each kind and name once."""
    catalogue = Catalogue()
    words = {lang: catalogue.words(lang) for lang in LANGUAGES}
    listed = [
        *map(_scenario, file.library().values()),
        *_rules(words),
        *_glossary(words),
        *_metrics(words),
        *_learning(),
        *(entry for module in features.searches() for entry in module.entries()),
    ]
    return list({(entry.kind, entry.name): entry for entry in reversed(listed)}.values())[::-1]


KINDS: Final = (
    "scenario",
    "term",
    "rule",
    "error",
    "setting",
    "metric",
    "claim",
    "question",
    "chapter",
    "level",
    "promise",
    "flag",
    "guide",
    *features.kinds(),
)
"""Kinds of entries; `find.kind.<kind>` of the catalogue names each."""

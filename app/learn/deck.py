"""Deck for Anki: cards with a picture and a link to their run.

Ids of decks, of the kind of note and of every note are fixed: importing a later deck keeps the
schedule and shows what has changed since.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import genanki
from flask import Blueprint, Response, request

from app.core.memoize import ComputedValues
from app.core.words import Catalogue
from app.server import visitor
from app.server.services import apart
from app.web.moments import address
from engine.export.thumbnail import whole
from engine.learn import judging
from engine.learn.claims import claims
from engine.learn.course import chapter, slugs, stand
from engine.learn.deck import CLAIM, PREDICTIONS, PracticeCard, deck
from engine.learn.interview import Item, moments, questions
from engine.learn.misconceptions import MISCONCEPTIONS, Misconception
from engine.learn.probes import best_moment, probes_of
from engine.learn.render import SUBJECT, Teller
from engine.model.languages import LANGUAGES, words_of
from engine.model.profiles import get_profile
from engine.properties.recording import MomentRecording
from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.sim.run import Run

blueprint = Blueprint("deck", __name__)

PARTS: Final = (
    "practice.kind.prediction",
    "practice.kind.interview",
    "course.title",
    "memory.deck.wrong",
    "practice.kind.claim",
)
"""The parts of the deck, by the words for them: what happens next, interview, course, what is
believed and does not hold, and sentences that are true or false."""
FIELDS: Final = ("Id", "Question", "Before", "Answer", "After", "Link")
FIRST: Final = 1_741_862_400
"""The number of the first language's kind of note; those of the deck and of its parts follow it.
Each language has the next hundred."""
STYLE: Final = """
.card { font: 18px/1.5 system-ui, sans-serif; max-width: 40em; margin: 1em auto; padding: 0 1em; }
img { width: 100%; max-width: 30em; background: #fff; border-radius: 8px; }
.said { color: #777; }
"""
_made = ComputedValues(8)


@dataclass(frozen=True, slots=True)
class DeckCard:
    """One note.  Texts are HTML; pictures are whole SVG files, "" for none; `link` is a path."""

    id: str
    part: str
    question: str
    answer: str
    link: str
    before: str = ""
    after: str = ""


def cards(lang: str, words: Catalogue) -> Iterator[DeckCard]:
    """Yield every card in one language; this plays about two hundred short runs."""
    return (card for part in PARTS for card in cards_of(part, lang, words))


def cards_of(part: str, lang: str, words: Catalogue) -> Iterator[DeckCard]:
    if part == PARTS[0]:
        for number, (code, profile, kind, _) in enumerate(PREDICTIONS, 1):
            yield _question_card(number, Run(find(code), profile), kind, lang)
    elif part == PARTS[1]:
        for item in questions().values():
            yield _of_interview(item, lang, words)
    elif part == PARTS[2]:
        for slug in slugs():
            yield from _of_chapter(slug, lang)
    elif part == PARTS[3]:
        yield from _beliefs(lang, words)
    else:
        for card in deck().values():
            if card.kind == CLAIM:
                yield _of_claim(card, lang, words)


def _beliefs(lang: str, words: Catalogue) -> Iterator[DeckCard]:
    shown: dict[tuple[str, str], list[Misconception]] = {}
    for misconception in MISCONCEPTIONS.values():
        shown.setdefault(misconception.shown_by, []).append(misconception)
    for (code, profile), beliefs in shown.items():
        recording = MomentRecording(Run(find(code), profile))
        for belief in beliefs:
            yield _of_belief(belief, recording, lang, words)


def _of_chapter(slug: str, lang: str) -> Iterator[DeckCard]:
    """Yield what a chapter asks to remember, with the last moment that it stops at."""
    translated = chapter(slug, lang)
    number = max(n for n, scene in enumerate(translated.scenes, 1) if scene.block == "moment")
    here = stand(translated.scenes[number - 1])
    after, link = _picture(here.run, here.step), f"/learn/{slug}/{number}"
    for n, (question, answer) in enumerate(translated.cards, 1):
        yield DeckCard(f"{slug}-{n}", PARTS[2], escape(question), escape(answer), link, after=after)


def _of_claim(card: PracticeCard, lang: str, words: Catalogue) -> DeckCard:
    """Return a card of a sentence; on the back its verdict, and the moment that decides it."""
    claim = claims()[card.name]
    shown, verdict = judging.shown(claim, card.profile)
    run = verdict.run(claim, shown)
    said = escape(claim.sentence[lang])
    if card.profile:
        kafka = get_profile(card.profile).stands_for
        said = escape(
            words.text(lang, "practice.under", {"kafka": kafka, "said": claim.sentence[lang]})
        )
    right = words.text(lang, f"practice.is.{str(card.right).lower()}", {})
    answer = f"<p><b>{escape(right)}</b> {escape(claim.truth[lang])}</p>"
    link = f"/practice/{card.id}"
    return DeckCard(card.id, PARTS[4], said, answer, link, after=_picture(run, verdict.step))


def _picture(run: Run, step: int) -> str:
    (found,) = Replay(run).steps(step, 1)
    return whole(found["view"])


def _question_card(number: int, run: Run, kind: str, lang: str) -> DeckCard:
    """Return a card of a question: on the back the right answer, and the others' beliefs."""
    recording = MomentRecording(run)
    probe = next(candidate for candidate in probes_of(recording) if candidate.kind == kind)
    teller = Teller(recording, lang)
    offered = [escape(teller.answer(probe, choice.answer)) for choice in probe.choices]
    choices = "".join(f"<li>{answer}</li>" for answer in offered)
    beliefs = "".join(
        f"<dt>{offered[i]} – {escape(name)}</dt><dd>{escape(why)}</dd>"
        for i, choice in enumerate(probe.choices)
        if choice.wrong
        for name, why in [teller.belief(choice.wrong[0])]
    )
    link = address("/practice/question", s=run.scenario.code, profile=run.profile, q=probe.text)
    return DeckCard(
        f"learn-{number}",
        PARTS[0],
        f"<p class=said>{escape(teller.next(probe))}</p>"
        f"<p><b>{escape(teller.question(probe))}</b></p><ol>{choices}</ol>",
        f"<p><b>{offered[probe.right]}</b> {escape(teller.reason(probe))}</p><dl>{beliefs}</dl>",
        link,
        _picture(run, probe.step),
        _picture(run, probe.until),
    )


def _of_belief(
    belief: Misconception, recording: MomentRecording, lang: str, words: Catalogue
) -> DeckCard:
    """Return a card of a claim; on the back its refutation, and the moment of a run for it.

    It shows what the claim predicts there, and what came.
    """
    texts, teller = words_of(SUBJECT, lang), Teller(recording, lang)
    probe = best_moment(recording, belief.id)
    if probe is None:
        raise LookupError(f"no question of {belief.shown_by} tempts with {belief.id}")
    about = words.text(lang, f"learn.kind.{belief.kind}", {})
    question = words.text(lang, "memory.deck.belief", {"name": texts[f"mc.{belief.id}"]})
    why = escape(texts[f"mc.{belief.id}.why"])
    if belief.until:
        kafka = get_profile(belief.until).stands_for
        why += f" {escape(words.text(lang, 'learn.until', {'what': kafka}))}"
    wrong = next(choice.answer for choice in probe.choices if belief.id in choice.wrong)
    right = probe.choices[probe.right].answer
    said = words.text(lang, "memory.deck.said", {"answer": teller.answer(probe, wrong)})
    came = words.text(lang, "learn.truth", {"answer": teller.answer(probe, right)})
    run = recording.run
    return DeckCard(
        belief.id,
        PARTS[3],
        f"<p class=said>{escape(about)}</p><p><b>{escape(question)}</b></p>",
        f"<p>{why}</p><p class=said>{escape(teller.next(probe))}</p>"
        f"<p>{escape(teller.question(probe))}</p><p>{escape(said)} <b>{escape(came)}</b></p>",
        address("/practice/question", s=run.scenario.code, profile=run.profile, q=probe.text),
        after=_picture(run, probe.until),
    )


def _of_interview(item: Item, lang: str, words: Catalogue) -> DeckCard:
    step = moments()[item.id]
    facts = "".join(f"<li>{escape(fact[lang])}</li>" for fact in item.facts)
    more = "".join(
        f"<p><b>{escape(words.text(lang, key, {}))}</b> {escape(said[lang])}</p>"
        for key, said in (
            ("interview.wrong", item.wrong),
            ("interview.follow", item.follow),
            ("interview.follow.answer", item.answer),
        )
    )
    link = f"/practice/{item.id}"
    question, answer = f"<b>{escape(item.ask[lang])}</b>", f"<ul>{facts}</ul>{more}"
    return DeckCard(item.id, PARTS[1], question, answer, link, after=_picture(item.run, step))


def package(
    site: str, lang: str, words: Catalogue, made: Iterable[DeckCard] | None = None
) -> bytes:
    """Return the deck as a file.  `site` is where its links lead: scheme and host.

    `made`: its cards, where they are there already.
    """
    number = FIRST + 100 * LANGUAGES.index(lang)
    model = _model(number, words.text(lang, "learn.open", {}))
    decks = {
        part: genanki.Deck(number + n, f"Highwater::{words.text(lang, part, {})}")
        for n, part in enumerate(PARTS, 1)
    }
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, str] = {}
        for card in cards(lang, words) if made is None else made:
            before, after = (
                _add_picture(folder, files, picture) for picture in (card.before, card.after)
            )
            link = escape(site.rstrip("/") + card.link)
            fields = [card.id, card.question, before, card.answer, after, link]
            guid = genanki.guid_for("highwater", lang, card.id)
            decks[card.part].add_note(genanki.Note(model, fields, guid=guid))
        out = BytesIO()
        genanki.Package(list(decks.values()), list(files.values())).write_to_file(out)
    return out.getvalue()


def packed(site: str, lang: str, made: list[DeckCard]) -> bytes:
    """Return the same, made by another process, where the words are read."""
    return package(site, lang, Catalogue(), made)


def drawn(part: str, lang: str) -> list[DeckCard]:
    """Return the cards of a part: all of them take longer than a worker may."""
    return list(cards_of(part, lang, Catalogue()))


def _add_picture(folder: str, files: dict[str, str], svg: str) -> str:
    """Put a picture among the files, by a name that another picture cannot have."""
    if not svg:
        return ""
    name = f"highwater-{hashlib.sha256(svg.encode()).hexdigest()[:16]}.svg"
    path = Path(folder) / name
    path.write_text(svg, "utf-8")
    files[name] = str(path)
    return f'<img src="{name}" alt="">'


def _model(number: int, onward: str) -> Any:
    side = "{{Question}}{{Before}}"
    back = "{{Answer}}{{After}}" + f'<p><a href="{{{{Link}}}}">{escape(onward)}</a></p>'
    template = {"name": "Card", "qfmt": side, "afmt": "{{FrontSide}}<hr id=answer>" + back}
    fields = [{"name": name} for name in FIELDS]
    return genanki.Model(number, "Highwater", fields=fields, templates=[template], css=STYLE)


@blueprint.get("/learn/deck.apkg")
def download() -> Response:
    """Return the deck in the language of the page, its links to this site."""
    lang, site = visitor.lang(), request.host_url

    def make() -> bytes:
        drawn_cards = [card for part in PARTS for card in apart(drawn, part, lang)]
        return apart(packed, site, lang, drawn_cards)

    made = _made.get((lang, site), make)
    response = Response(made, mimetype="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="highwater-{lang}.apkg"'
    return response

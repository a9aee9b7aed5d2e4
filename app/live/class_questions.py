"""The questions of a class about its run: what could be asked, to ask it, to answer, to close."""

from __future__ import annotations

from typing import Final

from app.core.refusals import RequestError
from app.core.request_fields import NAME_CHARS, RequestFields
from app.live.channel import sid
from app.live.classroom_registry import rooms_here
from app.live.polls import CERTAIN, Poll, PreparedQuestion
from app.live.questions import Question
from app.questions.context import Answer
from app.questions.names import digest_asked, step_asked
from app.server import visitor
from app.server.services import services
from app.web import question_view
from app.web.moments import address, frame, recorded
from app.web.question_view import GivenAnswer, given_of
from engine.learn.answers import is_there
from engine.learn.misconceptions import MISCONCEPTIONS
from engine.learn.probes import Probe, probe_at, probes_of
from engine.learn.render import Teller
from engine.model.languages import LANGUAGES
from engine.properties.recording import MomentRecording
from engine.sim.run import Run

OFFERED: Final = 6
"""Questions that a leader is offered at once."""
NUMBERS_MOST: Final = 9_999


def questions(question: Question) -> Answer:
    """Return the best questions from a step of a run on, in the order of the run.

    Where there are none any more, the best of the whole run.
    """
    fields = question.asked
    if not question.client.trusted:
        raise RequestError("forbidden")
    run = services().replays.run(digest_asked(fields))
    recording = recorded(run)
    step = step_asked(fields, run.digest, recording.turns[-1].last)
    probes = probes_of(recording)
    probes = [probe for probe in probes if probe.step >= step][:OFFERED] or probes[:OFFERED]
    teller = Teller(recording, question.client.lang)
    return {
        "run": run.digest,
        "questions": [
            {
                "probe": probe.text,
                "step": probe.step,
                "kind": probe.kind,
                "ask": teller.question(probe),
            }
            for probe in sorted(probes, key=lambda probe: probe.step)
        ],
    }


def ask(question: Question) -> Answer:
    """Put a question to a class; with ``closed`` or ``done`` end the one before it.

    Only the browser that started the class may, and only it receives the counts of answers until
    then.
    """
    fields, rooms = question.asked, rooms_here()
    if not question.client.trusted:
        raise RequestError("forbidden")
    name, owner = fields.text("room").lower(), visitor.owner()
    if fields.raw("closed") is True or fields.raw("done") is True:
        rooms.close(name, owner, done=fields.raw("done") is True)
        return {"room": name}
    run = services().replays.run(digest_asked(fields))
    recording = recorded(run)
    probe = probe_at(recording, fields.text("probe", most=60))
    return rooms.ask(name, owner, _asking(run, recording, probe)).state()


def _asking(run: Run, recording: MomentRecording, probe: Probe) -> PreparedQuestion:
    """Return a question in every language, so that sending it plays nothing again."""
    question = question_view.ViewQuestion(run, recording, probe)
    beliefs = dict.fromkeys(name for choice in probe.choices for name in choice.wrong)
    tellers = {lang: Teller(recording, lang) for lang in LANGUAGES}
    return PreparedQuestion(
        run.digest,
        run.profile,
        probe,
        question.args,
        {lang: question_view.question_json(question, teller) for lang, teller in tellers.items()},
        {
            lang: {
                "why": teller.reason(probe),
                "beliefs": {
                    name: teller.belief(name) for name in beliefs if name in MISCONCEPTIONS
                },
            }
            for lang, teller in tellers.items()
        },
    )


def asked(question: Question) -> Answer:
    """Return the question of this class, in the words of this page.

    Until the question is closed, its leader alone receives the counts of answers, and no browser
    the right one.
    """
    poll, leads = rooms_here().asked(sid())
    return _poll_json(poll, question.client.lang, leads)


def _poll_json(poll: Poll, lang: str, leads: bool) -> Answer:
    asking = poll.asking
    mine = poll.said.get(visitor.owner())
    watching = {"watch": "1"} if leads else {}
    shown: dict[str, object] = {
        **poll.state(),
        "words": asking.told[lang],
        "step": asking.probe.step,
        "stage": address("/learn/stage", **asking.stage, lang=lang, **watching),
        "mine": None if mine is None else {"text": mine.text[lang], "pupil": mine.pupil},
    }
    if leads or not poll.is_open:
        shown["histogram"] = rows = poll.histogram(lang)
        if poll.is_open:
            for row in rows:
                del row["ids"]
    if poll.is_open:
        return shown
    probe = asking.probe
    run = services().replays.run(asking.run)
    mark = "" if mine is None else question_view.guess(probe, mine.given)
    played = frame(run, probe.step, to=probe.until, guess=mark, lang=lang)
    shown |= {"stage": played, "right": probe.right, "until": probe.until}
    return {**shown, **asking.known[lang]}


def answer(question: Question) -> Answer:
    """Take a pupil's answer: ``choice``, the number of one, or ``by``, what was shown by hand.

    With ``sure``, 1 to 3, where that was said.
    """
    fields, browser = question.asked, visitor.owner()
    if not question.client.trusted:
        raise RequestError("forbidden")
    poll, _ = rooms_here().asked(sid())
    given, text = _given(fields, poll)
    number = fields.whole("n", 1, NUMBERS_MOST)
    sure = fields.whole("sure", 1, CERTAIN) if fields.has("sure") else 0
    noted = rooms_here().answer(sid(), browser, number, given, text, sure)
    return _poll_json(noted, question.client.lang, leads=False)


def _given(fields: RequestFields, poll: Poll) -> tuple[GivenAnswer, dict[str, str]]:
    """Return the answer.

    Raises `InputError` and `RequestError` for what is no answer to this question.
    """
    probe, by_language = poll.asking.probe, poll.asking.told
    number = fields.whole("choice", 0, NUMBERS_MOST) if fields.has("choice") else None
    by = "" if number is not None else fields.text("by", most=2 * NAME_CHARS)
    given = given_of(probe, number, by)
    if given is None:
        raise RequestError("invalid", what="by")
    if given.place >= 0:
        return given, {lang: by_language[lang]["choices"][given.place] for lang in LANGUAGES}
    recording = recorded(services().replays.run(poll.asking.run))
    before = recording.turns[recording.at(probe.step)].now.parts[probe.tp]
    if not is_there(probe, before, given.answer):
        raise RequestError("invalid", what="by")
    texts = {lang: Teller(recording, lang).answer(probe, given.answer) for lang in LANGUAGES}
    return given, texts

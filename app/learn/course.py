"""The course: a chapter's scenes, each a page of its own that works without scripts."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypedDict

from flask import Blueprint, redirect, render_template, request
from markupsafe import Markup, escape
from werkzeug.wrappers import Response

from app.core.refusals import RequestError
from app.learn.learning import given_answer
from app.server import visitor
from app.server.services import apart, services
from app.web.moments import MOST_LANES, address, animator, frame, recorded
from app.web.question_view import ViewQuestion, question_json, result
from engine.learn import course
from engine.learn.course import Chapter, CourseScene, Stand
from engine.learn.render import Teller
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.moves.moves import VERBS

blueprint = Blueprint("course", __name__)

MOST_CHARACTERS: Final = 4_000


class SceneMoves(TypedDict, total=False):
    """Result of the visitor's moves; only `problem` where one of them cannot be played."""

    done: bool
    used: int
    problem: str
    text: str


@lru_cache(maxsize=512)
def _stand(slug: str, language: str, number: int) -> Stand:
    return course.stand(course.chapter(slug, language).scenes[number - 1], recorded)


def marked(text: str) -> Markup:
    """Format a paragraph of a chapter: **strong**, *stressed*, `code` and lists, nothing else."""
    if text.startswith("- "):
        rows = Markup("").join(
            Markup("<li>{}</li>").format(_inline(row.removeprefix("- ")))
            for row in text.split("\n")
        )
        return Markup("<ul>{}</ul>").format(rows)
    return Markup("<p>{}</p>").format(_inline(text))


def _inline(text: str) -> Markup:
    markup = Markup("")
    for place, part in enumerate(text.split("`")):
        if place % 2:
            markup += Markup("<code>{}</code>").format(part)
        else:
            markup += _stressed(part)
    return markup


def _stressed(text: str) -> Markup:
    markup = Markup("")
    for place, part in enumerate(text.split("**")):
        inner = Markup("")
        for at, piece in enumerate(part.split("*")):
            inner += Markup("<em>{}</em>").format(piece) if at % 2 else escape(piece)
        markup += Markup("<strong>{}</strong>").format(inner) if place % 2 else inner
    return markup


@blueprint.get("/course")
def chapters() -> str:
    told = [(slug, course.chapter(slug, visitor.lang())) for slug in course.slugs()]
    return render_template("learn/chapters.html", chapters=told)


@blueprint.get("/learn/<slug>")
def first(slug: str) -> Response:
    """Redirect from a chapter to its first scene."""
    if slug not in course.slugs():
        raise RequestError("not_found")
    return redirect(address(f"/learn/{slug}/1", **visitor.lang_query()))


@blueprint.get("/learn/<slug>/<int:number>")
def scene(slug: str, number: int) -> str:
    """Render one scene, or the recap after the last scene.

    ``answer`` or ``by`` answers the question of the scene; ``moves`` plays its task.
    """
    if slug not in course.slugs():
        raise RequestError("not_found")
    chapter = course.chapter(slug, visitor.lang())
    if not 1 <= number <= len(chapter.scenes) + 1:
        raise RequestError("not_found")
    parts: dict[str, object] = {
        "scene": None,
        "told": None,
        "result": None,
        "tried": {},
        "stage": "",
    }
    if number <= len(chapter.scenes):
        parts |= _parts(slug, chapter, number)
    names = course.slugs()
    at = names.index(slug)
    return render_template(
        "learn/course.html",
        chapter=chapter,
        slug=slug,
        place=at + 1,
        number=number,
        last=len(chapter.scenes) + 1,
        after=names[at + 1] if at + 1 < len(names) else "",
        marked=marked,
        **parts,
    )


def _parts(slug: str, chapter: Chapter, number: int) -> dict[str, object]:
    scene = chapter.scenes[number - 1]
    stand = _stand(slug, visitor.lang(), number)
    services().replays.register(stand.run)
    parts: dict[str, object] = {
        "scene": scene,
        "kafka": get_profile(scene.profile).stands_for,
        "open": animator(stand.run, stand.step),
        "lanes": min(len(stand.run.scenario.partitions[0]), MOST_LANES),
    }
    if stand.probe is not None:
        return parts | _question(slug, number, stand)
    if scene.block == "do":
        return parts | _task(scene, stand)
    before = _before(slug, chapter, number)
    shown = address(
        "/learn/stage", c=slug, scene=str(number), since=str(before), lang=visitor.lang()
    )
    return parts | {"stage": shown}


def _before(slug: str, chapter: Chapter, number: int) -> int:
    """Return the step from which a scene is played: that of the previous scene in the same run.

    Without such a scene, it is the step of the scene itself.
    """
    if number < 2:
        return 0
    here, before = (_stand(slug, visitor.lang(), place) for place in (number, number - 1))
    return before.step if before.run == here.run and before.step < here.step else here.step


def _question(slug: str, number: int, stand: Stand) -> dict[str, object]:
    assert stand.probe is not None
    question = ViewQuestion(stand.run, recorded(stand.run), stand.probe)
    teller = Teller(question.recording, visitor.lang())
    given = given_answer(question)
    after = f"/learn/{slug}/{number + 1}"
    return {
        "told": question_json(question, teller),
        "asked": question.args,
        "result": None if given is None else result(question, teller, given, after),
        "stage": address("/learn/stage", **question.args, lang=visitor.lang()),
    }


def _task(scene: CourseScene, stand: Stand) -> dict[str, object]:
    text = request.args.get("moves", "")[:MOST_CHARACTERS]
    if "show" in request.args:
        text = "\n".join(scene.solution)
    tried = SceneMoves(text=text)
    stage = frame(stand.run, stand.step)
    lines = tuple(line.strip() for line in text.splitlines() if line.strip())
    if lines:
        try:
            if len(lines) > course.MOST_MOVES:
                raise InputError("too_large", "At most {0} moves may be tried.", course.MOST_MOVES)
            done, run, step = apart(course.done, scene, lines)
            tried |= {"done": done, "used": len(lines)}
            stage = frame(run, stand.step, to=step)
        except InputError as bad:
            tried["problem"] = bad.sentence
    return {"tried": tried, "stage": stage, "verbs": sorted(VERBS)}


def stage_of(slug: str, number: int) -> Stand:
    """Return where a scene's stage stands.  Raises RequestError where there is no such scene."""
    if slug not in course.slugs():
        raise RequestError("not_found")
    if not 1 <= number <= len(course.chapter(slug, visitor.lang()).scenes):
        raise RequestError("not_found")
    return _stand(slug, visitor.lang(), number)

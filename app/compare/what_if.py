"""Page of "What if a broker dies now?": a matrix at a step, with a run behind each cell."""

from __future__ import annotations

from flask import Blueprint, render_template, request, url_for

from app.core.request_fields import typed
from app.questions.what_if import Matrix, MatrixColumn, matrix
from app.server import visitor
from app.web.naming import run_named
from app.web.questioning import question_context
from engine.scenarios.translated import in_language

blueprint = Blueprint("what_if", __name__)

SIGNS = {"writes": "✔", "moves": "✔", "refused": "▲", "offline": "✖", "risk": "!"}


@blueprint.get("/r/<digest>/whatif")
def page(digest: str) -> str:
    """Render the table; ``?step=`` is where the brokers die, else the end.

    ``?part=1`` gives the table alone.
    """
    run_named(digest)
    step = typed(request.args, "step") if request.args.get("step") else None
    answer = matrix(question_context(), digest, step)
    template = "compare/what_if_table.html" if "part" in request.args else "compare/what_if.html"
    return render_template(
        template,
        title=in_language(answer.run.scenario, visitor.lang()).title,
        back=url_for("pages.run", digest=digest, step=answer.step),
        step=answer.step,
        columns=[_linked(column, answer) for column in answer.columns],
        rows=answer.rows,
        full=answer.full,
        signs=SIGNS,
    )


class LinkedColumn(MatrixColumn):
    href: dict[int, str]


def _linked(column: MatrixColumn, answer: Matrix) -> LinkedColumn:
    """Return the head of a column with the address of its run for each partition."""
    digest, step = column["run"], answer.step
    href = {
        tp: url_for("pages.run", digest=digest, step=step, p=tp or None, size="story", play=1)
        for tp in answer.partitions
    }
    return {**column, "href": href}

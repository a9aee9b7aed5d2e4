"""``highwater find``: ranked search over scenarios, rules, terms, claims and questions."""

from __future__ import annotations

import sys

import click

from app.command.options import AS_JSON, plain, tell
from engine.model.languages import LANGUAGES, USUAL, language_of, short

DEFAULT_LIMIT = 8
MAX_LIMIT = 40


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--kind", "kinds", multiple=True, help="Only this kind, such as scenario or rule.")
@click.option(
    "--limit", type=click.IntRange(1, MAX_LIMIT), default=DEFAULT_LIMIT, show_default=True
)
@click.option(
    "--lang", type=click.Choice([short(tag) for tag in LANGUAGES]), default=USUAL, show_default=True
)
@AS_JSON
@plain
def find(
    words: tuple[str, ...], kinds: tuple[str, ...], limit: int, lang: str, as_json: bool
) -> None:
    """Search for WORDS: the title of a bug report, an error, a setting, a log line.

    \b
    highwater find "GC pause"
    highwater find KAFKA-6361
    highwater find NotEnoughReplicasException --kind scenario

    Exit code 0 if something was found, else 1, with other words to try.
    """
    from app.find.answers import known_kinds, results
    from app.find.entries import KINDS
    from engine.model.errors import InputError

    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        names = ", ".join(KINDS)
        raise InputError("unknown", f"There is no kind {unknown[0][:40]}; known are {names}.")
    answer = results(" ".join(words), language_of(lang) or USUAL, known_kinds(list(kinds)), limit)
    if as_json:
        tell(answer)
    else:
        for was, now in answer["read"].items():
            click.echo(f"Searched for {now} instead of {was}.")
        for hit in answer["hits"]:
            click.echo(f"{hit['kind']:<9} {hit['code'] or hit['name']}: {hit['title']}")
            click.echo(f"{'':<9} {hit['url']} ({', '.join(hit['matched'])})")
        if not answer["hits"]:
            click.echo(f"Nothing matches {answer['query']}. Try: {', '.join(answer['near'])}.")
    sys.exit(0 if answer["hits"] else 1)

"""``highwater learn``: what there is to remember, as a file."""

from __future__ import annotations

from pathlib import Path

import click

from app.command.options import plain, refuse
from engine.model.languages import LANGUAGES, USUAL, language_of, short


@click.group()
def learn() -> None:
    """Take what there is to learn out of the browser."""


@learn.command("deck")
@click.argument("out", type=click.Path(dir_okay=False))
@click.option(
    "--lang", type=click.Choice([short(tag) for tag in LANGUAGES]), default=USUAL, show_default=True
)
@click.option(
    "--site",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="Address of the site that its links open.",
)
@plain
def deck(out: str, lang: str, site: str) -> None:
    """Write a deck for Anki (OUT.apkg); its cards have a picture and a link to their run.

    Importing a later deck updates the notes and does not change your schedule.
    """
    from app.core.words import Catalogue
    from app.learn.deck import package

    if not site.startswith(("http://", "https://")):
        refuse(f"--site is an address like https://example.org, and {site[:80]} is none.")
    content = package(site, language_of(lang) or USUAL, Catalogue())
    try:
        Path(out).write_bytes(content)
    except OSError as error:
        refuse(f"{out} cannot be written: {(error.strerror or 'unknown reason').lower()}.")
    click.echo(f"{out}: {len(content) / 1e6:.1f} MB; in Anki: File, Import.")

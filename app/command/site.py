"""``highwater site``: the playground as a folder of static files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from app.command.options import AS_JSON, plain, refuse, tell


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--base", default="", help="Address of the site, such as https://me.github.io/hw.")
@click.option("--lang", "langs", default="en,zh", show_default=True, help="Languages of the pages.")
@click.option(
    "--pyodide",
    type=click.Path(path_type=Path),
    help="Folder of the npm package pyodide [fetched through npm].",
)
@click.option("--jobs", type=click.IntRange(1, 64), help="Processes that play runs [one per core].")
@AS_JSON
@plain
def site(
    out: Path, base: str, langs: str, pyodide: Path | None, jobs: int | None, as_json: bool
) -> None:
    """Write the playground as a static site into the folder OUT.

    The command renders the pages and plays the library.  In the browser, the same engine plays
    further moves.  Batches, classes and short links need a server; the pages say so.
    """
    from app.site.building import build_site, languages
    from app.site.pyodide import MissingFilesError

    if out.exists() and (not out.is_dir() or any(out.iterdir())) and not _is_site(out):
        refuse(f"{out} is not empty and no site of Highwater: name a new folder.")
    if base and not base.startswith(("http://", "https://")):
        refuse(f"--base {base} is no address: it begins with http:// or https://.")
    try:
        chosen = languages(langs)
        report = build_site(out, chosen, base, pyodide, jobs or 0, _progress(as_json))
    except (MissingFilesError, ValueError) as problem:
        refuse(str(problem))
    except OSError as error:
        refuse(f"{error.filename or out} cannot be written: {error.strerror}.")
    built: dict[str, object] = {"out": str(out), **vars(report)}
    if as_json:
        tell(built)
        return
    click.echo(
        f"{out}: {report.pages} pages, {report.runs} runs, {report.files} files, "
        f"{report.bytes / 1e6:.1f} MB; the engine loads {report.loaded_bytes / 1e6:.1f} MB."
    )
    click.echo(f"Look at it: python3 -m http.server -d {out}")


def _is_site(out: Path) -> bool:
    return (out / "places.js").is_file()


def _progress(quiet: bool) -> Any:
    return lambda text: None if quiet else click.echo(f"{text} …", err=True)

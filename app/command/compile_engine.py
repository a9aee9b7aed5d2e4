"""``highwater compile``: the engine as C, once for a state of the sources."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from app.command.options import AS_JSON, CANCELLED, plain, refuse, tell


@click.command("compile")
@click.option("--remove", is_flag=True, help="Remove every build of this user instead.")
@AS_JSON
@plain
def compile_engine(remove: bool, as_json: bool) -> None:
    """Compile the engine: batches and searches run two to four times as fast, with equal bytes.

    It takes about a minute and needs a C compiler.  Both engines play the library before the new
    one is used; processes that start later use it.  HIGHWATER_PURE=1 uses the sources.  Ctrl+C
    cancels the build and changes nothing.

    Exit code 0, or 1 if the build failed.
    """
    from app.compiled import build
    from app.core import compiled_engine

    if remove:
        _remove()
        return
    here = compiled_engine.built()
    if here is None:
        if reason := build.why_not():
            refuse(str(reason))
        click.echo(f"This takes about {build.USUAL_CPU_S} seconds of a processor.", err=True)
    try:
        place = build.build(_progress(as_json))
    except build.CompileError as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        click.echo("Cancelled: nothing was changed.", err=True)
        sys.exit(CANCELLED)
    if as_json:
        tell({"schema": 1, "folder": str(place), "built": here is None})
    else:
        click.echo(f"The compiled engine stands in {place}.")


def _remove() -> None:
    import shutil

    from app.core import compiled_engine

    folder = compiled_engine.builds()
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        refuse(f"{folder} cannot be removed.")
    click.echo(f"{folder} is gone; the engine's sources are played.")


def _progress(quiet: bool) -> Callable[[str, float], None]:
    """Return what tells each tenth of a phase once."""
    said: set[str] = set()

    def progress(phase: str, share: float) -> None:
        line = f"{phase} … {int(share * 10) * 10} %" if share else f"{phase} …"
        if line not in said and not quiet:
            click.echo(line, err=True)
        said.add(line)

    return progress

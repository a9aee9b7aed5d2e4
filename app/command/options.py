"""Options, refusals and JSON output shared by the subcommands of `highwater`."""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn, ParamSpec

import click

from app.core import config

P = ParamSpec("P")
BAD_INPUT = 2
CANCELLED = 130
AS_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")


def refuse(sentence: str) -> NoReturn:
    click.echo(sentence, err=True)
    sys.exit(BAD_INPUT)


def plain(command: Callable[P, None]) -> Callable[P, None]:
    """Turn errors that the user can fix into one sentence and exit code 2."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from app.core.refusals import located
        from engine.model.errors import InputError

        try:
            command(*args, **kwargs)
        except InputError as error:
            refuse(located(error))
        except config.SettingError as error:
            refuse(str(error))
        except ModuleNotFoundError as error:
            package = (error.name or "").split(".")[0]
            if not (extra := extra_of(package)):
                raise
            refuse(f"This needs the Python package {package}: pip install 'highwater[{extra}]'.")

    return run


def extra_of(package: str) -> str:
    """Return the smallest extra of the project that installs a package, or "" if none does."""
    extras = defaultdict(set)
    try:
        lines = importlib.metadata.requires("highwater") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    for line in lines:
        match = re.match(r"([A-Za-z0-9._-]+).*; extra == ['\"]([a-z]+)['\"]", line)
        if match:
            extras[match[2]].add(match[1].lower())
    found = [name for name, packages in extras.items() if package.lower() in packages]
    return min(found, key=lambda name: len(extras[name]), default="")


def tell(data: Any) -> None:
    click.echo(json.dumps(data, ensure_ascii=False, indent=1))

"""Options, refusals and JSON output shared by the subcommands of `highwater`."""

from __future__ import annotations

import json
import sys
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

    return run


def tell(data: Any) -> None:
    click.echo(json.dumps(data, ensure_ascii=False, indent=1))

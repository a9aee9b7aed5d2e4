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

from app import bootstrap
from app.core import config, installing
from app.core.request_fields import SEED_MAX

P = ParamSpec("P")
BAD_INPUT = 2
CANCELLED = 130


def complete_scenario(_ctx: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the names in the library that begin so, for completion in a shell."""
    from engine.scenarios.file import library

    names = [
        name for scenario in library().values() for name in (scenario.code, scenario.slug) if name
    ]
    return [name for name in names if name.casefold().startswith(begun.casefold())]


def complete_release(_ctx: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the releases that begin so; in a list separated by commas, its last one."""
    from engine.model.profiles import ADDRESSES, PROFILES

    before, comma, last = begun.rpartition(",")
    return [before + comma + name for name in (*ADDRESSES, *PROFILES) if name.startswith(last)]


SCENARIO = click.argument("scenario", shell_complete=complete_scenario)
RELEASE = click.option(
    "--kafka",
    "--profile",
    "profile",
    shell_complete=complete_release,
    help="Kafka release or profile, such as 3.9.1, latest or K39+elr [the scenario's first].",
)
RELEASES = click.option(
    "--kafka",
    "--profiles",
    "profiles",
    shell_complete=complete_release,
    help="Kafka releases or profiles, separated by commas [those of the scenario].",
)


def seed_option(help: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    kind = click.IntRange(0, SEED_MAX)
    return click.option("--seed", type=kind, default=0, metavar="N", help=help)


MASTERS = re.compile(r"local(\[.+\])?|local-cluster\[.+\]|(spark|sc|k8s)://.+|yarn")


def _master(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> str | None:
    if given is not None and not MASTERS.fullmatch(given):
        raise click.BadParameter(
            "a master is local[4], spark://host:7077, sc://host:15002, k8s://host or yarn."
        )
    return given


MASTER = click.option(
    "--master",
    callback=_master,
    help="Spark: local[4], spark://host:7077, k8s://host, yarn, or sc://host:15002 (Connect).",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")


def refuse(sentence: str) -> NoReturn:
    click.echo(sentence, err=True)
    sys.exit(BAD_INPUT)


def plain(command: Callable[P, None]) -> Callable[P, None]:
    """Turn errors that the user can fix into one sentence and exit code 2."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from app.core.refusals import RequestError, located
        from engine.model.errors import InputError

        try:
            command(*args, **kwargs)
        except InputError as error:
            refuse(located(error))
        except (RequestError, config.SettingError) as error:
            refuse(str(error))
        except ModuleNotFoundError as error:
            package = (error.name or "").split(".")[0]
            if package in installing.MODULES:
                bootstrap.ensure("app")
            if not (extra := extra_of(package)):
                raise
            refuse(f"This needs the Python package {package}: pip install 'highwater[{extra}]'.")

    return run


def comma_separated(text: str | None) -> list[str]:
    """Return the words of a list with commas, without empty ones."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


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
    names = [name for name, packages in extras.items() if package.lower() in packages]
    return min(names, key=lambda name: len(extras[name]), default="")


def tell(data: Any) -> None:
    click.echo(json.dumps(data, ensure_ascii=False, indent=1))

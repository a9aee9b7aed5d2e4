"""Features: parts of the playground that are a row of one table, and folders of their name.

A row names what the rest takes from a feature.  Its other files are found by its name:
`engine/<name>/`, `templates/<name>/`, `static/js/<name>/`, `static/css/<name>.css` and
`static/i18n/<name>.*.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any, Final, NamedTuple

PLAY: Final = "Play"
MEASURE: Final = "Measure"
YOURS: Final = "Your cluster"
DEVELOP: Final = "Develop"


class Command(NamedTuple):
    """A function of the module of its name in `app.command`, and its line of the help."""

    section: str
    summary: str
    name: str = ""
    """The feature's, unless it says another."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature: its modules below `app.<name>` that have a `blueprint`, its command, its search.

    A page has FILES_PATH if one of its addresses takes files.
    """

    name: str
    pages: str = ""
    """Modules, separated by spaces, of pages that a tab has, too."""
    served: str = ""
    """The same of pages that need a server: the database, Spark, or the sockets of a class."""
    command: Command | None = None
    kinds: Mapping[str, float] = field(default_factory=dict)
    """Kind of the entries of `search.entries` -> how likely one is what is looked for."""


CORE: Final = (
    Feature("server", "bundler", "metrics openapi"),
    Feature(
        "web",
        "pages home library loop api embeds exporting link_preview shortening",
        "class_page coverage",
    ),
)
"""Rows of the core: they have pages only, and cannot be deleted."""

FEATURES: Final = (
    Feature("find", "pages", "", Command(PLAY, "Search for words, an error or a log line.")),
    Feature("editor", "pages"),
    Feature("explore", "pages"),
    Feature("compare", "pages what_if"),
    Feature("lens", "pages"),
    Feature(
        "learn",
        "glossary learning question_stage course practice property levels reading",
        "deck",
        Command(PLAY, "Export flash cards and questions."),
    ),
    Feature("recordings", "page api"),
    Feature("cluster", "pages", "", Command(YOURS, "Make a run of what Kafka's tools print.")),
    Feature("incident", "pages", "", Command(YOURS, "Reconstruct an outage from brokers' files.")),
    Feature(
        "upgrade",
        "pages",
        "",
        Command(YOURS, "List the bugs that an upgrade fixes."),
        kinds={"bug": 0.6},
    ),
    Feature("batch", "", "pages study_pages csv_tables failed_run"),
    Feature(
        "advisor",
        "",
        "pages",
        Command(MEASURE, "Estimate how often settings lose records.", "advise"),
    ),
    Feature(
        "hunt", "pages", command=Command(MEASURE, "Storm the newest releases, explain breaks.")
    ),
    Feature("compiled", "", "pages"),
    Feature("python_api", "", "pages"),
    Feature(
        "refinement", command=Command(DEVELOP, "Compare a run with the published model.", "refine")
    ),
    Feature("site", command=Command(DEVELOP, "Write the playground as a static site.")),
)

ROWS: Final = (*CORE, *FEATURES)


def pages() -> list[ModuleType]:
    """Return the modules of pages that a server and a tab have alike."""
    return [_module(f"{row.name}.{name}") for row in ROWS for name in row.pages.split()]


def served() -> list[ModuleType]:
    """Return the modules of pages that a server alone has."""
    return [_module(f"{row.name}.{name}") for row in ROWS for name in row.served.split()]


def commands() -> Iterator[tuple[Command, Any]]:
    for feature in FEATURES:
        if feature.command is not None:
            name = feature.command.name or feature.name
            yield feature.command, getattr(_module(f"command.{name}"), name)


def searches() -> Iterator[ModuleType]:
    """Yield the modules with `entries()` for the search index."""
    for feature in FEATURES:
        if feature.kinds:
            yield _module(f"{feature.name}.search")


def kinds() -> dict[str, float]:
    """Return the kinds of these entries, each with its likelihood."""
    return {kind: prior for feature in FEATURES for kind, prior in feature.kinds.items()}


def _module(name: str) -> ModuleType:
    """Import a module of `app`, which a wheel calls otherwise."""
    return import_module(f"..{name}", __package__)

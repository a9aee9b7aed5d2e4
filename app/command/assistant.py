"""``highwater mcp``: the playground for assistants, over the Model Context Protocol.

A run is named the way a person would name it (scenario, version of Kafka, seed, moves), so no
state is kept between two questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from app.find.answers import Results, results, slugs
from app.python_api import runs, studies
from engine.model.errors import InputError
from engine.model.languages import USUAL
from engine.view.wire import PartitionView

STEPS_MOST = 60
"""Steps per response, which should fit into the context of an assistant."""
RUNS_MOST = 2_000
PARTS_MOST = 8
FOUND_MOST = 20
INSTRUCTIONS = (
    "Plays Kafka's replication protocol deterministically, under any version, and says what "
    "happened. Find a scenario, play it under a version, look at its steps, ask why something "
    "does not happen, compare versions, count over many seeds, and hand the person the link."
)


def _run(scenario: str, kafka: str, seed: int, moves: list[str] | None) -> runs.Run:
    return runs.run(scenario, kafka, seed, moves)


def find_scenarios(words: str = "") -> list[dict[str, str]]:
    """Return scenarios of the library that match these words, best first; "" for the first ones.

    words: a question, an issue (KAFKA-6361), a KIP, an error, a setting, a metric, a log line.
    """
    if not words.strip():
        return runs.scenarios()[:FOUND_MOST]
    known = {one["slug"]: one for one in runs.scenarios()}
    found = [known[slug] for slug in slugs(words)]
    if not found:
        near = ", ".join(results(words, USUAL)["near"]) or "find, which knows more than scenarios"
        raise InputError("unknown", f"No scenario matches {words[:80]}. Try: {near}.")
    return found[:FOUND_MOST]


def find(words: str, limit: int = 8) -> Results:
    """Find scenarios, rules, terms, errors, settings, claims and interview questions.

    The best matches come first, with their links; where nothing matches, words to try.
    """
    return results(words, USUAL, limit=min(max(1, limit), FOUND_MOST))


def kafka_versions() -> dict[str, str]:
    """Return the versions of Kafka that can be played, with the releases each stands for."""
    return runs.versions()


def play(
    scenario: str, kafka: str = "", seed: int = 0, moves: list[str] | None = None
) -> dict[str, object]:
    """Play a run to its end: whether every invariant holds, what broke where, what was lost.

    moves replace the scenario's script, one command each ("produce m1", "kill A", "settle").
    """
    run = _run(scenario, kafka, seed, moves)
    return {
        "title": run.title,
        "kafka": run.kafka,
        "steps": len(run),
        "holds": run.holds,
        "lost": run.lost,
        "broken": [vars(one) for one in run.broken],
        "moves": list(run.moves),
        "link": run.link(),
    }


def look(
    scenario: str,
    step: int,
    count: int = 10,
    kafka: str = "",
    seed: int = 0,
    moves: list[str] | None = None,
) -> dict[str, object]:
    """Describe `count` steps from `step` on in sentences, and the logs after the last."""
    run = _run(scenario, kafka, seed, moves)
    first = min(max(0, step), len(run) - 1)
    told = run[first : first + min(max(1, count), STEPS_MOST)]
    return {
        "of": len(run) - 1,
        "steps": [str(one) for one in told],
        "partitions": [_logs(part) for part in told[-1].view["partitions"]],
        "link": run.link(step=first),
    }


def _logs(part: PartitionView) -> Mapping[str, object]:
    record = part["record"]
    return {
        "partition": part["name"],
        "leader": record["leader"],
        "isr": record["isr"],
        "replicas": {
            broker: {
                "leo": replica["leo"],
                "hw": replica["hw"],
                "epochs": replica["epochs"],
                "records": " ".join(
                    f"{one['id']}@{one['o']}(e{one['e']})"
                    for one in replica["records"][-STEPS_MOST:]
                ),
            }
            for broker, replica in part["replicas"].items()
        },
    }


def why_not(
    scenario: str,
    step: int,
    subject: str,
    kafka: str = "",
    seed: int = 0,
    moves: list[str] | None = None,
) -> str:
    """Explain why something does not happen at a step, and which move would help.

    subject: "hw B" (why does the high watermark of B not rise), "isr B", "ack RECORD", "leader B",
    or "move LINE".
    """
    run = _run(scenario, kafka, seed, moves)
    return str(run.why(min(max(0, step), len(run) - 1), subject))


def compare(scenario: str, kafka: str, other: str, seed: int = 0) -> dict[str, object]:
    """Compare a script under two versions of Kafka: where they diverge, and how each ends."""
    found = _run(scenario, kafka, seed, None).compare(other)
    return {
        "parts": [
            {"steps": [mine, theirs], "what": [list(one) for one in what]}
            for mine, theirs, what in found.parts[:PARTS_MOST]
        ],
        kafka: {"holds": found.one.holds, "lost": found.one.lost},
        other: {"holds": found.other.holds, "lost": found.other.lost},
    }


def study(
    scenario: str, count: int = 200, kafka: list[str] | None = None, seed: int = 0
) -> list[dict[str, object]]:
    """Play many seeds and count what broke, each share with its 95 % interval."""
    if not 1 <= count <= RUNS_MOST:
        raise InputError("invalid", f"A study here has 1 to {RUNS_MOST} runs.")
    found: studies.Study = studies.study(scenario, count, kafka or (), seed)
    return [{**row} for row in found.table()]


TOOLS = (find_scenarios, find, kafka_versions, play, look, why_not, compare, study)


def server() -> MCPServer:
    """Return the server with its tools; each is a function of this module."""
    made = MCPServer("highwater", instructions=INSTRUCTIONS)
    for tool in TOOLS:
        made.add_tool(_as_tool(tool))
    return made


def _as_tool(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Return the sentence of bad input as a result; other errors stay errors."""

    @wraps(tool)
    def asked(*given: Any, **named: Any) -> Any:
        try:
            return tool(*given, **named)
        except (InputError, ValueError) as error:
            raise ToolError(str(error)) from None

    return asked


def serve() -> None:
    """Serve standard input and output until they close."""
    server().run("stdio")

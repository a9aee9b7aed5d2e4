"""``highwater mcp``: the playground for assistants, over the Model Context Protocol.

A run is named the way a person would name it (scenario, version of Kafka, seed, moves), so no
state is kept between two questions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib.metadata import version
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from app.find.answers import results, slugs
from app.python_api import clusters, runs, searches, studies
from app.python_api.steps import Broken
from engine.catalogue.rulebook import title_of
from engine.checks.catalogue import INVARIANTS
from engine.explore.question import LAST
from engine.model.errors import InputError
from engine.model.languages import USUAL
from engine.story.rules import RULEBOOK
from engine.study.batch import broken_in
from engine.view.wire import PartitionView

STEPS_MOST = 60
"""Steps per response, which should fit into the context of an assistant."""
RUNS_MOST = 2_000
STATES_MOST = 5_000
"""States of a search, about ten seconds of them."""
FOUND_MOST = 20
PASTED_MOST = 1_000_000
"""Characters of a paste."""
SERVER = "http://localhost:8000"
INSTRUCTIONS = (
    "Plays Kafka's replication protocol deterministically, under any version, and says what "
    "happened. Find a scenario, or paste the state or the logs of a cluster; play the run under a "
    "version, look at its steps, ask why something does not happen, compare versions, count over "
    "many seeds, search every future, and hand the person the link. Where a tool wants a scenario, "
    "it takes a name of find_scenarios, or the text of a run that another tool returned."
)
READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""No tool stores, sends or opens anything, and the same question has the same answer."""


@dataclass
class PageHit:
    """Kind, name and title of a page, and its address."""

    kind: str
    name: str
    title: str
    link: str


@dataclass
class ScenarioHit:
    """A scenario of the library; `code` or `slug` names it in other tools."""

    code: str
    slug: str
    title: str
    teaches: str


@dataclass
class HitsAnswer:
    """The best matches; where there are none, words to try."""

    hits: list[PageHit]
    near: list[str]


@dataclass
class RunAnswer:
    """The end of a run: what was promised to clients and became of it, and what broke where."""

    title: str
    kafka: str
    verdict: str
    holds: bool
    lost: list[str]
    broken: list[Broken]
    steps: int
    moves: list[str]
    link: str


@dataclass
class ReplicaLog:
    """The log of a replica; `records` as name@offset(leader epoch)."""

    broker: str
    leo: int
    hw: int
    records: str


@dataclass
class PartitionLogs:
    """A partition: its leader, ISR and the logs of its replicas."""

    partition: str
    leader: int
    isr: list[int]
    replicas: list[ReplicaLog]


@dataclass
class StepsAnswer:
    """Steps in sentences, and the partitions after the last of them; `last` ends the run."""

    last: int
    steps: list[str]
    partitions: list[PartitionLogs]
    link: str


@dataclass
class ComparisonAnswer:
    """A script under two versions: in sentences, and how each ends."""

    summary: str
    one: RunAnswer
    other: RunAnswer


@dataclass
class StudyAnswer:
    """A study: a sentence a version, counts with 95 % intervals, and links of runs that lost."""

    summary: str
    counts: list[BrokenCount]
    losses: list[str]


@dataclass
class BrokenCount:
    """Runs of a version that broke an invariant; "any" counts those that broke one or more."""

    kafka: str
    runs: int
    invariant: str
    title: str
    hits: int
    low: float
    high: float


@dataclass
class FuturesAnswer:
    """A search: how far it looked and what can break, in sentences, with runs to play."""

    complete: bool
    states: int
    summary: list[str]
    runs: dict[str, str]


@dataclass
class ClusterAnswer:
    """A pasted cluster: findings, the worst first; `run` is the text of a run that begins in it."""

    findings: list[str]
    assumed: list[str]
    unread: list[str]
    run: str
    link: str


@dataclass
class IncidentAnswer:
    """A reconstructed incident: what clients saw, the events, and `run`, the text of its run."""

    partition: str
    verdict: list[str]
    events: list[str]
    finding: str
    notes: list[str]
    run: str
    link: str


def find_scenarios(words: str = "") -> list[ScenarioHit]:
    """Return scenarios of the library that match these words, best first; "" for the first ones.

    words: a question, an issue (KAFKA-6361), a KIP, an error, a setting, a metric, a log line.
    """
    hits = {scenario["slug"]: ScenarioHit(**scenario) for scenario in runs.scenarios()}
    if not words.strip():
        return list(hits.values())[:FOUND_MOST]
    named = [hits[slug] for slug in slugs(words)]
    if not named:
        near = ", ".join(results(words, USUAL)["near"]) or "find, which knows more than scenarios"
        raise InputError("unknown", f"No scenario matches {words[:80]}. Try: {near}.")
    return named[:FOUND_MOST]


def find(words: str, limit: int = 8) -> HitsAnswer:
    """Find scenarios, rules, terms, errors, settings, claims and interview questions.

    The best matches come first, with their links; where nothing matches, words to try.
    """
    answer = results(words, USUAL, limit=min(max(1, limit), FOUND_MOST))
    hits = [
        PageHit(hit["kind"], hit["name"], hit["title"], SERVER + hit["url"])
        for hit in answer["hits"]
    ]
    return HitsAnswer(hits, answer["near"])


def kafka_versions() -> dict[str, str]:
    """Return the versions of Kafka that can be played, with the releases each stands for."""
    return runs.versions()


def moves() -> dict[str, str]:
    """Return how each move is written, and what it does: commands for the moves of other tools."""
    return runs.moves()


def play(
    scenario: str, kafka: str = "", seed: int = 0, moves: list[str] | None = None
) -> RunAnswer:
    """Play a run to its end: whether every invariant holds, what broke where, what was lost.

    moves replace the scenario's script, one command each ("produce m1", "kill A", "settle").
    """
    return _ending(runs.run(scenario, kafka, seed, moves))


def _ending(run: runs.Run) -> RunAnswer:
    return RunAnswer(
        run.title,
        run.kafka,
        run.verdict,
        run.holds,
        run.lost,
        run.broken,
        len(run),
        list(run.moves),
        run.link(SERVER),
    )


def look(
    scenario: str,
    step: int,
    count: int = 10,
    kafka: str = "",
    seed: int = 0,
    moves: list[str] | None = None,
) -> StepsAnswer:
    """Describe `count` steps from `step` on in sentences, and the logs after the last.

    A negative step counts from the end.
    """
    run = runs.run(scenario, kafka, seed, moves)
    first = runs.step_number(run, step)
    seen = run[first : first + min(max(1, count), STEPS_MOST)]
    return StepsAnswer(
        len(run) - 1,
        [str(shown) for shown in seen],
        [_logs(part) for part in seen[-1].view["partitions"]],
        run.link(SERVER, first),
    )


def _logs(part: PartitionView) -> PartitionLogs:
    record = part["record"]
    logs = [
        ReplicaLog(
            broker,
            replica["leo"],
            replica["hw"],
            " ".join(
                f"{written['id']}@{written['o']}(e{written['e']})"
                for written in replica["records"][-STEPS_MOST:]
            ),
        )
        for broker, replica in part["replicas"].items()
    ]
    return PartitionLogs(part["name"], record["leader"], record["isr"], logs)


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
    run = runs.run(scenario, kafka, seed, moves)
    return str(run.why(step, subject))


def compare(
    scenario: str, kafka: str, other: str, seed: int = 0, moves: list[str] | None = None
) -> ComparisonAnswer:
    """Compare a script under two versions of Kafka: where they part, and how each ends."""
    comparison = runs.run(scenario, kafka, seed, moves).compare(other)
    return ComparisonAnswer(str(comparison), _ending(comparison.one), _ending(comparison.other))


def study(
    scenario: str, count: int = 200, kafka: list[str] | None = None, seed: int = 0
) -> StudyAnswer:
    """Play many seeds: in how many an acknowledged record is lost, with 95 % intervals."""
    if not 1 <= count <= RUNS_MOST:
        raise InputError("invalid", f"A study here has 1 to {RUNS_MOST} runs.")
    result = studies.study(scenario, count, kafka or (), seed)
    counts = [
        BrokenCount(
            row["kafka"],
            row["runs"],
            row["invariant"],
            _title(row["invariant"]),
            row["hits"],
            row["low"],
            row["high"],
        )
        for row in result.table()
    ]
    return StudyAnswer(str(result), counts, [run.link(SERVER) for run in result.failures("I7")[:3]])


def _title(invariant: str) -> str:
    known = INVARIANTS.get(broken_in(invariant))
    return "at least one of them" if known is None else known.title


def explore(
    scenario: str,
    step: int = LAST,
    kafka: str = "",
    seed: int = 0,
    moves: list[str] | None = None,
    crashes: int = 1,
    power: int = 0,
    cuts: int = 0,
    writes: int = 1,
    never: str = "",
    reach: str = "",
    states: int = 2_000,
) -> FuturesAnswer:
    """Search every future of a step with at most these numbers of crashes and other faults.

    never: invariants to break, such as "I7" (a promised record is lost); "" for any.
    reach: a property to reach instead, such as "two leaders".
    """
    if not 1 <= states <= STATES_MOST:
        raise InputError("invalid", f"A search here has 1 to {STATES_MOST} states.")
    budgets = {"crashes": crashes, "power": power, "cuts": cuts, "writes": writes}
    run = runs.run(scenario, kafka, seed, moves)
    futures = searches.explore(run, step, never, reach, states, **budgets)
    ways = {name: way.text for name, way in futures.found.items()}
    return FuturesAnswer(futures.complete, futures.states, list(futures.lines), ways)


def cluster(text: str, kafka: str = "") -> ClusterAnswer:
    """Read what kafka-topics.sh --describe or other tools print of a cluster: what is wrong in it.

    The run that begins in this state can be played, with moves such as "kill 1" or "settle".
    """
    read = clusters.cluster(_pasted(text), kafka)
    return ClusterAnswer(
        list(read.findings),
        list(read.assumed),
        list(read.unread),
        "" if read.run is None else read.run.text,
        "" if read.run is None else read.run.link(SERVER),
    )


def incident(text: str, partition: str = "") -> IncidentAnswer:
    """Tell what happened to a partition, from pasted lines of its brokers' logs or dumps.

    Above the lines of each file stands "==> 2=server.log <==", where 2 is the broker.
    """
    outage = clusters.incident(_pasted(text), partition)
    return IncidentAnswer(
        outage.partition,
        list(outage.verdict),
        [f"{ms} ms, {node}: {what}" for ms, node, what in outage.events[-STEPS_MOST:]],
        outage.finding,
        list(outage.notes),
        "" if outage.run is None else outage.run.text,
        "" if outage.run is None else outage.run.link(SERVER),
    )


def _pasted(text: str) -> str:
    if len(text) > PASTED_MOST:
        raise InputError("too_large", f"A paste has at most {PASTED_MOST} characters.")
    return text


TOOLS = (
    find_scenarios,
    find,
    kafka_versions,
    moves,
    play,
    look,
    why_not,
    compare,
    study,
    explore,
    cluster,
    incident,
)


def scenario_text(name: str) -> str:
    """Return a scenario of the library as YAML."""
    return runs.run(name).export("yaml")


def rules() -> str:
    """Return the rules of the replication protocol, which steps name: a line each."""
    return "\n".join(f"{name}: {title_of(name)}" for name in RULEBOOK)


def server() -> MCPServer:
    """Return the server with its tools and resources; each is a function of this module."""
    made = MCPServer("highwater", instructions=INSTRUCTIONS, version=version("highwater"))
    for tool in TOOLS:
        made.add_tool(_as_tool(tool), annotations=READS)
    made.resource("highwater://scenario/{name}", mime_type="application/yaml")(scenario_text)
    made.resource("highwater://rules", mime_type="text/plain")(rules)
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

"""The ``highwater`` command.  Every subcommand imports what it needs itself, to start fast.

Exit codes: 0 as it should be, 1 not as it should be, 2 input that cannot be used (one sentence
on the error output and nothing else).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from app.command import brokers
from app.command.compile_engine import compile_engine
from app.command.options import (
    AS_JSON,
    MASTER,
    RELEASE,
    RELEASES,
    SCENARIO,
    P,
    comma_separated,
    complete_scenario,
    plain,
    refuse,
    seed_option,
    tell,
)
from app.core import config, features

ROWS_MOST = 1_000_000
SECTIONS = {
    features.PLAY: {
        "serve": "Start the playground in your browser.",
        "run": "Play a scenario, and print its verdict.",
        "scenarios": "List the library, with verdicts.",
        "mcp": "Answer an assistant (Model Context Protocol).",
    },
    features.MEASURE: {
        "batch": "Play many seeds of a scenario.",
        "query": "Run SQL over stored runs.",
        "explore": "Search every future of a step.",
    },
    features.YOURS: {},
    features.DEVELOP: {
        "compile": "Compile the engine to C.",
        "course": "Check chapters of a course.",
        "lab": "Play a scenario on real brokers.",
        "read": "Check a reading guide.",
        "record": "Record scripts on real brokers.",
        "recordings": "Compare recordings with the model.",
        "rules": "List rules, and the code that follows them.",
        "soak": "Play random moves until an invariant breaks.",
    },
}
"""Section of the help -> its commands and what they do; those of features follow."""
EXAMPLES = """\b
Examples:
  highwater run R20 --kafka 0.10.2.2
  highwater batch S74 --runs 1000 --kafka 0.10.2.2,latest
  kafka-topics.sh --describe | highwater cluster
"""


BATCH_EXAMPLES = """\b
Examples:
  highwater batch S74 --runs 1000 --kafka 0.10.2.2,latest
  highwater batch crash-storm --runs 500 --vary min.insync.replicas=1,2
  highwater batch --resume 6e00cd9aa0c5
"""
QUERY_EXAMPLES = """\b
Examples:
  highwater query "SELECT profile, avg(failover_ms) FROM runs GROUP BY profile"
  highwater query "SELECT * FROM runs WHERE acked_lost > 0" --out lost.parquet
"""


class SectionedGroup(click.Group):
    """Group that lists its commands by purpose."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_max=12)


@click.group(
    cls=SectionedGroup,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="highwater")
def main() -> None:
    """Play Kafka's replication step by step, check it, and run it at scale."""


@main.command(epilog="\b\nSettings (environment variables):\n" + config.table())
@click.option("--host", help="Address to listen on [127.0.0.1].")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on [8000].")
@click.option("--debug", is_flag=True, help="Start the development server.")
@plain
def serve(host: str | None, port: int | None, debug: bool) -> None:
    """Start the server of the playground."""
    from app.command.serve import serve_here

    given: dict[str, str | int | None] = {"host": host, "port": port}
    settings = config.load(
        None, **{name: value for name, value in given.items() if value is not None}
    )
    serve_here(settings, debug)


@main.command()
@plain
def mcp() -> None:
    """Answer an assistant's questions on standard input and output (Model Context Protocol).

    The assistant can play runs, read steps, ask why (not), compare releases, run many seeds, search
    every future, and read a pasted cluster or log.  docs/how-to/assistants.md registers it.
    """
    from app.command.assistant import serve

    serve()


@main.command()
@SCENARIO
@RELEASE
@seed_option("Seed of delays, losses and faults [0].")
@click.option("--moves", help="Moves to play instead of the script, separated by ; or new lines.")
@click.option("--export", "form", help="Write the run in this format (see above).")
@AS_JSON
@plain
def run(
    scenario: str,
    profile: str | None,
    seed: int,
    moves: str | None,
    form: str | None,
    as_json: bool,
) -> None:
    """Play SCENARIO to its end and report the verdict.

    SCENARIO is a name of the library (R20, or its slug), a YAML file, or the text of a run.

    Exit code 0 if the run ends as the scenario expects under this profile, or, if it expects
    nothing, breaks no invariant; else 1.

    --export writes the run and exits with 0: as its script (yaml, json), its steps as the pages get
    them (steps), a compact notation to compare (golden), a diagram (mermaid, shiviz), or a test
    (pytest).
    """
    from app.command.playing import complaints, exported, report, run_of, sentences, verdict_line
    from engine.replay.replay import Replay

    # No other user shares this processor: a run is played up to the engine's own bound.
    replay = Replay(run_of(scenario, profile, seed, moves), most=sys.maxsize)
    if form is not None:
        click.echo(exported(replay, form), nl=False)
        return
    unkept = complaints(replay)
    if as_json:
        tell(report(replay, unkept))
    else:
        for line in sentences(replay):
            click.echo(line)
        click.echo(f"\n{verdict_line(replay)}")
        for complaint in unkept:
            click.echo(f"Not as expected: {complaint}", err=True)
    sys.exit(1 if unkept else 0)


@main.command()
@click.argument("path", type=click.Path())
@plain
def read(path: str) -> None:
    """Check a reading guide: play its statements, and print their moments, methods and verdicts.

    PATH is a YAML file (docs/how-to/reading-guides.md).  Exit code 0 if it is valid and the run of
    every statement reaches its moment.
    """
    from app.command.reading import followed

    lines, whole = followed(path)
    click.echo("\n".join(lines))
    sys.exit(0 if whole else 1)


@main.command(epilog=BATCH_EXAMPLES)
@click.argument("scenario", required=False, shell_complete=complete_scenario)
@click.option("--runs", type=click.IntRange(1), metavar="N", help="Runs per release and cell.")
@RELEASES
@seed_option("Seed of the first run [0]; the next run has the next one.")
@click.option("--vary", multiple=True, metavar="KEY=V1,V2", help="Values to vary; repeatable.")
@click.option(
    "--within", type=int, default=0, help="Stop once every share is known to ± this many %."
)
@click.option("--resume", metavar="ID", help="Play what a study lacks that was ended early.")
@MASTER
@AS_JSON
@plain
def batch(
    scenario: str | None, runs: int | None, resume: str | None, master: str | None, **options: Any
) -> None:
    """Play SCENARIO with many seeds, and store the results where `highwater serve` shows them.

    At most a few seconds of runs are played here, more of them on Spark.  Ctrl+C keeps what was
    played.

    Exit code 0 if all runs were played, 1 if the study ended early or failed.
    """
    from app.command.batch import resume_batch, run_batch

    overrides: dict[str, str] = {"spark_master": master} if master else {}
    if resume is not None:
        sys.exit(resume_batch(overrides, resume, options["as_json"]))
    if scenario is None or runs is None:
        refuse("Name a SCENARIO and --runs, or a study with --resume ID.")
    options["profiles"] = options["profiles"] and comma_separated(options["profiles"])
    sys.exit(run_batch(overrides, scenario=scenario, runs=runs, **options))


BUDGETS = {
    "crashes": "Crashes of brokers (kill, bounce).",
    "power": "Power failures.",
    "controller": "Crashes of the controller.",
    "losses": "Messages that are lost.",
    "cuts": "Links that are cut.",
    "pauses": "Brokers that pause.",
    "timers": "ISR checks, checkpoints and flushes; timeouts of voters; tasks of remote storage.",
    "writes": "Records that are written with acks=all.",
    "waits": "Waits until a refused broker registers again.",
    "elections": "Elections by an operator (elect).",
    "disks": "Disks of brokers that are down, replaced by empty ones (wipe).",
    "members": "Members of groups that crash, leave or fall silent.",
    "commits": "Commits of members of groups.",
    "store": "Failures of remote storage.",
}
"""Faults and moves that a search may use, each with a budget."""


def with_budgets(command: Callable[P, None]) -> Callable[P, None]:
    for name, help in reversed(BUDGETS.items()):
        command = click.option(f"--{name}", type=click.IntRange(0), default=0, help=help)(command)
    return command


@main.command(short_help="Search everything that can happen, breadth first.")
@click.argument("scenario", required=False, shell_complete=complete_scenario)
@RELEASE
@seed_option("Seed of delays, losses and faults [0].")
@click.option("--moves", help="Moves to play before the search, instead of the script.")
@click.option("--at", help="Step at which the search starts, or last [last].")
@with_budgets
@click.option("--never", help="Search for violations of these invariants only, such as I7.")
@click.option("--reach", help="Search for a state, such as 'record m3 lost' or 'A HW 3'.")
@click.option("--ladder", metavar="RUNG", help="A rung of the ladder, such as kip101 or kip320.")
@click.option("--replicas", type=click.IntRange(), help="Replicas of the partition.")
@click.option("--log", type=click.IntRange(), help="Maximum number of records in a log.")
@click.option("--records", type=click.IntRange(), help="Number of records written.")
@click.option("--epochs", type=click.IntRange(), help="The last leader epoch; the first is 0.")
@click.option("--offsets", type=click.IntRange(), help="Last offset of the leader (async_isr).")
@click.option("--versions", type=click.IntRange(), help="Last version (async_isr).")
@click.option(
    "--symmetry", is_flag=True, help="Count states once that differ only in the names of replicas."
)
@click.option("--max-states", type=click.IntRange(1), help="Maximum number of distinct states.")
@click.option("--max-seconds", type=click.FloatRange(0), help="Maximum number of CPU seconds.")
@click.option("--spark", is_flag=True, help="Distribute the states of each level over Spark.")
@MASTER
@click.option("--counts", "counts_path", type=click.Path(), help="Compare with a file of counts.")
@click.option(
    "--budget-s", type=click.FloatRange(0), help="Maximum CPU seconds of a row of --counts [60]."
)
@click.option("--fences", is_flag=True, help="Search KIP-320 without each of its fences.")
@AS_JSON
@plain
def explore(as_json: bool, **options: Any) -> None:
    """Search everything that can happen, breadth first, and report what can go wrong.

    The search starts at a step of a run of SCENARIO (as for run).  It plays every order of
    deliveries and restarts, with the faults that the budgets allow.  Its result is a run.

    --ladder RUNG searches a small abstract model of one partition under one generation of Kafka's
    truncation and fencing rules.  It counts the reachable states, checks every invariant, and
    prints the shortest path to each violation.  --counts PATH compares such counts with a file;
    --fences removes the fences of KIP-320 one by one.

    Exit code 0 if the search finished, with any result; 3 if a bound or Ctrl+C ended it before.
    --counts: 1 if a row differs, 3 if none differs but one exceeded its budget.
    """
    from app.command.explore import explore
    from app.command.search_options import SearchOptions
    from engine.explore.budgets import NAMES, Budgets

    budgets = Budgets(**{name: options.pop(name) for name in NAMES})
    sys.exit(explore(SearchOptions(budgets=budgets, **options), as_json))


@main.command(epilog=QUERY_EXAMPLES)
@click.argument("sql")
@click.option(
    "--rows", type=click.IntRange(1, ROWS_MOST), metavar="N", help="Rows to show [50; --out: all]."
)
@MASTER
@click.option("--csv", "as_csv", is_flag=True, help="CSV instead of text.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write a file: .csv or .parquet.")
@AS_JSON
@plain
def query(
    sql: str, rows: int | None, master: str | None, as_csv: bool, out: str | None, as_json: bool
) -> None:
    """Run SQL over the views runs, cells and batches of all stored batches.

    DuckDB runs it, or Spark with --master.  Rows with the columns batch, profile, cell and seed
    end with a link to their run.
    """
    from app.command.query import form_of, run_query

    form = form_of(out, as_csv, as_json)
    settings = config.read(None, **({"spark_master": master} if master else {}))
    run_query(settings, sql, rows or (ROWS_MOST if out else 50), form, out)


@main.group()
def course() -> None:
    """Work on chapters of a course, written as Markdown (docs/how-to/course.md)."""


@course.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@plain
def course_check(paths: tuple[str, ...]) -> None:
    """Play the chapters in PATHS; print line, column and a sentence for each mistake."""

    from engine.learn.course import check

    for path in paths:
        try:
            text = Path(path).read_bytes()[:1_000_000].decode("utf-8")
        except OSError as error:
            refuse(f"{path} cannot be read: {(error.strerror or 'unknown reason').lower()}.")
        except UnicodeDecodeError:
            refuse(f"{path} is not text in UTF-8.")
        chapter = check(text, path)
        questions = sum(scene.block == "probe" for scene in chapter.scenes)
        done = sum(scene.block == "do" for scene in chapter.scenes)
        click.echo(
            f"{path}: {len(chapter.scenes)} scenes, {questions} questions, {done} tasks: all play."
        )


@main.command()
@click.option(
    "--matrix", "as_matrix", is_flag=True, help="Play every scenario under every profile."
)
@AS_JSON
@plain
def scenarios(as_matrix: bool, as_json: bool) -> None:
    """List the library with the expected verdict under each profile."""
    from app.core.refusals import located
    from app.learn.cards import cards
    from engine.scenarios import file

    library = file.library().values()
    if as_matrix:
        from app.command.matrix import tell_matrix

        sys.exit(0 if tell_matrix(library, tell if as_json else None) else 1)
    listed = cards(library)
    if as_json:
        tell(listed)
        return
    for card in listed:
        click.echo(f"{card['code'] or '-':<5} {card['slug']}: {card['title']}")
        verdicts = (
            " ".join([verdict["profile"], verdict["verdict"], *verdict["invariants"]])
            for verdict in card["verdicts"]
        )
        click.echo("      " + "; ".join(verdicts))
    for bad in file.unreadable().values():
        click.echo(f"Left out: {located(bad)}", err=True)
    sys.exit(1 if file.unreadable() else 0)


@main.command()
@AS_JSON
@plain
def rules(as_json: bool) -> None:
    """List the rules of the specification: the code and the scenarios of each.

    Exit code 0 if every rule has code that a run plays, or a reason why it has none.
    """
    from app.command.rules import tell_rules
    from engine.scenarios import file

    whole = tell_rules(file.library().values(), tell if as_json else None)
    sys.exit(0 if whole else 1)


@main.command()
@click.option(
    "--minutes", type=click.FloatRange(0, 1440), default=5, show_default=True, help="Duration."
)
@click.option(
    "--kafka",
    "--profiles",
    "profiles",
    default="",
    help="Kafka releases or profiles, separated by commas [all].",
)
@seed_option("Seed of the first run [0].")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option("--run", "text", help="Check only this run, given as its text.")
@AS_JSON
@plain
def soak(
    minutes: float, profiles: str, seed: int, jobs: int, text: str | None, as_json: bool
) -> None:
    """Play random moves in random clusters and scenarios, and check each run in several ways.

    The engine must not crash, and the invariants of the release must hold.  A copy of the state,
    the text of the run, a checkpoint and a replay without words must give the same result.  The
    same seed draws the same runs; more minutes draw more of them.

    Exit code 0 if nothing was found, else 1; a line repeats each finding.
    """
    from app.command import soak

    names = comma_separated(profiles)
    if text is None:
        report = soak.soak(minutes, names, seed, jobs, soak.on_error_output)
    else:
        report = soak.look_at(text)
    if as_json:
        tell(report)
    else:
        click.echo("\n".join(soak.lines(report)))
    sys.exit(1 if report["finds"] else 0)


for _command in (brokers.recordings, brokers.lab, brokers.record, compile_engine):
    main.add_command(_command)
for _row, _command in features.commands():
    main.add_command(_command)
    SECTIONS[_row.section][_command.name] = _row.summary

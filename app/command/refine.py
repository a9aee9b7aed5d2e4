"""``highwater refine``: check that each step of a run is one of the published model."""

from __future__ import annotations

import sys
from collections import Counter

import click

from app.command.options import AS_JSON, RELEASE, plain, seed_option, tell


@click.command(short_help="Compare a run with the published model of its release, step by step.")
@click.argument("scenario", required=False)
@RELEASE
@seed_option("Seed of delays, losses and faults [0].")
@click.option("--moves", help="Moves instead of the script, separated by ;")
@click.option("--rung", default="", help="Rung of the ladder [that of the release].")
@click.option("--partition", type=click.IntRange(0), default=0, show_default=True)
@AS_JSON
@plain
def refine(
    scenario: str | None,
    profile: str | None,
    seed: int,
    moves: str | None,
    rung: str,
    partition: int,
    as_json: bool,
) -> None:
    """Map every event of a run to moves of a rung of the ladder, or to none.

    It reports the first event that is no move of the rung.  Without SCENARIO it checks the whole
    library.

    Exit code 0 if every event is a move, or one is of a kind that no rung has (an unclean election,
    a lost disk, a reassignment, retention); 1 if a step is not allowed by the rung.
    """
    from app.command.playing import run_of
    from app.refinement import report
    from engine.model.profiles import get_profile
    from engine.refinement import walking

    if scenario is not None:
        result = walking.refine(run_of(scenario, profile, seed, moves), rung, partition)
        if as_json:
            tell(report.as_data(result))
        else:
            click.echo("\n".join(report.lines(result)))
        sys.exit(report.code(result))
    verdicts: Counter[str] = Counter()
    worst = 0
    for result in report.library():
        if as_json:
            tell(report.as_data(result))
        else:
            click.echo(report.row(result))
        verdicts["beyond" if result.first and result.first.beyond else str(result.holds)] += 1
        # A flag that is flipped is there to be noticed.
        flipped = get_profile(result.run.profile).base != result.run.profile
        worst = max(worst, 0 if flipped else report.code(result))
    if not as_json:
        click.echo(
            f"{verdicts['True']} are runs of their rung, {verdicts['beyond']} go beyond every "
            f"rung, {verdicts['False']} have a step that their rung does not have."
        )
    sys.exit(worst)

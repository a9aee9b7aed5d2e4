"""``python3 -m tests.bench``: benchmarks as ratios of two things measured in one run."""

from __future__ import annotations

import json

import click

from app.command.options import AS_JSON, plain, refuse
from tests.bench.ratios import BENCHMARKS, at_least, measure, share


@click.command()
@click.argument("name", required=False)
@AS_JSON
@plain
def bench(name: str | None, as_json: bool) -> None:
    """Measure what should stay fast, as ratios that mean the same on every machine."""
    if name is not None and name not in BENCHMARKS:
        refuse(f"There is no benchmark {name}; there are: {', '.join(BENCHMARKS)}.")
    for chosen in [name] if name else list(BENCHMARKS):
        result = measure(chosen)
        if as_json:
            click.echo(json.dumps(result))
        else:
            click.echo(f"{chosen}: {result['ratio']:.3g} {result['meaning']}")
            for key, value in result["figures"].items():
                click.echo(f"    {key}: {value:,.6g}{_budget(key, value, result['budgets'])}")


def _budget(figure: str, value: float, budgets: dict[str, float]) -> str:
    """Return the budget of a figure and whether it is exceeded; nothing where there is none."""
    if figure not in budgets:
        return ""
    budget = budgets[figure]
    over = ", OVER" if share(figure, value, budget) > 1 else ""
    return f" (at {'least' if at_least(figure) else 'most'} {budget:,.6g}{over})"


if __name__ == "__main__":
    bench()

"""Highwater from Python: play Kafka's replication, look at any step, study thousands of runs.

>>> import highwater as hw
>>> run = hw.run("R20", kafka="0.10.2.2")
>>> run.lost
['m1']
>>> print(run.verdict)
Lost: m1. Kafka had promised to keep it.

Everything here is documented and stays; what lies below, such as `highwater.engine`, may change.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.python_api.clusters import ClusterState, Incident, cluster, incident
    from app.python_api.runs import Comparison, Run, find, moves, run, scenarios, versions
    from app.python_api.searches import SearchResult, explore
    from app.python_api.steps import Broken, Step, WhyNot
    from app.python_api.studies import Study, study
    from engine.model.errors import InputError

__all__ = [
    "Broken",
    "ClusterState",
    "Comparison",
    "Incident",
    "InputError",
    "Run",
    "SearchResult",
    "Step",
    "Study",
    "WhyNot",
    "cluster",
    "explore",
    "find",
    "incident",
    "moves",
    "run",
    "scenarios",
    "study",
    "versions",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # to a type checker, a module with `__getattr__` has every name

    def __getattr__(name: str) -> Any:
        """Import the API at its first use: the server and Spark's workers do without it."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from app.python_api import clusters, runs, searches, steps, studies

        homes = (clusters, searches, studies, runs, steps)

        for public in __all__:
            value = next(vars(home)[public] for home in homes if public in vars(home))
            if public[0].isupper() and public != "InputError":
                value.__module__ = __name__  # as help, errors and pickles name it
            globals()[public] = value
        return globals()[name]

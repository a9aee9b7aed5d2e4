"""Highwater from Python: play Kafka's replication, look at any step, study thousands of runs.

>>> import highwater as hw
>>> run = hw.run("R20", kafka="0.10.2.2")
>>> run.lost
['m1']
>>> print(run.verdict)
Lost: m1. Kafka had promised to keep it.

Everything here is documented and stays; the packages `app` and `engine` behind it may change.
"""

from app.python_api.runs import Comparison, Run, find, moves, run, scenarios, versions
from app.python_api.steps import Broken, Step, WhyNot
from app.python_api.studies import Study, study
from engine.model.errors import InputError

__all__ = [
    "Broken",
    "Comparison",
    "InputError",
    "Run",
    "Step",
    "Study",
    "WhyNot",
    "find",
    "moves",
    "run",
    "scenarios",
    "study",
    "versions",
]
for _public in (Broken, Comparison, Run, Step, Study, WhyNot):
    _public.__module__ = __name__  # as help, errors and pickles name them

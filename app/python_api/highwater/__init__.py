"""Highwater from Python: play Kafka's replication, look at any step, study thousands of runs.

>>> import highwater as hw
>>> run = hw.run("S30", kafka="K39")
>>> run.holds
False
>>> run.lost
['b', 'c']
>>> print(run[run.broken[0].step])
...

Everything here is documented and stays; the packages `app` and `engine` behind it may change.
"""

from __future__ import annotations

from app.python_api.runs import Comparison, Run, run, scenarios, versions
from app.python_api.steps import Broken, Step, WhyNot
from app.python_api.studies import Study, study

__all__ = [
    "Broken",
    "Comparison",
    "Run",
    "Step",
    "Study",
    "WhyNot",
    "run",
    "scenarios",
    "study",
    "versions",
]

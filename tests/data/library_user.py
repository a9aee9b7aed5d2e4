"""A program that uses the package, for strict type checkers: tests/test_wheel.py."""

from pathlib import Path

import highwater as hw
from highwater import Comparison, InputError, Run, Step, Study, WhyNot

run: Run = hw.run("R20", kafka="0.10.2.2")
step: Step = run[-1]
first: list[Step] = run[:3]
lost: list[str] = run.lost
lost_at: int | None = run.lost_at
sentences: tuple[str, ...] = step.said + step.why
replicas: list[list[int]] = [one["ar"] for one in step.view["partitions"]]
compared: Comparison = run.compare("4.1")
refused: WhyNot = run.why(3, "hw")
state: hw.ClusterState = hw.cluster("Topic: t Partition: 0 Leader: 1 Replicas: 1,2 Isr: 1")
futures: hw.SearchResult = hw.explore(run, step=3, states=10, crashes=1)
findings: tuple[str, ...] = state.findings


def broken(played: Run) -> dict[str, tuple[int, str]]:
    return {one.invariant: (one.step, one.why) for one in played.broken}


def losing(name: str, kafka: str) -> list[Run]:
    try:
        study: Study = hw.study(name, runs=10, kafka=[kafka], seed=5)
    except InputError as error:
        print(error.code, error)
        return []
    shares: list[float] = [row["high"] for row in study.table() if row["invariant"] == "any"]
    print(study, max(shares), len(study), len(study.more(5)))
    return study.failures("I7")


def exported(path: Path, *moves: str) -> str:
    return hw.run(path).then(*moves).under("4.1").export("yaml")


for code in [scenario["code"] for scenario in hw.scenarios()][:2]:
    print(code, hw.find(code)[0]["url"], len(hw.versions()), len(hw.moves()))
print(compared.one.verdict, refused.happens, lost, lost_at, replicas, [one.told for one in first])
print(findings, futures.states, state.run and state.run.verdict)
print({run, run.under("3.9")}, hash(run), broken(run), sentences, losing("S74", "4.1"))

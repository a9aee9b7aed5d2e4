"""What is drawn is what the engine says: every sixteenth run of the library at some moments, or,
with HIGHWATER_THOROUGH=1, of the whole library at every moment.

One page plays them all: it asks for the runs through its own socket and draws each moment without
motion; what stands in the document is then compared with the engine of this process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.replay.replay import Replay
from engine.scenarios.file import library
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from tests.bench.view import LOAD
from tests.conftest import THOROUGH
from tests.e2e.conftest import Opener

SHARDS = 2
MOST = 8
"""Moments of one run, spread evenly; HIGHWATER_THOROUGH=1 looks at all of them."""

DRAW = (
    f"""async ({{ slug, profile, moments }}) => {{ {LOAD}"""
    + """
  const names = ["animator/state", "core/history", "net/channel"];
  const [s, history, asking] = await Promise.all(names.map(load));
  const named = { scenario: slug, profile, step: 0, ahead: 1 };
  const told = await asking.channel().ask("open", named);
  const on = history.tape(told.facts, told.steps);
  for (const n of moments) {
    if (on.steps.has(n)) continue;
    const answer = await asking.askAbout(on, "play", { step: n - 1, count: 1 });
    history.add(on, answer.steps);
  }
  const read = (el, ...names) => names.map((name) => el?.getAttribute(`data-${name}`) ?? null);
  const all = (root, selector) => [...root.querySelectorAll(selector)];
  const stage = document.getElementById("stage");
  const one = (id) => stage.querySelector(`[data-id="${id}"]`);
  const chip = ({ dataset }) => `${dataset.id.split(":e")[1]}→${dataset.start}`;
  const cell = ({ dataset: { id, epoch, open, acked } }) =>
    [id.split(":o")[1], epoch, open, acked].join(":");
  const lane = (b) => {
    const card = one(`b${b.id}`);
    const group = card?.closest(".tank");
    if (!group) return null; // a mark beside the tanks
    return {
      role: read(card, "role")[0],
      leo: read(one(`b${b.id}:leo`), "value")[0],
      hw: read(one(`b${b.id}:hw`), "value")[0],
      epochs: all(group, ".epochs [data-start]").map(chip),
      pill: one(`b${b.id}:isr`)?.querySelector("title")?.textContent ?? null,
      cells: all(group, ".record").map(cell),
    };
  };
  s.chosen.value = "tanks";
  const out = [];
  s.n.value = 0;
  s.cue.value = null;
  s.tapes.value = [on];
  s.run.value = on.digest;
  for (const [i, n] of moments.entries()) {
    const { partitions } = on.steps.get(n).view;
    if (!partitions.length) continue;
    s.partition.value = partitions[i % partitions.length].p;
    s.n.value = n;
    const { step } = stage.dataset;
    if (step !== String(n)) throw new Error(`${slug} ${profile}: drew ${step} for ${n}`);
    const lanes = Object.fromEntries(on.steps.get(n).view.brokers.map((b) => [b.id, lane(b)]));
    const said = (key) => [key, read(one(`rec:${key}`), "value")[0]];
    const record = Object.fromEntries(["leader", "le", "pe", "isr", "elr"].map(said));
    out.push({ n, partition: s.partition.value, lanes, record });
  }
  return out;
}"""
)


def runs(shard: int) -> Iterator[tuple[Scenario, str]]:
    every = [
        (scenario, profile)
        for scenario in library().values()
        for profile in dict.fromkeys((scenario.profiles[0], scenario.profiles[-1]))
    ]
    yield from every[shard::SHARDS][:: 1 if THOROUGH else 16]


def chosen(moments: list[int]) -> list[int]:
    if THOROUGH or len(moments) <= MOST:
        return moments
    return [moments[index * (len(moments) - 1) // (MOST - 1)] for index in range(MOST)]


@pytest.mark.parametrize("shard", range(SHARDS if THOROUGH else 1))
def test_the_stage_shows_what_the_engine_says(visit: Opener, shard: int) -> None:
    page = visit("/s/S01?still=1&layers=ends,epochs,pipes,controller")
    # A visitor moves through a page more slowly than this: the address may stand still.
    page.evaluate("() => { history.replaceState = history.pushState = () => {}; }")
    seen = 0
    for scenario, profile in runs(shard):
        replay = Replay(Run(scenario, profile))
        moments = chosen(replay.facts()["moments"])
        asked = {"slug": scenario.slug, "profile": profile, "moments": moments}
        drawn = page.evaluate(DRAW, asked)
        for one in drawn:
            view = replay.steps(one["n"], 1)[0]["view"]
            part = next(part for part in view["partitions"] if part["p"] == one["partition"])
            where = f"{scenario.code} {profile} step {one['n']} partition {one['partition']}"
            compare(one, part, where)
            seen += 1
    assert seen > 40


def compare(drawn: dict[str, Any], part: dict[str, Any], where: str) -> None:
    if part.get("gone"):  # of a deleted topic only the logs are left
        for broker, lane in drawn["lanes"].items():
            compare_lane(lane, part["replicas"].get(broker), where + f" broker {broker}")
        return
    record = part["record"]
    words = drawn["record"]
    assert words["leader"] == str(record["leader"]), where
    assert words["le"] == str(record["le"]) and words["pe"] == str(record["pe"]), where
    assert words["isr"] == ",".join(map(str, record["isr"])), where
    if record["elr"]:
        assert words["elr"] == ",".join(map(str, record["elr"])), where
    for broker, lane in drawn["lanes"].items():
        compare_lane(lane, part["replicas"].get(broker), where + f" broker {broker}")
        if lane is not None:
            compare_pill(lane["pill"], int(broker), part, where)


def compare_lane(lane: dict[str, Any] | None, replica: dict[str, Any] | None, where: str) -> None:
    if lane is None:
        return
    if replica is None:
        assert (lane["role"], lane["leo"], lane["hw"]) == ("none", None, None), where
        return
    assert lane["role"] == replica["role"], where
    assert (lane["leo"], lane["hw"]) == (str(replica["leo"]), str(replica["hw"])), where
    if lane["epochs"] or not replica["epochs"]:
        # Tabs stand where epochs begin, so that the oldest may come last.
        told = [f"{e}→{start}" for e, start in replica["epochs"]]
        assert sorted(lane["epochs"]) == sorted(told), where
    first = min((int(cell.split(":")[0]) for cell in lane["cells"]), default=replica["leo"])
    told = [
        f"{r['o']}:{r['e']}:{int(r['o'] >= replica['hw'])}:{int(bool(r['acked']))}"
        for r in replica["records"]
        if r["o"] >= first
    ]
    assert sorted(lane["cells"]) == sorted(told), where


def compare_pill(pill: str | None, broker: int, part: dict[str, Any], where: str) -> None:
    if broker not in part["ar"]:  # 0.8 may keep one in the ISR; the controller's line names it
        assert pill in ("no replica", None), where
    elif broker in part["record"]["isr"]:
        assert pill in ("ISR", "leaving"), where
    else:
        assert pill == "joining" or str(pill).startswith("not in ISR"), where

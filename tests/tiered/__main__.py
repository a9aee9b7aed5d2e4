"""Play a story on real brokers and record it: `python3 -m tests.tiered S100 3.9.1`.

It needs a JDK (javac) and, the first time, Maven.  The recording lands beside this file; a test
holds the model to it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from app.lab.cluster import free_block
from app.lab.configuration import Ports
from app.lab.laboratory import find_tools
from app.lab.processes import Processes
from app.lab.releases import release_of
from engine.model.messages import EARLIEST
from tests.tiered.cluster import TOPIC, TieredCluster, TieredMark, with_storage
from tests.tiered.stories import STORIES

RECORDINGS = Path(__file__).with_name("recordings")
SAID = ("Deleted remote log segment", "About to delete remote log segment")
BROKERS = [1, 2, 3]


def record(code: str, version: str) -> dict[str, object]:
    """Play a story under a release; return its marks, what consumers get and what brokers log."""
    release = release_of(version)
    marks: list[TieredMark] = []
    with tempfile.TemporaryDirectory() as place, Processes() as processes:
        tools = with_storage(find_tools(release, None, say), Path(place))
        cluster = TieredCluster(release, BROKERS, tools, processes, free_block(Ports.needed(3)))
        cluster.store = Path(place) / "store"
        cluster.store.mkdir()
        try:
            cluster.start_all(say)
            for mark in STORIES[code](cluster):
                say(json.dumps(mark))
                marks.append(mark)
            leader = cluster.leader()
            reads = [
                cluster.read(leader, offset) for offset in range(marks[-1]["local"]["2"][-1] + 1)
            ]
            earliest = cluster.client(leader).listed_offset(TOPIC, EARLIEST)[1]
            said = [line for broker in BROKERS for line in cluster.said(broker, *SAID)]
        finally:
            cluster.close()
    return {
        "code": code,
        "release": release.version,
        "marks": marks,
        "earliest": earliest,
        "reads": reads,
        "said": said,
    }


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    found = record(*sys.argv[1:3])
    RECORDINGS.mkdir(exist_ok=True)
    file = RECORDINGS / f"{found['code']}-{found['release']}.json"
    file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    say(str(file))

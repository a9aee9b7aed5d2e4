"""Play a story on real controllers and record it: `python3 -m tests.controllers S105 3.9.1`.

The first time it needs Maven.  The recording lands beside this file; a test holds the model to it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from app.lab.cluster import free_block
from app.lab.configuration import Ports
from app.lab.laboratory import find_tools
from app.lab.processes import Processes
from app.lab.releases import release_of
from tests.controllers.cluster import NODES, ControllerMark, TwoControllers
from tests.controllers.stories import STORIES

RECORDINGS = Path(__file__).with_name("recordings")
SAID = ("Latest set of voters is", "is rejected", "is granted")


def record(code: str, version: str) -> dict[str, object]:
    """Play a story under a release; return its marks and what the controllers logged last."""
    release = release_of(version)
    marks: list[ControllerMark] = []
    said: set[str] = set()
    with Processes() as processes:
        tools = find_tools(release, None, say)
        cluster = TwoControllers(release, tools, processes, free_block(Ports.needed(len(NODES))))
        try:
            cluster.start_all(say)
            for mark in STORIES[code](cluster):
                say(json.dumps(mark))
                marks.append(mark)
                for node in NODES:
                    for part in SAID:
                        said.update(cluster.said(node, part)[-1:])
        finally:
            cluster.close()
    return {"code": code, "release": release.version, "marks": marks, "said": sorted(said)}


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    found = record(*sys.argv[1:3])
    RECORDINGS.mkdir(exist_ok=True)
    file = RECORDINGS / f"{found['code']}-{found['release']}.json"
    file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    say(str(file))

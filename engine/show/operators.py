"""What operators changed, as sentences."""

from __future__ import annotations

from engine.model.effects import Cue
from engine.show.entities import Happening, Sentence, members, say, word


def configured(h: Happening, cue: Cue) -> Sentence:
    if cue[4] == "":
        return say("admin.set.empty", c=word(cue[3]))
    return say("admin.set", c=word(cue[3]), v=word(cue[4]))


def reassigned(h: Happening, cue: Cue) -> Sentence:
    if cue[4] is None:
        return say("admin.reassign.cancel")
    return say("admin.reassign", i=members(cue[3]), j=members(cue[4]))


def reassignment_over(h: Happening, cue: Cue) -> Sentence:
    return say("reassign.over", i=members(cue[4]))

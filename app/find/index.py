"""Search index: SQLite FTS5 over all entries, in memory, built once per process.

A query is a list of concepts (a word, an identifier, a phrase with synonyms).  Each concept is
matched by several alternatives, an entry scores its best one, and the scores are summed; entries
that match more of the concepts rank higher.  MATCH expressions consist of quoted tokens of
`app.find.tokens` only, so nothing of a query reaches FTS5 as syntax.
"""

from __future__ import annotations

import difflib
import math
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import combinations, pairwise
from typing import Final

from app.core import features
from app.core.search_entry import SearchEntry
from app.find.entries import entries
from app.find.synonyms import Phrase, longest, phrase, synonyms
from app.find.tokens import Word, indexed, words

SHORTEST: Final = 4
"""Characters a word needs for a correction to mean anything."""
CLOSE: Final = 0.78
LOOSE: Final = 0.6
"""Least similarity, as `difflib` has it, for a correction and for a suggestion."""


class Vocabulary:
    """Words of the index, by their first letter and length."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts = Counter(word for text in texts for word in text.split())

    def __contains__(self, word: str) -> bool:
        return word in self._counts

    def nearest(self, word: str, *, loose: bool = False) -> list[str]:
        """Return known words that are spelled like this one, the nearest first.

        Of equals the most frequent comes first.
        """
        if len(word) < SHORTEST or word.isdigit():
            return []
        reach = 4 if loose else 2
        letters = set(word)
        candidates = [
            candidate
            for candidate in self._counts
            if abs(len(candidate) - len(word)) <= reach
            and not any(letter.isdigit() for letter in candidate)
            and len(letters & set(candidate)) * 3 >= len(letters) * 2
        ]
        close = difflib.get_close_matches(word, candidates, 6, LOOSE if loose else CLOSE)
        return sorted(
            close,
            key=lambda candidate: (
                -difflib.SequenceMatcher(None, word, candidate).ratio(),
                -self._counts[candidate],
            ),
        )


MAX_QUERY_LENGTH: Final = 200
"""Characters of a query; the rest is ignored."""
MAX_WORDS: Final = 16
"""Words of a query; the rest is ignored."""
MAX_CORRECTED: Final = 4
"""Unknown words of a query that are corrected."""
MAX_HITS: Final = 40
"""Hits per query."""
CACHED_QUERIES: Final = 512

COLUMNS: Final = {"title": 8.0, "lead": 8.0, "keys": 6.0, "body": 1.0}
"""Columns of the index and their weights; `lead` has the first keys of an entry."""
LEAD: Final = 6
LENGTH: Final = 0.125
"""How far a score is raised per mean length: a well described entry is not a worse one.  (bm25 of
FTS5 has k1 = 1.2, b = 0.75; for a match in `keys` it takes about this much off.)"""
SECOND: Final = 0.2
"""Share of the lesser ways in which an entry matches a concept."""
EXACT, PHRASE, SYNONYM, PREFIX, CORRECTED, ALL_PARTS, ANY_PART = 1.0, 0.9, 0.6, 0.6, 0.7, 0.5, 0.3
"""Weights of the ways in which an entry can match a concept."""
IDENTIFIER: Final = 1.6
"""Weight of an error name, setting, metric, class or number of an issue beside plain words."""
OWN_NAME: Final = 2.8
"""The same of one that has an entry of its own."""
NAMING: Final = frozenset({"error", "setting", "metric", "flag"})
"""Kinds whose names are identifiers of Kafka."""
IN_PHRASE: Final = 0.5
"""Weight of a word of a phrase that counts as one."""
ADJACENT: Final = 0.5
"""Weight of two words of the query that stand side by side in an entry."""
SHOWN: Final = 0.2
"""Share of the score of a claim, question or level that its scenario gets."""
COVERAGE: Final = 0.55
"""Share of a score that depends on how much of the query is matched."""
SAME_NAME: Final = 2.0
"""Factor for an entry whose code, name or title is the query."""
CUT: Final = 0.2
OTHERS_CUT: Final = 0.12
"""Share of the best score below which scenarios and other entries are left out."""
CROWDED: Final = 0.88
"""Factor for each further hit of a kind, scenarios excepted, after `UNCROWDED`."""
UNCROWDED: Final = 1
PRIOR: Final = {
    "scenario": 1.45,
    "term": 1.1,
    "error": 1.1,
    "setting": 1.1,
    "metric": 1.0,
    "rule": 0.8,
    "claim": 0.95,
    "question": 0.95,
    "chapter": 0.8,
    "level": 0.7,
    "promise": 0.75,
    "flag": 0.6,
    "guide": 0.6,
    **features.kinds(),
}
"""Kind -> factor: how likely its entries are what is looked for."""
MUSEUM: Final = 1.38
"""The same for scenarios of past defects, most of which another scenario shows as well."""

Scores = dict[int, float]
"""Row of the index -> score."""


@dataclass(slots=True)
class Concept:
    """`text` as the query has it; `found` is the word it was matched as, where that differs."""

    text: str
    alternatives: list[tuple[str, float, str]]
    weight: float = 1.0
    scores: Scores = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An entry, its score, and the words of the query (or what they were read as) it matches."""

    entry: SearchEntry
    score: float
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """`read` maps unknown words of the query to what was searched for.

    `near` are suggestions, given where nothing matches.
    """

    hits: tuple[SearchHit, ...]
    read: dict[str, str]
    near: tuple[str, ...]


def _quoted(parts: Iterable[str]) -> str:
    return '"' + " ".join(parts) + '"'


def _all(parts: Iterable[str]) -> str:
    return " AND ".join(f'"{part}"' for part in parts)


def _any(parts: Iterable[str]) -> str:
    return " OR ".join(f'"{part}"' for part in parts)


class Index:
    """All entries and their text; safe for threads, which take turns."""

    def __init__(self, listed: list[SearchEntry]) -> None:
        self.entries = listed
        self._by_code = {entry.code: row for row, entry in enumerate(listed) if entry.code}
        self._own_names = {
            word.joined
            for entry in listed
            if entry.kind in NAMING
            for word in words(entry.name)
            if len(word.parts) > 1
        }
        self._lock = threading.Lock()
        self._rows = sqlite3.connect(":memory:", check_same_thread=False)
        self._rows.execute(
            f"CREATE VIRTUAL TABLE entry USING fts5({', '.join(COLUMNS)},"
            " tokenize='porter unicode61')"
        )
        texts = [self._columns(entry) for entry in listed]
        self._rows.executemany(
            "INSERT INTO entry(rowid, title, lead, keys, body) VALUES (?, ?, ?, ?, ?)",
            [(row, *columns) for row, columns in enumerate(texts)],
        )
        self.vocabulary = Vocabulary(" ".join(columns) for columns in texts)
        lengths = [sum(column.count(" ") + 1 for column in columns) for columns in texts]
        mean = sum(lengths) / len(lengths)
        self._fair = [1 + LENGTH * (min(length / mean, 3.0) - 1) for length in lengths]

    @staticmethod
    def _columns(entry: SearchEntry) -> tuple[str, ...]:
        title = [*entry.title.values(), entry.code, entry.name.replace("-", " ")]
        body = [text for passage in entry.passages for text in passage.values()]
        parts = (title, entry.keys[:LEAD], entry.keys[LEAD:], body)
        return tuple(indexed(" ; ".join(part)) for part in parts)

    def _scores(self, expression: str) -> Scores:
        weights = ", ".join(map(str, COLUMNS.values()))
        with self._lock:
            rows = self._rows.execute(
                f"SELECT rowid, -bm25(entry, {weights}) FROM entry WHERE entry MATCH ?",
                (expression,),
            ).fetchall()
        return {row: score * self._fair[row] for row, score in rows}

    # -- concepts ---------------------------------------------------------------------------------

    def _concepts(self, terms: list[Word], read: dict[str, str]) -> list[Concept]:
        """Return the concepts of a query, the longest phrases with synonyms first."""
        concepts: list[Concept] = []
        at = 0
        while at < len(terms):
            count = self._known_phrase(terms[at:])
            if count > 1:
                concepts.append(self._of_phrase(terms[at : at + count]))
            count = max(count, 1)
            for word in terms[at : at + count]:
                if not word.noise or len(terms) == 1:
                    concept = self._of_word(word, word is terms[-1], read)
                    concept.weight = self._weight(word) * (1.0 if count == 1 else IN_PHRASE)
                    concepts.append(concept)
            at += count
        return concepts

    def _weight(self, word: Word) -> float:
        if word.joined in self._own_names:
            return OWN_NAME
        return IDENTIFIER if len(word.parts) > 1 else 1.0

    @staticmethod
    def _known_phrase(terms: list[Word]) -> int:
        """Return the number of words at the beginning that are a phrase with synonyms, or 0."""
        for count in range(min(longest(), len(terms)), 0, -1):
            if tuple(part for word in terms[:count] for part in word.parts) in synonyms():
                return count
        return 0

    @staticmethod
    def _alternatives(parts: Phrase) -> list[tuple[str, float, str]]:
        """Return synonyms of a word or phrase; of a Chinese one also those of its parts."""
        within = [parts]
        if not parts[0].isascii():
            ends = combinations(range(len(parts) + 1), 2)
            within += [parts[i:j] for i, j in ends if j - i <= longest()]
        others = dict.fromkeys(other for some in within for other in synonyms().get(some, ()))
        return [(_all(other), SYNONYM, " ".join(other)) for other in others]

    def _of_phrase(self, terms: list[Word]) -> Concept:
        parts = tuple(part for word in terms for part in word.parts)
        text = " ".join(word.text for word in terms)
        return Concept(
            text,
            [(_quoted(parts), EXACT, ""), (_all(parts), PHRASE, ""), *self._alternatives(parts)],
        )

    def _of_word(self, word: Word, last: bool, read: dict[str, str]) -> Concept:
        parts = word.parts
        alternatives = [(_quoted([word.joined]), EXACT, "")]
        if len(parts) > 1:
            alternatives.append((_quoted(parts), PHRASE, ""))
            alternatives.append((_all(parts), ALL_PARTS, ""))
        alternatives += self._alternatives(parts)
        if word.joined.isdigit() and len(word.joined) > 2:
            alternatives += [
                (_quoted([kind + word.joined]), EXACT, "") for kind in ("kafka", "kip")
            ]
        if len(parts) > 1:
            matches = any(self._scores(query) for query in (alternatives[0][0], alternatives[1][0]))
            if not matches and not word.method:
                alternatives.append((_any(parts), ANY_PART, ""))
        elif word.joined not in self.vocabulary and not self._scores(alternatives[0][0]):
            alternatives += self._unknown(word, last, read)
        return Concept(word.text, alternatives)

    def _unknown(
        self, word: Word, last: bool, read: dict[str, str]
    ) -> list[tuple[str, float, str]]:
        """Return alternatives for a word that no entry has: longer words, else the nearest."""
        text = word.joined
        if (last and len(text) > 2) or len(text) > 4:
            prefix = f'"{text}"*'
            if self._scores(prefix):
                return [(prefix, PREFIX, "")]
        near = self.vocabulary.nearest(text) if len(read) < MAX_CORRECTED else []
        if near and (text,) not in synonyms():
            read[word.text] = near[0]
            own = [(_quoted([near[0]]), CORRECTED, near[0])]
            return own + self._alternatives((near[0],))
        return []

    # -- ranking ----------------------------------------------------------------------------------

    def _match(self, concept: Concept) -> None:
        for expression, weight, reason in concept.alternatives:
            for row, score in self._scores(expression).items():
                score *= weight
                before = concept.scores.get(row, 0.0)
                concept.scores[row] = max(score, before) + SECOND * min(score, before)
                # A literal match is the reason, whatever else scores higher.
                concept.reasons.setdefault(row, reason)

    @cached_property
    def _named(self) -> dict[Phrase, set[int]]:
        """Return code, name or title -> rows of the entries that have it."""
        rows: dict[Phrase, set[int]] = defaultdict(set)
        for row, entry in enumerate(self.entries):
            for text in (entry.code, entry.name, *entry.title.values()):
                if name := phrase(text):
                    rows[name].add(row)
        return dict(rows)

    def _rank(
        self, concepts: list[Concept], pairs: list[Concept], named: Set[int]
    ) -> list[SearchHit]:
        for concept in (*concepts, *pairs):
            self._match(concept)
        total = len(self.entries)
        weights = [
            each.weight * math.log(1 + total / len(each.scores)) if each.scores else 0.0
            for each in concepts
        ]
        scores: Scores = defaultdict(float)
        covered: Scores = defaultdict(float)
        for concept, weight in zip(concepts, weights, strict=True):
            for row, score in concept.scores.items():
                scores[row] += score * concept.weight
                covered[row] += weight
        for pair in pairs:
            for row, score in pair.scores.items():
                scores[row] += score * ADJACENT
        self._add_shown(scores)
        whole = sum(weights) or 1.0
        hits = []
        for row, score in scores.items():
            entry = self.entries[row]
            share = 1 - COVERAGE + COVERAGE * covered[row] / whole
            matched = tuple(
                dict.fromkeys(
                    f"{each.text} → {each.reasons[row]}" if each.reasons[row] else each.text
                    for each in concepts
                    if row in each.scores
                )
            )
            prior = MUSEUM if entry.code.startswith("M") else PRIOR[entry.kind]
            same = SAME_NAME if row in named else 1.0
            hits.append(SearchHit(entry, score * share * prior * same, matched))
        return hits

    def _add_shown(self, scores: Scores) -> None:
        """Add to matching scenarios a share of the best score of an entry that they show."""
        best: Scores = {}
        for row, score in scores.items():
            shown = self._by_code.get(self.entries[row].shown_by)
            if shown in scores:
                best[shown] = max(score, best.get(shown, 0.0))
        for row, score in best.items():
            scores[row] += SHOWN * score

    def search(self, query: str) -> SearchAnswer:
        """Return the best hits of a query, at most `MAX_HITS`; suggestions where there are none."""
        query = query[:MAX_QUERY_LENGTH]
        every = words(query)
        terms = ([word for word in every if not word.stop] or every)[:MAX_WORDS]
        read: dict[str, str] = {}
        concepts = self._concepts(terms, read)
        pairs = [
            Concept(
                "",
                [
                    (_quoted((*term.parts, *two.parts)), 1.0, ""),
                    (_quoted([term.joined + two.joined]), 1.0, ""),
                ],
            )
            for term, two in pairwise(terms)
        ]
        hits = self._rank(concepts, pairs, self._named.get(phrase(query), frozenset()))
        hits.sort(key=lambda hit: -hit.score)
        hits = _spread(hits)
        near = () if hits else self._near(terms)
        return SearchAnswer(tuple(hits[:MAX_HITS]), read, near)

    def _near(self, found: list[Word]) -> tuple[str, ...]:
        near = [self.vocabulary.nearest(word.joined, loose=True)[:3] for word in found[:4]]
        return tuple(dict.fromkeys(one for some in near for one in some)) or SUGGESTIONS


SUGGESTIONS: Final = ("min.insync.replicas", "leader election", "data loss", "GC pause", "KIP-101")
"""Queries to begin with, where nothing is written like the words of a query."""


def _spread(hits: list[SearchHit]) -> list[SearchHit]:
    """Return the hits without weak ones; no kind but scenarios may crowd out the others."""
    seen: Counter[str] = Counter()
    spread = []
    for hit in hits:
        crowd = max(0, seen[hit.entry.kind] - UNCROWDED) if hit.entry.kind != "scenario" else 0
        seen[hit.entry.kind] += 1
        spread.append(SearchHit(hit.entry, hit.score * CROWDED**crowd, hit.matched))
    spread.sort(key=lambda hit: -hit.score)
    best = max((hit.score for hit in spread), default=0.0)
    return [
        hit
        for hit in spread
        if hit.score >= best * (CUT if hit.entry.kind == "scenario" else OTHERS_CUT)
    ]


@cache
def index() -> Index:
    return Index(entries())


@lru_cache(CACHED_QUERIES)
def _cached(query: str) -> SearchAnswer:
    return index().search(query)


def search(query: str) -> SearchAnswer:
    """Return the hits of a query, cached; case and white space make no difference."""
    return _cached(" ".join(query[:MAX_QUERY_LENGTH].split()))

"""Reads the property language.  The only place that knows the parser library.

HW(B) < HW(leader)                      acked(m3) and not committed(m3)
m3 in log(A)                            isr = {A, B}
epochs(B) = [0:0, 2:3]                  always leader != none
never lost(m3)                          acked(m3) until m3 in log(B)
m3 in log(A) leads to committed(m3) within 30s
every broker b: HW(b) <= LEO(b)         some record m: lost(m)

Whatever a script may say after `expect` is a property, too: P{B 1 3 [B,A]}, b1 LEO 5 HW 3.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.exceptions import VisitError

from engine.model.errors import InputError
from engine.model.phrases import join, phrase
from engine.properties.formula import (
    Call,
    Compare,
    Formula,
    Joined,
    LeadsTo,
    Members,
    Name,
    Not,
    Place,
    Quantified,
    Shorthand,
    Timed,
    Until,
    Vector,
)
from engine.scenarios.spans import span_ms

MOST_CHARACTERS: Final = 1_000
MOST_DEPTH: Final = 40
MOST_TOLD: Final = 6

_GRAMMAR: Final = r"""
?start: formula
?formula: implied
quantified: (EVERY | SOME) SORT NAME ":" formula
?implied: timed ("implies" formula)?
?timed: either
      | either "until" timed             -> until
      | either "leads" "to" either ("within" SPAN)?  -> leads
?either: both | either "or" both         -> either
?both: unary | both "and" unary          -> both
?unary: "not" unary                      -> negated
      | (ALWAYS | NEVER | EVENTUALLY) unary -> over_time
      | quantified | atom
?atom: "(" formula ")" | SHORT -> shorthand | term OP term -> compare
     | term "in" term -> inside | term "not" "in" term -> outside | call -> fact
?term: call | NUMBER -> number | "{" [word ("," word)*] "}" -> members
     | "[" [entry ("," entry)*] "]" -> vector
?word: call | NUMBER -> number
call: NAME ("(" word ("," word)* ")")?
entry: NUMBER ":" NUMBER
EVERY: "every"
SOME: "some"
SORT: /broker|record|partition/
ALWAYS: "always"
NEVER: "never"
EVENTUALLY: "eventually"
OP: "<=" | ">=" | "!=" | "<" | ">" | "="
SPAN.3: /\d{1,9}(ms|s|m|h|d)/
SHORT.4: /P\d*\{[^}\n]*\}/
       | /[\w.'-]+(\s+(LEO|HW|START|LOCAL)\s+\d+)+(\s+p=\d{1,3})?/
       | /log\s+[\w.'-]+(\s+[\w.':=\/-]+@\d+)*(\s+p=\d{1,3})?/
       | /epochs\s+[\w.'-]+(\s+\d+:\d+)+(\s+p=\d{1,3})?/
       | /(ack|waiting)(\s+(?!(and|or|implies|until|leads)\b)[\w.':-]+)+/
       | /refused\s+[\w.':-]+\s+[A-Z_]+/
NUMBER.2: /\d+(?![\w.])/
NAME: /[A-Za-z_][\w.'-]*/
%ignore /\s+/
"""

_SAID: Final = {
    "NAME": "a name",
    "NUMBER": "a number",
    "SPAN": "a time like 30s",
    "OP": "a comparison like =",
    "SORT": "broker, record or partition",
    "SHORT": "an expectation like b1 LEO 5",
    "LPAR": "(",
    "RPAR": ")",
    "LBRACE": "{",
    "RBRACE": "}",
    "LSQB": "[",
    "RSQB": "]",
    "COLON": ":",
    "COMMA": ",",
    "$END": "the end",
}


def _at(token: Any) -> Place:
    return (token.line, token.column)


def _place(term: Any) -> Place:
    at: Place = term.at
    return at


class _Build(Transformer[Token, Formula]):
    """From the parse tree to the values of `formula`."""

    def call(self, parts: list[Any]) -> Call:
        return Call(str(parts[0]), tuple(parts[1:]), _at(parts[0]))

    def number(self, parts: list[Any]) -> Name:
        return Name(str(parts[0]), _at(parts[0]))

    def members(self, parts: list[Any]) -> Members:
        found = tuple(one for one in parts if one is not None)
        return Members(found, _place(found[0]) if found else (1, 1))

    def entry(self, parts: list[Any]) -> tuple[int, int]:
        return int(parts[0]), int(parts[1])

    def vector(self, parts: list[Any]) -> Vector:
        return Vector(tuple(one for one in parts if one is not None), (1, 1))

    def compare(self, parts: list[Any]) -> Compare:
        return Compare(str(parts[1]), parts[0], parts[2], _at(parts[1]))

    def inside(self, parts: list[Any]) -> Compare:
        return Compare("in", parts[0], parts[1], _place(parts[0]))

    def outside(self, parts: list[Any]) -> Not:
        return Not(self.inside(parts))

    def fact(self, parts: list[Any]) -> Any:
        return parts[0]

    def shorthand(self, parts: list[Any]) -> Shorthand:
        return Shorthand(str(parts[0]), _at(parts[0]))

    def negated(self, parts: list[Any]) -> Not:
        return Not(parts[0])

    def over_time(self, parts: list[Any]) -> Timed:
        return Timed(str(parts[0]), parts[1])

    def both(self, parts: list[Any]) -> Joined:
        return Joined("and", parts[0], parts[1])

    def either(self, parts: list[Any]) -> Joined:
        return Joined("or", parts[0], parts[1])

    def implied(self, parts: list[Any]) -> Joined:
        return Joined("implies", parts[0], parts[1])

    def until(self, parts: list[Any]) -> Until:
        return Until(parts[0], parts[1])

    def leads(self, parts: list[Any]) -> LeadsTo:
        within = -1
        if len(parts) > 2 and parts[2] is not None:
            within = span_ms(str(parts[2]))
        return LeadsTo(parts[0], parts[1], within)

    def quantified(self, parts: list[Any]) -> Quantified:
        word, sort, name, one = parts
        return Quantified(str(word) == "every", str(sort), str(name), one, _at(word))


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", maybe_placeholders=True)


def parse(text: str) -> Formula:
    """Return a property as a formula.

    Raises InputError that names line, column and what was expected.
    """
    if len(text) > MOST_CHARACTERS:
        raise InputError("too_large", "A property has at most {0} characters.", MOST_CHARACTERS)
    if _depth(text) > MOST_DEPTH:
        raise InputError("too_large", "A property is nested at most {0} deep.", MOST_DEPTH)
    try:
        return _Build().transform(_parser().parse(text))
    except UnexpectedInput as error:
        raise _bad(text, error) from None
    except VisitError as error:
        raise InputError("invalid", "A number of this property is too long.") from error


def _depth(text: str) -> int:
    """Return an upper bound of the nesting of the formula: count brackets and words that nest."""
    words = text.replace("(", " ( ").split()
    nesting = ("(", "not", "always", "never", "eventually", "until", "implies", "every", "some")
    return sum(word in nesting for word in words)


def _bad(text: str, error: UnexpectedInput) -> InputError:
    expected: set[str] = set()
    if isinstance(error, UnexpectedToken):
        expected = set(error.accepts or error.expected)
    elif isinstance(error, UnexpectedCharacters):
        expected = set(error.allowed or ())
    line, column = error.line, error.column
    if line < 1 or (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        lines = text.split("\n")
        line, column = len(lines), len(lines[-1]) + 1
        next_text = "the end"
    else:
        rest = text.split("\n")[line - 1][column - 1 :]
        next_text = phrase("“{0}”", (rest.split() or [""])[0][:30])
    if {"NAME", "ALWAYS"} <= expected:
        expected = {"a property"}
    ranked = sorted(expected, key=lambda token: (-len(_SAID.get(token, "")), token))[:MOST_TOLD]
    words = sorted(_SAID.get(token, token.lower()) for token in ranked)
    choices = join([join(words[:-1], ", "), words[-1]], " or ") if words[1:] else words[0]
    return InputError(
        "invalid",
        "Line {0}, column {1}: {2} expected, not {3}.",
        line,
        column,
        choices,
        next_text,
        where=f"line {line}, column {column}",
    )

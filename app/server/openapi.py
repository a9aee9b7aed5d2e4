"""OpenAPI of /api from what `app.server.api_schema` declares, and a page for people."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import msgspec
from flask import Blueprint, Flask, Response, current_app, render_template
from werkzeug.routing import Rule

from app.core.json_response import to_json
from app.core.refusals import RefusedJson
from app.server import visitor
from app.server.api_schema import VIEWS, RouteSchema
from app.server.services import services
from engine.model.json_types import Json

blueprint = Blueprint("openapi", __name__)

PREFIX: Final = "/api/"
REFS: Final = "#/components/schemas/{name}"
TOKEN: Final = "X-CSRF-Token"
JSON: Final = "application/json"
KEPT: Final = "highwater.openapi"
CHANGES: Final = ("POST", "DELETE")

JsonSchema = dict[str, Any]
"""A schema, or the part of a document around it: what a key holds depends on the other keys."""


def routes(app: Flask) -> list[tuple[str, str, Rule, RouteSchema]]:
    """Return (path as OpenAPI writes it, method, rule, what is declared), in the order of paths."""
    found = []
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith(PREFIX) and rule.endpoint != f"{blueprint.name}.document":
            declared = getattr(app.view_functions[rule.endpoint], VIEWS)
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
            (method,) = (rule.methods or set()) - {"HEAD", "OPTIONS"}
            found.append((path, method, rule, declared))
    return sorted(found, key=lambda one: one[:2])


def word(rule: Rule) -> str:
    """Return the key of a route's sentence in the catalogue."""
    return f"api.{rule.endpoint}"


def described(app: Flask) -> JsonSchema:
    """Return the document, in English, as OpenAPI 3.1; made on the first request."""
    known: JsonSchema | None = app.extensions.get(KEPT)
    if known is None:
        known = app.extensions[KEPT] = _document(app)
    return known


def _document(app: Flask) -> JsonSchema:
    found = routes(app)
    types = {part for *_, one in found for part in (one.gives, one.takes, one.asks) if part}
    ordered = sorted(types - {Json}, key=lambda one: str(one.__name__))
    told, components = msgspec.json.schema_components([*ordered, RefusedJson], ref_template=REFS)
    refs = dict(zip([*ordered, RefusedJson], told, strict=True))
    refs[Json] = {"type": "object"}
    components = _for_generators(components)
    refused = {"description": "Refused", "content": {JSON: {"schema": refs[RefusedJson]}}}
    waits = {"Retry-After": {"description": "Seconds", "schema": {"type": "integer", "minimum": 1}}}
    paths: JsonSchema = {}
    for path, method, rule, one in found:
        paths.setdefault(path, {})[method.lower()] = _operation(rule, method, one, refs, components)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Highwater", "version": _version(), "description": _say("api.lead")},
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": {"Refused": refused, "SlowDown": {**refused, "headers": waits}},
            "securitySchemes": {
                "token": {
                    "type": "apiKey",
                    "in": "header",
                    "name": TOKEN,
                    "description": services().words.text("en", "api.token", {"header": TOKEN}),
                },
                "key": {"type": "http", "scheme": "bearer", "description": _say("api.key")},
            },
        },
    }


def _for_generators(part: Any) -> Any:
    """Return a part of the document as generators of clients read it.

    They know neither `"items": false` nor an enum without a type.
    """
    if isinstance(part, list):
        return [_for_generators(one) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: _for_generators(value) for key, value in part.items()}
    if found.get("items") is False:
        del found["items"]  # maxItems says the same
    match found.get("enum"):
        case [bool() as only]:
            del found["enum"]
            found |= {"type": "boolean", "const": only}
        case [str(), *_]:
            found["type"] = "string"
    return found


def _operation(
    rule: Rule, method: str, one: RouteSchema, refs: dict[Any, Any], components: JsonSchema
) -> JsonSchema:
    told: JsonSchema = {
        "operationId": rule.endpoint,
        "tags": [rule.endpoint.partition(".")[0]],
        "summary": _say(word(rule)),
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in sorted(rule.arguments)
        ],
        "responses": {
            str(status): {
                "description": "Done",
                "content": {JSON: {"schema": refs[one.gives]}},
            }
            for status in one.statuses
        },
    }
    refused, slow_down = ({"$ref": f"#/components/responses/{n}"} for n in ("Refused", "SlowDown"))
    given = one.takes is not None or one.asks is not None
    owned = method in CHANGES and not rule.endpoint.startswith("programs.")
    statuses = {400: given, 403: owned, 404: bool(rule.arguments)}
    statuses |= dict.fromkeys((409, 413), one.takes is not None)
    told["responses"] |= {str(status): refused for status, may in statuses.items() if may}
    told["responses"] |= {"429": slow_down, "503": slow_down, "default": refused}
    if one.asks is not None:
        asked = components[one.asks.__name__]["properties"]
        told["parameters"] += [
            {"name": name, "in": "query", "schema": schema} for name, schema in asked.items()
        ]
    if one.takes is not None:
        sent = {"schema": refs[one.takes], "example": one.example}
        told["requestBody"] = {"required": True, "content": {JSON: sent}}
    if owned:
        none: list[Json] = [] if "number" in rule.arguments else [{}]
        told["security"] = [*none, {"key": []}, {"token": []}]
    return told


def _say(key: str) -> str:
    return str(services().words.text("en", key, {}))


def _version() -> str:
    try:
        return version("highwater")
    except PackageNotFoundError:
        return "0"


@blueprint.get("/api/openapi.json")
def document() -> Response:
    """Return the description, for programs."""
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    response = Response(to_json(described(app)), mimetype="application/json")
    response.add_etag()
    response.cache_control.no_cache = True
    return response


@blueprint.get("/api")
def page() -> str:
    """Render the same for people."""
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    document = described(app)
    shown = [
        {
            "path": path,
            "method": method,
            "key": word(rule),
            "takes": _fields(document, one.takes),
            "asks": _fields(document, one.asks),
            "gives": _fields(document, one.gives),
        }
        for path, method, rule, one in routes(app)
    ]
    return render_template("api.html", routes=shown, token=TOKEN, lang=visitor.lang())


def _fields(document: JsonSchema, kind: Any) -> list[tuple[str, str, bool]]:
    """Return (name, its type in short, whether it is required) of what is sent or returned."""
    schema = document["components"]["schemas"].get(getattr(kind, "__name__", ""), {})
    must = schema.get("required", ())
    told = schema.get("properties", {}).items()
    return [(name, _short(one), name in must) for name, one in told if name != "ok"]


def _short(schema: JsonSchema) -> str:
    """Return a short type, such as string, integer, [string] or PartitionRead."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " | ".join(_short(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"[{_short(schema.get('items', {}))}]"
    return str(schema.get("type", "any"))

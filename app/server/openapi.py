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
    rows = []
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith(PREFIX) and rule.endpoint != f"{blueprint.name}.document":
            declared = getattr(app.view_functions[rule.endpoint], VIEWS)
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
            (method,) = (rule.methods or set()) - {"HEAD", "OPTIONS"}
            rows.append((path, method, rule, declared))
    return sorted(rows, key=lambda row: row[:2])


def word(rule: Rule) -> str:
    """Return the key of a route's sentence in the catalogue."""
    return f"api.{rule.endpoint}"


def described(app: Flask) -> JsonSchema:
    """Return the document, in English, as OpenAPI 3.1; made on the first request."""
    answer: JsonSchema | None = app.extensions.get(KEPT)
    if answer is None:
        answer = app.extensions[KEPT] = _document(app)
    return answer


def _document(app: Flask) -> JsonSchema:
    rows = routes(app)
    types = {
        part for *_, schema in rows for part in (schema.gives, schema.takes, schema.asks) if part
    }
    ordered = sorted(types - {Json}, key=lambda kind: str(kind.__name__))
    schemas, components = msgspec.json.schema_components([*ordered, RefusedJson], ref_template=REFS)
    refs = dict(zip([*ordered, RefusedJson], schemas, strict=True))
    refs[Json] = {"type": "object"}
    components = _for_generators(components)
    refused = {"description": "Refused", "content": {JSON: {"schema": refs[RefusedJson]}}}
    waits = {"Retry-After": {"description": "Seconds", "schema": {"type": "integer", "minimum": 1}}}
    paths: JsonSchema = {}
    for path, method, rule, route in rows:
        paths.setdefault(path, {})[method.lower()] = _operation(
            rule, method, route, refs, components
        )
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
        return [_for_generators(item) for item in part]
    if not isinstance(part, dict):
        return part
    schema = {key: _for_generators(value) for key, value in part.items()}
    if schema.get("items") is False:
        del schema["items"]  # maxItems says the same
    match schema.get("enum"):
        case [bool() as only]:
            del schema["enum"]
            schema |= {"type": "boolean", "const": only}
        case [str(), *_]:
            schema["type"] = "string"
    return schema


def _operation(
    rule: Rule, method: str, route: RouteSchema, refs: dict[Any, Any], components: JsonSchema
) -> JsonSchema:
    operation: JsonSchema = {
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
                "content": {JSON: {"schema": refs[route.gives]}},
            }
            for status in route.statuses
        },
    }
    refused, slow_down = ({"$ref": f"#/components/responses/{n}"} for n in ("Refused", "SlowDown"))
    given = route.takes is not None or route.asks is not None
    owned = method in CHANGES and not rule.endpoint.startswith("programs.")
    statuses = {400: given, 403: owned, 404: bool(rule.arguments)}
    statuses |= dict.fromkeys((409, 413), route.takes is not None)
    operation["responses"] |= {str(status): refused for status, may in statuses.items() if may}
    operation["responses"] |= {"429": slow_down, "503": slow_down, "default": refused}
    if route.asks is not None:
        fields = components[route.asks.__name__]["properties"]
        operation["parameters"] += [
            {"name": name, "in": "query", "schema": schema} for name, schema in fields.items()
        ]
    if route.takes is not None:
        sent = {"schema": refs[route.takes], "example": route.example}
        operation["requestBody"] = {"required": True, "content": {JSON: sent}}
    if owned:
        none: list[Json] = [] if "number" in rule.arguments else [{}]
        operation["security"] = [*none, {"key": []}, {"token": []}]
    return operation


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
            "takes": _fields(document, route.takes),
            "asks": _fields(document, route.asks),
            "gives": _fields(document, route.gives),
        }
        for path, method, rule, route in routes(app)
    ]
    return render_template("api.html", routes=shown, token=TOKEN, lang=visitor.lang())


def _fields(document: JsonSchema, kind: Any) -> list[tuple[str, str, bool]]:
    """Return (name, its type in short, whether it is required) of what is sent or returned."""
    schema = document["components"]["schemas"].get(getattr(kind, "__name__", ""), {})
    must = schema.get("required", ())
    properties = schema.get("properties", {}).items()
    return [(name, _short(field), name in must) for name, field in properties if name != "ok"]


def _short(schema: JsonSchema) -> str:
    """Return a short type, such as string, integer, [string] or PartitionRead."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " | ".join(_short(choice) for choice in schema["anyOf"])
    if schema.get("type") == "array":
        return f"[{_short(schema.get('items', {}))}]"
    return str(schema.get("type", "any"))

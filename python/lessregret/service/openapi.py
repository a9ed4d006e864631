"""The description of the endpoints, as an OpenAPI document and as a page."""

from __future__ import annotations

import html
import json
from typing import Any

from lessregret._core import __version__
from lessregret.service.bodies import ARROW_FILE, ARROW_STREAM, CSV, JSON, NDJSON, VW

CELL: dict[str, Any] = {
    "anyOf": [{"type": "number"}, {"type": "string"}, {"type": "boolean"}, {"type": "null"}]
}
EXAMPLE: dict[str, Any] = {
    "type": "object",
    "required": ["features"],
    "additionalProperties": False,
    "properties": {
        "features": {
            "type": "object",
            "description": "Names and values. A number is the feature's value; a word makes the "
            "feature 'name=word' of value 1. For a model of a table: the cells of a row.",
            "additionalProperties": CELL,
        },
        "label": {**CELL, "description": "What is to be predicted; needed to learn."},
        "importance": {"type": "number", "minimum": 0, "default": 1},
        "id": {
            "type": ["string", "null"],
            "description": "Given to /predict, the features are kept until /outcome brings the "
            "label.",
        },
    },
}
LABEL: dict[str, Any] = {
    "type": "object",
    "required": ["id", "label"],
    "additionalProperties": False,
    "properties": {"id": {"type": "string", "minLength": 1, "maxLength": 256}, "label": CELL},
}
ERRORS = {
    "400": "The request is wrong; the answer says where. Nothing of it was learned.",
    "401": "A token is missing or wrong.",
    "403": "The request comes from a page of another site.",
    "405": "The path has another method.",
    "408": "The body did not arrive in time.",
    "413": "The body is too large.",
    "415": "The service or its model does not read this kind of body.",
    "422": "The examples are in the log, and a margin became too large to go on learning them.",
    "429": "Too much waits already. Retry-After says when to come again.",
    "503": "The service cannot do it now; the answer says why. Nothing was acknowledged.",
}
RIGHTS = "Where the service has tokens, one for '{}' or 'admin' is needed."


def document() -> dict[str, Any]:
    """The OpenAPI document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "lessregret",
            "version": __version__,
            "description": "A linear model that learns while it serves.",
        },
        "components": {
            "schemas": {"Example": EXAMPLE, "Label": LABEL, "Error": ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "paths": {path: {method: described} for method, path, described in _operations()},
    }


ERROR: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {"type": "string"},
        "line": {"type": "integer"},
        "column": {"type": "integer"},
    },
}


def _operations() -> list[tuple[str, str, dict[str, Any]]]:
    predicted = _object(prediction=CELL, predictions={"type": "array", "items": CELL})
    learned = _object(examples=WHOLE, position=WHOLE, repeated={"type": "boolean"})
    settled = _object(results={"type": "array", "items": {"type": "string"}}, position=WHOLE)
    return [
        ("post", "/predict", _posted("Predict examples.", "predict", "Example", predicted)),
        ("post", "/learn", _posted("Learn from examples.", "learn", "Example", learned, KEY)),
        ("post", "/outcome", _posted("Bring labels of predictions.", "learn", "Label", settled)),
        ("post", "/snapshot", _asked("Write a snapshot now.", "admin", _object(position=WHOLE))),
        ("get", "/model", _asked("The newest snapshot, a model file, with its ETag.", "admin")),
        ("get", "/", _asked("The live page.", None)),
        ("get", "/metrics", _asked("Counters and gauges for Prometheus.", "admin")),
        ("get", "/health", _asked("Whether the process lives.", None, _object())),
        ("get", "/ready", _asked("Whether it can learn, and if not, why.", None, _object())),
    ]


NUMBER = {"type": "number"}
WHOLE = {"type": "integer"}
KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A request with a key that was seen before is not learned again.",
    "schema": {"type": "string", "maxLength": 256},
}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _posted(
    summary: str, right: str, schema: str, answer: dict[str, Any], *parameters: dict[str, Any]
) -> dict[str, Any]:
    one = {"$ref": f"#/components/schemas/{schema}"}
    many = {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}
    content: dict[str, Any] = {JSON: {"schema": many}, NDJSON: {"schema": {"type": "string"}}}
    if schema == "Example":
        kinds = (VW, CSV, ARROW_STREAM, ARROW_FILE)
        content |= {kind: {"schema": {"type": "string"}} for kind in kinds}
    body = {"required": True, "content": content}
    described = _asked(summary, right, answer)
    return {**described, "parameters": list(parameters), "requestBody": body}


def _asked(summary: str, right: str | None, answer: dict[str, Any] | None = None) -> dict[str, Any]:
    done: dict[str, Any] = {"description": "Done."}
    if answer is not None:
        done["content"] = {JSON: {"schema": answer}}
    problem = {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}
    errors = {code: {"description": told, "content": problem} for code, told in ERRORS.items()}
    described: dict[str, Any] = {"summary": summary, "responses": {"200": done, **errors}}
    if right is not None:
        described["description"] = RIGHTS.format(right)
        described["security"] = [{}, {"token": []}]
    return described


STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:0 auto;padding:1rem}
code,pre{font:14px/1.45 ui-monospace,monospace}pre{overflow-x:auto;padding:.75rem;
border:1px solid color-mix(in srgb,currentColor 20%,transparent);border-radius:6px}
h2{margin-top:2rem;font-size:1.1rem}td{vertical-align:top;padding:.15rem .75rem .15rem 0}
"""


def docs_page() -> str:
    """The document as one page for people, with nothing loaded from elsewhere."""
    operations = "".join(_section(*operation) for operation in _operations())
    example = json.dumps({"features": {"user": "u7", "hour": 23}, "label": 1}, indent=2)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>lessregret: endpoints'
        '</title><meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{STYLE}</style></head><body><h1>Endpoints</h1><p>The same as an OpenAPI "
        'document: <a href="openapi.json">openapi.json</a>. An example in JSON:</p>'
        f"<pre>{html.escape(example)}</pre>{operations}</body></html>"
    )


def _section(method: str, path: str, described: dict[str, Any]) -> str:
    kinds = described.get("requestBody", {}).get("content", {})
    takes = f"<p>Takes {', '.join(f'<code>{kind}</code>' for kind in kinds)}.</p>" if kinds else ""
    rows = "".join(
        f"<tr><td><code>{code}</code><td>{html.escape(one['description'])}"
        for code, one in described["responses"].items()
    )
    told = html.escape(f"{described['summary']} {described.get('description', '')}")
    head = f"<h2><code>{method.upper()} {path}</code></h2><p>{told}</p>"
    return f"{head}{takes}<table>{rows}</table>"

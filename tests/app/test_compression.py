"""Modules, styles and words travel compressed; what carries a secret does not."""

from __future__ import annotations

import gzip

import pytest
from flask.testing import FlaskClient

GZIP = {"Accept-Encoding": "gzip, br"}


@pytest.mark.parametrize(
    "path",
    [
        "/static/js/pages/animator.js",
        "/static/css/scene.css",
        "/static/icons.svg",
        "/static/vendor/preact-11.2.0.mjs",
        "/i18n/zh.json",
        "/api/registry",
        "/api/cards/K39",
    ],
)
def test_text_is_compressed_once_and_says_the_same(client: FlaskClient, path: str) -> None:
    plain = client.get(path, buffered=True)
    assert "Content-Encoding" not in plain.headers
    for _ in range(2):
        packed = client.get(path, headers=GZIP, buffered=True)
        assert packed.headers["Content-Encoding"] == "gzip"
        assert packed.headers["Vary"] == "Accept-Encoding"
        assert gzip.decompress(packed.data) == plain.data
        assert int(packed.headers["Content-Length"]) == len(packed.data) < len(plain.data)
    tag = packed.headers["ETag"]
    again = client.get(path, headers={**GZIP, "If-None-Match": tag}, buffered=True)
    assert (again.status_code, again.data) == (304, b"")


def test_pages_with_a_token_are_not_compressed(client: FlaskClient) -> None:
    page = client.get("/s/S20", headers=GZIP, buffered=True)
    assert page.status_code == 200 and "Content-Encoding" not in page.headers


def test_who_cannot_unpack_gets_it_plain(client: FlaskClient) -> None:
    answer = client.get(
        "/static/js/pages/animator.js", headers={"Accept-Encoding": "identity"}, buffered=True
    )
    assert "Content-Encoding" not in answer.headers and answer.data.startswith(b"//")

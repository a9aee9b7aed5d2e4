"""Modules, styles, words and pages travel compressed, and no length tells of a secret."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable

import brotli
import pytest
from flask.testing import FlaskClient

GZIP = {"Accept-Encoding": "gzip, deflate"}
BROTLI = {"Accept-Encoding": "gzip, deflate, br"}


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


def test_a_browser_that_knows_brotli_gets_it(client: FlaskClient) -> None:
    path = "/static/css/scene.css"
    plain = client.get(path, buffered=True)
    packed = client.get(path, headers=BROTLI, buffered=True)
    assert packed.headers["Content-Encoding"] == "br"
    assert brotli.decompress(packed.data) == plain.data
    # The other way is kept beside it, not in its place.
    assert client.get(path, headers=GZIP, buffered=True).headers["Content-Encoding"] == "gzip"


@pytest.mark.parametrize(("how", "unpack"), [(GZIP, gzip.decompress), (BROTLI, brotli.decompress)])
def test_a_page_is_compressed_and_its_token_never_twice_the_same(
    client: FlaskClient, how: dict[str, str], unpack: Callable[[bytes], bytes]
) -> None:
    tokens = set()
    for _ in range(3):
        page = client.get("/s/S20", headers=how, buffered=True)
        assert page.headers["Vary"].startswith("Accept-Encoding")
        found = re.search(rb'data-csrf="([^"]+)"', unpack(page.data))
        assert found
        tokens.add(found[1].decode())
    assert len(tokens) == 3
    for token in tokens:
        sent = client.post("/api/runs", json={}, headers={"X-CSRF-Token": token})
        assert sent.status_code != 403
    for forged in ("", "A" * 64, token[:-4], token[:-1] + "=", "no token"):
        sent = client.post("/api/runs", json={}, headers={"X-CSRF-Token": forged})
        assert sent.status_code == 403, forged


def test_clients_without_compression_get_it_plain(client: FlaskClient) -> None:
    answer = client.get(
        "/static/js/pages/animator.js", headers={"Accept-Encoding": "identity"}, buffered=True
    )
    assert "Content-Encoding" not in answer.headers and answer.data.startswith(b"//")

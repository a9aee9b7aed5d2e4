"""The visitor of a request: identity, language, and whether the request came from our own page."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from typing import Final

from flask import g, request, session

from app.admission.cpu_quota import payer
from app.core.refusals import RequestError
from app.server.services import services
from engine.model.languages import USUAL, language_of, short

BROWSER: Final = "browser"
"""Where `g` keeps the token of the cookie that came with the request."""
KEY_FORM: Final = re.compile(r"[\w-]{32}", re.ASCII)
"""A key as `secrets.token_urlsafe(24)` makes it: another could be guessed."""


def csrf_token() -> str:
    """Return the token of this browser's session, masked differently each time.

    Pages send it back.  The mask lets a page be compressed: otherwise the compressed length would
    leak the token (BREACH).
    """
    token = _token().encode()
    cover = secrets.token_bytes(len(token))
    return base64.urlsafe_b64encode(cover + _covered(cover, token)).decode()


def _covered(cover: bytes, text: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(cover, text, strict=True))


def _token() -> str:
    """Return the token in the session's cookie, made on first use."""
    token = session.get("csrf")
    if not isinstance(token, str):
        token = session["csrf"] = secrets.token_urlsafe(24)
        session.permanent = True
    return token


def browser_token() -> str:
    """Return the browser's cookie, which tells it from others of its address; "" for none yet.

    Not by way of `session`: whom to charge is no part of the answer, which stays the same for
    everybody (no ``Vary: Cookie``).
    """
    token = g.get(BROWSER)
    return token if isinstance(token, str) else ""


def is_own_token(given: object) -> bool:
    token = session.get("csrf")
    if not isinstance(token, str) or not isinstance(given, str):
        return False
    try:
        both = base64.b64decode(given.encode(), b"-_", validate=True)
    except (ValueError, UnicodeEncodeError):
        return False
    half, odd = divmod(len(both), 2)
    sent = b"" if odd else _covered(both[:half], both[half:])
    return hmac.compare_digest(token.encode(), sent)


def require_token() -> None:
    """Raise `RequestError` "forbidden" without our token, for whatever stores or costs.

    A program needs none below /api: it sends JSON and no cookie, so it can use nothing that
    belongs to a visitor.  A page of another site cannot pass for one: a browser names the origin
    of a POST, and asks first (CORS, which is never granted) before it sends JSON or a key there.
    """
    if _is_without_cookies() and (request.is_json or _given_key()):
        return
    given = request.headers.get("X-CSRF-Token") or request.form.get("csrf")
    if not is_own_token(given):
        raise RequestError("forbidden", key="forbidden.program" if is_program() else "forbidden")


def _is_without_cookies() -> bool:
    return is_program() and not request.cookies


def is_program() -> bool:
    """Check for a request below /api that no page made."""
    from_page = any(name in request.headers for name in ("Origin", "Sec-Fetch-Site", "Referer"))
    return request.path.startswith("/api/") and not from_page


def require_token_header() -> None:
    """Raise the same unless a header has our token: a form in the body is not looked at."""
    if not is_own_token(request.headers.get("X-CSRF-Token")):
        raise RequestError("forbidden")


def limit_saves() -> None:
    """Raise `RequestError` "slow_down" for an address that saves too often."""
    services().accounts.take(request.remote_addr or "", "saves")


def pay_for(size: int) -> None:
    """Charge the address for `size` saved bytes.

    Raises `RequestError` "slow_down" beyond its limit.
    """
    services().accounts.keep(request.remote_addr or "", size)


def owner() -> str:
    """Return the hash under which things are stored for this browser or key.

    The token and the key are never stored.
    """
    name = f"key {program_key()}" if _is_without_cookies() else _token()
    return hashlib.sha256(name.encode()).hexdigest()


def known_owner() -> str:
    """Return the same for a browser or a key that is known; "" for any other."""
    known = _given_key() if _is_without_cookies() else session.get("csrf")
    return owner() if known else ""


def program_key() -> str:
    """Return the key under which a program owns its studies: the one it sent, else a new one.

    Raises `RequestError` "forbidden" for one that is not as the server makes them.
    """
    if "key" not in g:
        g.key = _given_key() or secrets.token_urlsafe(24)
    return str(g.key)


def _given_key() -> str:
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return ""
    if not KEY_FORM.fullmatch(key):
        raise RequestError("forbidden", key="forbidden.key")
    return key


def new_key() -> dict[str, str]:
    """Return the key of a program, for an answer that starts something; nothing for a browser."""
    return {"key": program_key()} if _is_without_cookies() else {}


def owner_and_account() -> tuple[str, str]:
    """Return the owner of what is started now, and the address that it counts for."""
    return owner(), payer(request.remote_addr or "")


def lang() -> str:
    """Return the language: ``?lang``, else the cookie, else the browser's choice, else English."""
    if "lang" not in g:
        g.lang = _lang()
    return str(g.lang)


def lang_query() -> dict[str, str]:
    """Return the language where the address names one: links and forms of the page keep it."""
    return {"lang": short(lang())} if "lang" in request.args else {}


def _lang() -> str:
    for name in (request.args.get("lang"), request.cookies.get("lang")):
        tag = name and language_of(name)
        if tag:
            return tag
    for name, _ in request.accept_languages:
        tag = language_of(name)
        if tag:
            return tag
    return USUAL

"""Who is asking, in which language, and whether the question came from one of our own pages."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from flask import g, request, session

from app.common.accounts import payer
from app.common.refusals import Refusal
from app.common.words import DEFAULT, language
from app.context.services import services


def csrf_token() -> str:
    """The token of this browser's session, made on first use and sent back by our pages."""
    token = session.get("csrf")
    if not isinstance(token, str):
        token = session["csrf"] = secrets.token_urlsafe(24)
        session.permanent = True
    return token


def is_own_token(given: object) -> bool:
    token = session.get("csrf")
    return (
        isinstance(token, str)
        and isinstance(given, str)
        and hmac.compare_digest(token.encode(), given.encode())
    )


def require_token() -> None:
    """For whatever stores or costs.  Raises `Refusal` "forbidden" without our token."""
    given = request.headers.get("X-CSRF-Token") or request.form.get("csrf")
    if not is_own_token(given):
        raise Refusal("forbidden")


def require_patience() -> None:
    """Raises `Refusal` "slow_down" for an address that saves too often."""
    services().accounts.take(request.remote_addr or "", "saves")


def pay_for(size: int) -> None:
    """Raises `Refusal` "slow_down" for an address that has saved so many bytes too many."""
    services().accounts.keep(request.remote_addr or "", size)


def owner() -> str:
    """The hash under which things are stored for this browser; the token never is."""
    return hashlib.sha256(csrf_token().encode()).hexdigest()


def asker() -> tuple[str, str]:
    """Whom what is started now belongs to, and the address that it counts for."""
    return owner(), payer(request.remote_addr or "")


def lang() -> str:
    """From ``?lang``, else the cookie, else what the browser prefers, else English."""
    if "lang" not in g:
        g.lang = _lang()
    return str(g.lang)


def _lang() -> str:
    for name in (request.args.get("lang"), request.cookies.get("lang")):
        known = name and language(name)
        if known:
            return known
    for name, _ in request.accept_languages:
        known = language(name)
        if known:
            return known
    return DEFAULT

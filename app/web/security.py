"""Who is asking, in which language, and whether the question came from one of our own pages."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from flask import Flask, Response, g, request, session
from flask.sessions import SecureCookieSessionInterface

from app.common.refusals import Refusal
from app.common.words import DEFAULT, LANGUAGES, language
from app.context.services import services

YEAR_S = 365 * 24 * 3600


class Cookies(SecureCookieSessionInterface):
    """The session's cookie stays on https where the page came over https, by the proxy's word."""

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure


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
    wait_ms = services().saves.take(request.remote_addr or "")
    if wait_ms:
        raise Refusal("slow_down", ms=wait_ms)


def owner() -> str:
    """The hash under which things are stored for this browser; the token never is."""
    return hashlib.sha256(csrf_token().encode()).hexdigest()


def asker() -> tuple[str, str]:
    """Whom what is started now belongs to, and the address that it counts for."""
    return owner(), request.remote_addr or ""


def nonce() -> str:
    """One per answer: what the inline scripts of a page must carry to be run."""
    if "nonce" not in g:
        g.nonce = secrets.token_urlsafe(16)
    return str(g.nonce)


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


def embedded() -> bool:
    """Is this for a frame in somebody else's page?  Those get no cookies."""
    return request.path.startswith("/e/")


def _policy() -> str:
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' 'nonce-{nonce()}'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            f"frame-ancestors {'*' if embedded() else repr('self')}",
        )
    )


def guard(app: Flask) -> None:
    """Puts the headers on every answer and remembers a language that was chosen by hand."""

    @app.after_request
    def headers(response: Response) -> Response:
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        if response.mimetype == "text/html":
            response.headers["Content-Security-Policy"] = _policy()
            response.headers.setdefault("Cache-Control", "no-cache, private")
            chosen = language(request.args.get("lang", ""))
            # A link somebody sent shows its language; only our own pages make it the usual one.
            sent = request.headers.get("Sec-Fetch-Site") in ("cross-site", "none")
            if chosen in LANGUAGES and not sent and not embedded():
                response.set_cookie(
                    "lang",
                    chosen,
                    max_age=YEAR_S,
                    samesite="Lax",
                    httponly=True,
                    secure=request.is_secure,
                )
        return response

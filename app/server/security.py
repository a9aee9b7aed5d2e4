"""Headers of every answer: what a page loads, sites that may frame it, cookies over https only."""

from __future__ import annotations

import secrets

from flask import Flask, Request, Response, g, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from itsdangerous import BadSignature

from app.server import visitor
from engine.model.languages import LANGUAGES, language_of

YEAR_S = 365 * 24 * 3600

FILE_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""Of what is no page: it may be opened by its address all the same."""


class Cookies(SecureCookieSessionInterface):
    """Session cookies that stay on https where the page came over https, by the proxy's header.

    A cookie is read whatever its age: the browser deletes it, after a year.  Otherwise a clock that
    was wrong for a minute, by an hour back or some years ahead, would cost visitors of that minute
    what they have saved and started.
    """

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        signer = self.get_signing_serializer(app)
        if signer is None:
            return None
        try:
            data = signer.loads(request.cookies.get(self.get_cookie_name(app), ""))
        except BadSignature:
            data = {}
        setattr(g, visitor.BROWSER, data.get("csrf"))
        return self.session_class(data)


def nonce() -> str:
    """Return the response's nonce, which inline scripts of a page must carry to be run."""
    if "nonce" not in g:
        g.nonce = secrets.token_urlsafe(16)
    return str(g.nonce)


def embedded() -> bool:
    """Check whether this is for a frame in another site's page.  Those get no cookies."""
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
    """Set the headers of every response, and remember a language that was chosen by hand."""

    @app.after_request
    def headers(response: Response) -> Response:
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        response.headers.setdefault("Content-Security-Policy", FILE_POLICY)
        if request.is_secure:
            response.headers["Strict-Transport-Security"] = f"max-age={YEAR_S}"
        if response.mimetype == "text/html":
            response.headers["Content-Security-Policy"] = _policy()
            response.headers.setdefault("Cache-Control", "no-cache, private")
            chosen = language_of(request.args.get("lang", ""))
            # A shared link shows its language; only our own pages make it the usual one.
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

"""One clear sentence for each way a gateway connection fails: what, where, what to do. No I/O."""

from __future__ import annotations

import errno
import socket
import ssl

from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
    ProxyError,
)

from inspector.sources.connection import shown_url

MAX_REASON = 200
"""Characters of text from the other side that a sentence repeats."""


def open_failure(error: BaseException, *, url: str, step: str, timeout_s: float) -> str:
    """Return the sentence for an error while connecting.

    Args:
        error: What was raised.
        url: The address as the user gave it; shown without secrets.
        step: How far we got: ``name lookup``, ``TCP``, ``TLS`` or ``upgrade``; decides what a timeout means.
        timeout_s: The time allowed, in seconds.
    """
    where = shown_url(url)
    match error:
        case InvalidURI():
            return f"{where} is no WebSocket address. Type one such as ws://127.0.0.1:8080."
        case InvalidProxy() | ProxyError() | ImportError():
            return f"The proxy on the way to {where} failed (proxy): {_text(error)}. Check the proxy settings."
        case InvalidStatus():
            return _status_sentence(error, where)
        case InvalidMessage() | InvalidHandshake():
            return (
                f"{where} answered, but not as a WebSocket server (upgrade): {_text(error)}. "
                "Check the port: another program may be listening there."
            )
        case socket.gaierror():
            return f"No host of that name was found for {where} (name lookup). Check the spelling and the network."
        case ssl.SSLError() | ssl.CertificateError():
            return _tls_sentence(error, where)
        case _:
            return _socket_sentence(error, where, step, timeout_s)


def welcome_timeout(*, url: str, space: str, timeout_s: float) -> str:
    """Return the sentence for a gateway that let us join and never greeted us."""
    return (
        f"{shown_url(url)} accepted the connection but sent no welcome for space {space} within {timeout_s:g} s "
        "(welcome). Check that it is a MEW gateway, and the space, participant id and token; what was received is kept."
    )


def closed_sentence(closed: ConnectionClosed, *, url: str, lost: bool, welcomed: bool) -> str:
    """Return the sentence for a connection that ended without our asking.

    Args:
        closed: What the reader raised; tells the close code and reason, and who closed.
        url: The address as the user gave it.
        lost: Our ping was not answered.
        welcomed: The gateway had greeted us already.
    """
    where = shown_url(url)
    step = "" if welcomed else " before its welcome"
    if lost:
        return f"{where} went silent and did not answer a ping: the connection is lost{step}. Connect again."
    # The other side echoes our close code, so who began matters.
    if closed.rcvd is None or not closed.rcvd_then_sent:
        if closed.sent is not None and closed.sent.code == 1009:
            return f"{where} sent a frame above 100 MiB{step}, so the connection was closed (1009). Connect again."
        if closed.sent is not None:
            return (
                f"{where} sent something that is not WebSocket{step}, so the connection was closed "
                f"({closed.sent.code}{_reason(closed.sent.reason)}). Connect again."
            )
        return f"The connection to {where} broke off{step}: no close was sent. Is the gateway still running?"
    code, reason = closed.rcvd.code, _reason(closed.rcvd.reason)
    match code:
        case 1000 | 1001:
            return f"{where} ended the connection{step} ({code}{reason}). Connect again when it is back."
        case 1008:
            return f"{where} refused us{step} ({code}{reason}). Check the token, the space and the participant id."
        case 1009:
            return f"{where} found one of our frames too large{step} ({code}{reason}). Connect again."
        case 1011 | 1012 | 1013:
            return f"{where} had an internal error{step} ({code}{reason}). Look at its own log, then connect again."
        case _:
            return f"{where} closed the connection{step} ({code}{reason}). Look at its own log, then connect again."


def _status_sentence(error: InvalidStatus, where: str) -> str:
    status = error.response.status_code
    match status:
        case 401 | 403:
            advice = "Check the token."
        case 404:
            advice = "Check the path of the address."
        case 301 | 302 | 303 | 307 | 308:
            # Not followed: the join message would carry the token to wherever it points.
            to = shown_url(error.response.headers.get("Location", "elsewhere"))
            advice = f"It points to {_short(to)}; connect there if you trust it."
        case 426:
            advice = "It wants another protocol: check the port."
        case status if status >= 500:
            advice = "Look at its own log, or at the proxy before it."
        case _:
            advice = "Check the address."
    answer = f"HTTP {status} {_short(error.response.reason_phrase)}".strip()
    return f"{where} refused the WebSocket upgrade with {answer} (upgrade). {advice}"


def _tls_sentence(error: ssl.SSLError | ssl.CertificateError, where: str) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        why = _short(error.verify_message) or "it could not be verified"
        return f"The certificate of {where} is not trusted (TLS): {why}. Check the host name and the certificate."
    if getattr(error, "reason", None) in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"):
        return f"{where} does not speak TLS on that port (TLS). Try ws:// in place of wss://."
    return f"{where} allows no secure connection (TLS): {_text(error)}. Check the address and the certificate."


def _socket_sentence(error: BaseException, where: str, step: str, timeout_s: float) -> str:
    if isinstance(error, ConnectionAbortedError) and "SSL" in str(error):
        return f"{where} did not finish the TLS handshake in time (TLS). Try ws:// or another port."
    if isinstance(error, TimeoutError):
        if step == "upgrade":
            return (
                f"{where} accepted the connection but did not answer the WebSocket upgrade within {timeout_s:g} s "
                "(upgrade). Check the port: another program may be listening there."
            )
        return f"{where} did not answer within {timeout_s:g} s ({step}). Check the address, the port and the firewall."
    # A name with several addresses fails with one error that lists them all.
    if isinstance(error, ConnectionRefusedError) or f"[Errno {errno.ECONNREFUSED}]" in str(error):
        return f"{where} refused the connection (TCP): nothing is listening there. Start the gateway or check the port."
    if isinstance(error, (ConnectionResetError, ConnectionAbortedError, EOFError)):
        return f"{where} dropped the connection while it was being opened ({step}). Check that it is a gateway."
    if isinstance(error, OSError):
        return f"{where} could not be reached ({step}): {_text(error)}. Check the address and the network."
    return f"Connecting to {where} failed ({step}): {_text(error)}. Check the address."


def _reason(reason: str) -> str:
    return f": {_short(reason)}" if reason else ""


def _text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return _short(error.strerror)
    cause = error.__cause__
    if isinstance(error, InvalidMessage) and cause is not None and str(cause):
        return _short(str(cause))
    return _short(str(error)) or type(error).__name__


def _short(text: str) -> str:
    """Return text from elsewhere on one line, printable, cut, and without a final full stop."""
    line = "".join(char if char.isprintable() else " " for char in text).strip().rstrip(".")
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 1] + "…"

"""Sentences for errors of a gateway connection (open, TLS, welcome, close), and the text of its gap.

Each sentence names the failed step: name lookup, TCP, TLS, upgrade, join or welcome.
"""

from __future__ import annotations

import errno
import socket
import ssl
from dataclasses import dataclass

from typing_extensions import override
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
    ProxyError,
)

from inspector.protocol.timestamps import hours_in_words
from inspector.sources.connection import shown_url

MAX_REASON = 200
"""Limit in characters of quoted text from the other side."""

_REFUSALS = frozenset({1008, 4001, 4003, 4401, 4403})
"""Close codes that refuse this client: 1008 of older gateways, and codes for HTTP 401 and 403 in others."""

_ERRORS = frozenset({1011, 1012, 1013, 1014})


@dataclass(frozen=True)
class ConnectionFailure:
    """An error in parts; ``str`` of it is the text for the user."""

    what: str
    """A sentence: the event, the place and the step."""

    advice: str = ""
    """One or two sentences of advice. Left out while reconnecting."""

    permanent: bool = False
    """Another attempt would fail too: the gateway knows us and refuses."""

    @override
    def __str__(self) -> str:
        return f"{self.what} {self.advice}".strip()


def open_failure(error: BaseException, *, url: str, step: str, timeout_s: float) -> ConnectionFailure:
    """Words an error while connecting.

    Args:
        error: the exception.
        url: address as given by the user; shown without secrets.
        step: progress: ``name lookup``, ``TCP``, ``TLS`` or ``upgrade``; decides the meaning of a timeout.
        timeout_s: timeout in seconds.
    """
    where = shown_url(url)
    match error:
        case InvalidURI():
            return ConnectionFailure(f"{where} is no WebSocket address.", "Type one such as ws://127.0.0.1:8080.", True)
        case InvalidProxy() | ProxyError() | ImportError():
            return ConnectionFailure(
                f"The proxy on the way to {where} failed (proxy): {_error_text(error)}.", "Check the proxy settings."
            )
        case InvalidStatus():
            return _status_trouble(error, where)
        case InvalidMessage() if isinstance(error.__cause__, EOFError):
            return ConnectionFailure(
                f"{where} accepted the connection and hung up without answering the WebSocket upgrade (upgrade).",
                "Check the port: another program may be listening there, or the gateway is just going down."
                + _secure_instead(where),
            )
        case InvalidMessage() | InvalidHandshake():
            return ConnectionFailure(
                f"{where} answered, but not as a WebSocket server (upgrade): {_error_text(error)}.",
                "Check the port: another program may be listening there." + _secure_instead(where),
            )
        case socket.gaierror():
            return ConnectionFailure(
                f"No host of that name was found for {where} (name lookup).", "Check the spelling and the network."
            )
        case ssl.SSLError() | ssl.CertificateError():
            return _tls_trouble(error, where)
        case _:
            return _socket_trouble(error, where, step, timeout_s)


def welcome_timeout(*, url: str, space: str, timeout_s: float) -> ConnectionFailure:
    """Words a missing welcome after a successful join."""
    return ConnectionFailure(
        f"{shown_url(url)} accepted the connection but sent no welcome for space {space} within {timeout_s:.2g} s "
        "(welcome).",
        "Check that it is a MEW gateway, and the space, participant id and token; received messages are kept.",
    )


def closed_failure(error: ConnectionClosed, *, url: str, lost: bool, welcomed: bool) -> ConnectionFailure:
    """Words a connection that ended without our request.

    Args:
        error: has the close code and reason, and the side that closed.
        url: address as given by the user.
        lost: our ping was not answered.
        welcomed: the gateway had sent its welcome.
    """
    where = shown_url(url)
    step = "" if welcomed else " after our join, before its welcome (join)"
    if lost:
        return ConnectionFailure(
            f"{where} went silent and did not answer a ping: the connection is lost{step}.",
            "Check the network and whether the gateway still runs, then connect again.",
        )
    # The other side echoes our close code, so the initiator matters.
    if error.rcvd is None or not error.rcvd_then_sent:
        return _closed_by_us(error, where, step)
    code, reason = error.rcvd.code, _quoted_reason(error.rcvd.reason)
    how = f"({code}{reason})"
    if code in (1000, 1001):
        return ConnectionFailure(f"{where} ended the connection{step} {how}.", "Connect again when it is back.")
    if code in _REFUSALS:
        return ConnectionFailure(
            f"{where} refused us{step} {how}.", "Check the token, the space and the participant id.", permanent=True
        )
    if code == 1009:
        return ConnectionFailure(f"{where} found one of our frames too large{step} {how}.", "Connect again.")
    if code in _ERRORS:
        return ConnectionFailure(
            f"{where} had an internal error{step} {how}.", "Look at its own log, then connect again."
        )
    return ConnectionFailure(f"{where} closed the connection{step} {how}.", "Look at its own log, then connect again.")


def gap_sentence(why: str, *, lost_s: float, attempts: int, back: bool) -> str:
    """Words a gap row.

    Args:
        why: reason for the end of the connection, a sentence.
        lost_s: duration of the gap, in seconds.
        attempts: number of attempts to reconnect.
        back: the last attempt succeeded.
    """
    if back:
        lost = f"the connection was lost for {duration(lost_s)}"
    else:
        tried = {0: "", 1: " and one attempt"}.get(attempts, f" and {attempts:,} attempts")
        lost = f"the connection was lost and not regained in {duration(lost_s)}{tried}"
    return f"Messages may be missing: {lost}. {why}"


def duration(seconds: float) -> str:
    """Formats a duration: ``40 ms``, ``3.2 s``, ``4 min 10 s``, ``2:05:00``."""
    if seconds < 0.95:
        return f"{max(1, round(seconds * 100)) * 10} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else hours_in_words(round(seconds))


def _closed_by_us(error: ConnectionClosed, where: str, step: str) -> ConnectionFailure:
    if error.sent is None or error.sent.code == 1000:
        return ConnectionFailure(
            f"The connection to {where} broke off{step}: no close was sent.",
            "Check whether the gateway still runs, then connect again.",
        )
    if error.sent.code == 1009:
        return ConnectionFailure(
            f"{where} sent a message above 100 MiB{step}, so the connection was closed (1009).",
            "The message is lost. Have its sender send less at once, then connect again.",
        )
    return ConnectionFailure(
        f"{where} sent something that is not WebSocket{step}, so the connection was closed "
        f"({error.sent.code}{_quoted_reason(error.sent.reason)}).",
        "Check that it is a gateway, and any proxy between; then connect again.",
    )


def _status_trouble(error: InvalidStatus, where: str) -> ConnectionFailure:
    status = error.response.status_code
    match status:
        case 401 | 403:
            advice = "Check the token."
        case 404:
            advice = "Check the path of the address."
        case 301 | 302 | 303 | 307 | 308:
            # Not followed: the join message would carry the token to the target.
            to = shown_url(error.response.headers.get("Location", "elsewhere"))
            advice = f"It points to {_one_line(to)}; connect there if you trust it."
        case 426:
            advice = "It wants another protocol: check the port."
        case status if status >= 500:
            advice = "Look at its own log, or at the proxy before it."
        case status if status < 300:
            advice = "A web server listens there, no gateway: check the port and the path."
        case _:
            advice = "Check the address."
    answer = f"HTTP {status} {_one_line(error.response.reason_phrase)}".strip()
    what = f"{where} refused the WebSocket upgrade with {answer} (upgrade)."
    return ConnectionFailure(what, advice, permanent=status in (401, 403))


def _secure_instead(where: str) -> str:
    """Returns advice for an address without TLS: TLS servers hang up on it, or answer in bytes that are not HTTP."""
    return "" if where.startswith("wss://") else " If the gateway uses TLS, try wss:// in place of ws://."


def _tls_trouble(error: ssl.SSLError | ssl.CertificateError, where: str) -> ConnectionFailure:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate_trouble(error, where)
    reason = getattr(error, "reason", None)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG"):
        return ConnectionFailure(f"{where} does not speak TLS on that port (TLS).", "Try ws:// in place of wss://.")
    if reason in ("UNEXPECTED_EOF_WHILE_READING", None) and "EOF" in str(error):
        return _tls_hang_up(where)
    return ConnectionFailure(
        f"{where} allows no secure connection (TLS): {_error_text(error)}.", "Check the address and the certificate."
    )


def _tls_hang_up(where: str) -> ConnectionFailure:
    return ConnectionFailure(
        f"{where} hung up during the TLS handshake (TLS).",
        "Check the port, or try ws:// if the gateway uses no TLS.",
    )


_X509_SELF_SIGNED = (18, 19)
_X509_UNKNOWN_ISSUER = (2, 20, 21)
_X509_NOT_YET, _X509_EXPIRED = 9, 10
_X509_HOST, _X509_IP = 62, 64


def _certificate_trouble(error: ssl.SSLCertVerificationError, where: str) -> ConnectionFailure:
    """Words certificate errors. Codes: OpenSSL's ``X509_V_ERR_...``."""
    code = error.verify_code
    if code in _X509_SELF_SIGNED:
        why = "it is signed by itself and not by an authority this computer trusts"
        advice = "If it is yours, add it to the system's trusted certificates (or name it in SSL_CERT_FILE)."
    elif code in _X509_UNKNOWN_ISSUER:
        why = "the authority that issued it is not known to this computer"
        advice = "If it is yours, add it to the system's trusted certificates (or name it in SSL_CERT_FILE)."
    elif code == _X509_EXPIRED:
        why, advice = "it has expired", "Have the gateway's certificate renewed, and check this computer's clock."
    elif code == _X509_NOT_YET:
        why, advice = "it is not valid yet", "Check this computer's clock and the gateway's certificate."
    elif code in (_X509_HOST, _X509_IP):
        why = "it was issued for another name"
        advice = "Use the name in the certificate, or check that the address is right."
    else:
        why = _one_line(error.verify_message) or "it could not be verified"
        advice = "Check the host name and the certificate."
    return ConnectionFailure(f"The certificate of {where} is not trusted (TLS): {why}.", advice)


def _socket_trouble(error: BaseException, where: str, step: str, timeout_s: float) -> ConnectionFailure:
    if isinstance(error, ConnectionAbortedError) and "SSL" in str(error):
        return _tls_silence(where, timeout_s)
    if isinstance(error, TimeoutError):
        return _timeout_trouble(where, step, timeout_s)
    # A name with several addresses fails with one error that lists them all.
    if isinstance(error, ConnectionRefusedError) or f"[Errno {errno.ECONNREFUSED}]" in str(error):
        return ConnectionFailure(
            f"{where} refused the connection (TCP): no program listens there.", "Start the gateway or check the port."
        )
    if isinstance(error, (ConnectionResetError, ConnectionAbortedError, EOFError)):
        if step == "TLS":
            return _tls_hang_up(where)
        return ConnectionFailure(
            f"{where} dropped the connection while it was being opened ({step}).", "Check that it is a gateway."
        )
    if isinstance(error, OSError):
        return ConnectionFailure(
            f"{where} could not be reached ({step}): {_error_text(error)}.", "Check the address and the network."
        )
    return ConnectionFailure(f"Connecting to {where} failed ({step}): {_error_text(error)}.", "Check the address.")


def _timeout_trouble(where: str, step: str, timeout_s: float) -> ConnectionFailure:
    if step == "upgrade":
        return ConnectionFailure(
            f"{where} accepted the connection but did not answer the WebSocket upgrade within {timeout_s:.2g} s "
            "(upgrade).",
            "Check the port: another program may be listening there.",
        )
    if step == "TLS":
        return _tls_silence(where, timeout_s)
    if step == "name lookup":
        return ConnectionFailure(
            f"The name in {where} was not resolved within {timeout_s:.2g} s (name lookup).",
            "Check the network and its name server, or use the IP address.",
        )
    return ConnectionFailure(
        f"{where} did not answer within {timeout_s:.2g} s ({step}).", "Check the address, the port and the firewall."
    )


def _tls_silence(where: str, timeout_s: float) -> ConnectionFailure:
    return ConnectionFailure(
        f"{where} accepted the connection but did not finish the TLS handshake within {timeout_s:.2g} s (TLS).",
        "Try ws:// in place of wss://, or another port.",
    )


def _quoted_reason(reason: str) -> str:
    return f": {_one_line(reason)}" if reason else ""


def _error_text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return _one_line(error.strerror)
    cause = error.__cause__
    if isinstance(error, InvalidMessage) and cause is not None and str(cause):
        return _one_line(str(cause))
    return _one_line(str(error)) or type(error).__name__


def _one_line(text: str) -> str:
    """Returns foreign text on one line, printable, truncated, and without a final full stop."""
    line = "".join(char if char.isprintable() else " " for char in text).strip().rstrip(".")
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 1] + "…"

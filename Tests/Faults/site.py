"""A backend, a name server and a provider's address that go wrong in one way each; run inside a case's network.

    site.py BEHAVIOUR [--port N] [--certificate FILE]

Prints {"event": "listening"} once it can be asked.
"""

import argparse
import email.utils
import json
import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ANSWER = Path(__file__).resolve().parent.parent / "Fixtures" / "sdp" / "openai-ice-lite.sdp"
SIGN_IN = b"<!DOCTYPE html><html><head><title>Sign in to use this network</title></head><body><form></form></body></html>"
TWO_YEARS = 2 * 365 * 24 * 3600


def error(status, text, headers=()):
    body = json.dumps({"error": {"code": "reason", "message": text}}).encode()
    return status, [("Content-Type", "application/json"), *headers], body


def answer_from(address):
    """An answer whose provider would be at that address."""
    lines = [line for line in ANSWER.read_text().splitlines() if not line.startswith("a=candidate")]
    at = next(number for number, line in enumerate(lines) if line.startswith("a=ice-ufrag"))
    lines.insert(at, f"a=candidate:1 1 udp 2130706431 {address} 3478 typ host")
    body = json.dumps({"id": "voice-1", "sdp": "\r\n".join(lines) + "\r\n"}).encode()
    return 200, [("Content-Type", "application/json")], body


REPLIES = {
    "refuses": lambda: error(403, "This post is not on the list."),
    "unauthorized": lambda: error(401, "Who are you?"),
    "busy": lambda: error(503, "All lines are taken.", [("Retry-After", "120")]),
    "throttles": lambda: error(429, "Too many voices.", [("Retry-After", "120")]),
    "signs-in": lambda: (200, [("Content-Type", "text/html")], SIGN_IN),
    "redirects": lambda: (302, [("Location", "http://sign-in.example/")], b""),
    "nonsense": lambda: (200, [("Content-Type", "application/json")], b'{"id": "voice-1", "sdp": "v=0"}'),
    "far-provider": lambda: answer_from("10.99.0.200"),
    "ahead": lambda: (404, [], b""),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    behaviour = ""

    def reply(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, body = REPLIES[self.behaviour]()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_DELETE = do_HEAD = reply

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(time.time() + (TWO_YEARS if self.behaviour == "ahead" else 0), usegmt=True)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    address_family = socket.AF_INET
    daemon_threads = True


def takes_and_is_silent(port):
    listener = socket.create_server(("0.0.0.0", port))
    kept = []
    while True:
        kept.append(listener.accept())


def hears_and_is_silent(port):
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("0.0.0.0", port))
    while True:
        listener.recvfrom(4096)


def knows_no_name(port):
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("0.0.0.0", port))
    while True:
        query, client = listener.recvfrom(4096)
        # The same question, as an answer: recursion available, no such name (RFC 1035 4.1.1).
        listener.sendto(query[:2] + b"\x81\x83" + query[4:6] + bytes(6) + query[12:], client)


SILENT = {"takes": takes_and_is_silent, "hears": hears_and_is_silent, "knows-no-name": knows_no_name}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("behaviour", choices=[*REPLIES, *SILENT])
    parser.add_argument("--port", type=int, default=80)
    parser.add_argument("--certificate", help="a PEM file with certificate and key")
    options = parser.parse_args()
    if options.behaviour in SILENT:
        thread = threading.Thread(target=SILENT[options.behaviour], args=(options.port,), daemon=True)
    else:
        Handler.behaviour = options.behaviour
        server = Server(("0.0.0.0", options.port), Handler)
        if options.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(options.certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    time.sleep(0.1)
    print(json.dumps({"event": "listening"}), flush=True)
    thread.join()


if __name__ == "__main__":
    sys.exit(main())

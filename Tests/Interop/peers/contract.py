"""What all peers share: the backend contract's two routes, the provider's side of it, and the events they print.

A peer that answers serves `POST /voice/{chat}` and `POST /voice/{chat}/{voice}/close`, on 127.0.0.1 unless told
otherwise, and is both backend and provider. A peer that offers posts to those routes of somebody else. Either prints one
JSON object a line; `at` is seconds of CLOCK_MONOTONIC, which every process on the machine shares:

    listening                   the routes can be asked
    voice       voice           a voice was begun
    answered    voice           (pion) its answer is ready
    state       voice, state    the peer connection's own word
    first_sound voice           the first sound above -50 dBFS came out of the decoder
    channel     voice, label    a data channel is open, its own or the other side's
    message     voice, text     (offering) the other side said something first on it
    told        voice, text     (answering) something was said on the appliance's event channel; it goes back as a line of speech
    echoed      voice, bytes, seconds   (offering) what was sent on it came back as it was
    muted       voice           (offering) the peer's own microphone is silent from here on
    hung_up     voice           the close route was asked, by HTTP
    closed      voice, by       the other side ended the media; `by` is how the peer noticed
    failed      voice, why      something this peer could not do
"""

import argparse
import json
import re
import signal
import socket
import struct
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RATE = 48_000
EVENT_CHANNEL = "oai-events"
LARGEST_LINE = 65_536  # bytes; a reader of the captions gets a line in one piece or not at all
FIRST_SOUND = 10 ** (-50 / 20) * 32_768  # what `first_sound` means, as an Int16 amplitude (root mean square)

_printing = threading.Lock()


def event(name, **more):
    with _printing:
        print(json.dumps({"at": round(time.monotonic(), 4), "event": name, **more}), flush=True)


def arguments(description, **extra):
    """The command line of all peers. `{call}` in a recording's name becomes 1, 2, ... per voice."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("role", choices=["answer", "offer"])
    parser.add_argument("--port", type=int, default=8080, help="answering: where the two routes are served")
    parser.add_argument("--address", default="127.0.0.1", help="answering: the address that they are served on; :: is any")
    parser.add_argument("--ice-servers", help="answering: what stands in each answer under iceServers, as JSON")
    parser.add_argument("--url", help="offering: the route that begins a voice")
    parser.add_argument("--speak", help="WAV (mono, 48 kHz, 16 bit) spoken once in each voice, from connected on")
    parser.add_argument("--record", help="WAV of what is heard in each voice")
    parser.add_argument("--calls", type=int, default=1, help="offering: how many voices, one after the other")
    parser.add_argument("--mute-after", type=float, default=4, help="offering: seconds from connected to silence")
    parser.add_argument("--talk", type=float, default=8, help="offering: seconds from connected to the close")
    parser.add_argument(
        "--closing",
        choices=["hang_up", "itself"],
        default="hang_up",
        help="offering: ask the backend and see the other side close, or close the media itself",
    )
    for name, settings in extra.items():
        parser.add_argument("--" + name.replace("_", "-"), **settings)
    options = parser.parse_args()
    if options.ice_servers:
        Routes.servers = {"iceServers": json.loads(options.ice_servers)}
    return options


class Stopped(BaseException):
    """SIGTERM, raised on the main thread so that what was recorded is written on the way out."""


def stop_on_sigterm():
    def stop(*_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Stopped

    signal.signal(signal.SIGTERM, stop)


class Routes:
    """Serves the contract's routes on threads of its own; `begin(voice, offer)` returns the answer.

    `more` maps (method, path) to a function of (query string, body) that returns (status, type, body).
    """

    servers = {}

    def __init__(self, port, begin, hung_up=None, more=None, address="127.0.0.1"):
        self._begin, self._hung_up, self._more = begin, hung_up, more or {}
        self._count, self._begun, self._lock = 0, {}, threading.Lock()
        routes = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self._answer("GET")

            def do_POST(self):
                self._answer("POST")

            def _answer(self, method):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                try:
                    status, kind, content = routes._handle(method, self.path, body)
                except Exception as error:  # a peer's fault must be seen by the caller, not hang it
                    event("failed", why=f"{type(error).__name__}: {error}")
                    status, kind, content = _json(500, {"error": {"code": "peer", "message": str(error)}})
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        class Server(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in address else socket.AF_INET

            def server_bind(self):
                if ":" in address:
                    self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                super().server_bind()

        self._server = Server((address, port), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _handle(self, method, target, body):
        path, _, query = target.partition("?")
        if (method, path) in self._more:
            return self._more[method, path](query, body)
        if method == "POST" and re.fullmatch(r"/voice/[^/]+", path):
            with self._lock:
                self._count += 1
                voice = str(self._count)
            self._begun[voice] = time.monotonic()
            event("voice", voice=voice)
            return _json(200, {"id": voice, "sdp": self._begin(voice, json.loads(body)["sdp"]), **self.servers})
        closing = re.fullmatch(r"/voice/[^/]+/([^/]+)/close", path)
        if method == "POST" and closing and closing[1] in self._begun:
            event("hung_up", voice=closing[1])
            if self._hung_up:
                self._hung_up(closing[1])
            return _json(200, {"seconds": round(time.monotonic() - self._begun[closing[1]], 1)})
        return _json(404, {"error": {"code": "not_found", "message": f"{method} {path}"}})


def _json(status, content):
    return status, "application/json", json.dumps(content).encode()


def post(url, content):
    """POSTs JSON and returns the JSON that comes back."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(content).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)


class Recording:
    """What one voice heard, as Int16 at its places in time; says `first_sound` once. Written when asked."""

    def __init__(self, pattern, voice):
        self._path = pattern.replace("{call}", voice) if pattern else None
        self._voice, self._data, self._sounded = voice, bytearray(), False

    def append(self, samples, at=None):
        """Adds Int16 bytes; `at` (a sample count) leaves a gap of silence where packets are missing."""
        if at is not None and at * 2 > len(self._data):
            self._data.extend(bytes(at * 2 - len(self._data)))
        self._data.extend(samples)
        if not self._sounded and loudness(samples) > FIRST_SOUND:
            self._sounded = True
            event("first_sound", voice=self._voice)

    def write(self):
        """Nothing heard, nothing written."""
        if not self._path or not self._data:
            return
        size = len(self._data)
        header = struct.pack(
            "<4sI4s4sIHHIIHH4sI",
            *(b"RIFF", 36 + size, b"WAVE", b"fmt ", 16, 1, 1, RATE, 2 * RATE, 2, 16, b"data", size),
        )
        with open(self._path, "wb") as file:
            file.write(header + self._data)


class Echoes:
    """The offering side of a data channel: sends a few bytes, then a message of `largest`, and tells when each is back.

    One after the other: libwebrtc says that a channel is open a moment before it knows how large its messages may be.
    """

    def __init__(self, voice, send, largest=262_144):
        self._voice, self._send, self._sent = voice, send, {}
        self._words = ["talk", "0123456789abcdef" * (largest // 16)]

    def opened(self, label):
        event("channel", voice=self._voice, label=label)
        self._say_next()

    def _say_next(self):
        if self._words:
            word = self._words.pop(0)
            self._sent[len(word)] = (word, time.monotonic())
            self._send(word)

    def received(self, text):
        word, at = self._sent.pop(len(text), (None, 0))
        if word is None:
            event("message", voice=self._voice, text=text[:100])
        elif word == text:
            event("echoed", voice=self._voice, bytes=len(text), seconds=round(time.monotonic() - at, 4))
            self._say_next()
        else:
            event("failed", voice=self._voice, why="a message came back altered")


class Dialogue:
    """The answering side of a data channel. On the appliance's event channel it is a provider: it says a long line of speech,
    and whatever it is told comes back within a line, since lines are what the appliance shows. On any other
    channel it sends back what it gets.
    """

    def __init__(self, voice, label, send):
        self._voice, self._send, self._is_provider, self._count = voice, send, label == EVENT_CHANNEL, 0
        event("channel", voice=voice, label=label)
        if self._is_provider:
            frame = len(self._line("long", ""))
            send(self._line("long", ("0123456789abcdef" * (LARGEST_LINE // 16))[: LARGEST_LINE - frame]))

    def received(self, message):
        if not self._is_provider:
            self._send(message)
            return
        event("told", voice=self._voice, text=str(message)[:200])
        self._count += 1
        self._send(self._line(f"told-{self._count}", str(message)))

    @staticmethod
    def _line(identifier, text):
        return json.dumps({"type": "response.output_audio_transcript.done", "item_id": identifier, "transcript": text})


def loudness(samples):
    """Root mean square of Int16 bytes."""
    values = memoryview(bytes(samples)).cast("h")
    return (sum(value * value for value in values) / len(values)) ** 0.5 if len(values) else 0.0


def spoken(path):
    """The Int16 bytes of a mono 48 kHz 16-bit WAV, nothing if there is no path."""
    if not path:
        return b""
    import wave

    with wave.open(path) as file:
        if (file.getnchannels(), file.getframerate(), file.getsampwidth()) != (1, RATE, 2):
            sys.exit(f"{path}: wanted mono, {RATE} Hz, 16 bit")
        return file.readframes(file.getnframes())

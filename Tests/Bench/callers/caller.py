"""What the callers written for the bench share. A caller prints `ready`, waits a moment for the machine to settle, prints
`begun` (the clock starts), calls, and prints `state` connected and `first_sound`. SIGTERM ends it with its call.
"""

import argparse
import http.client
import json
import signal
import time
from urllib.parse import urlsplit

from contract import FIRST_SOUND, Stopped, event, loudness, stop_on_sigterm

SETTLING = 0.7  # seconds


class Caller:
    """The command line, and a connection to the backend that is open before the clock starts, as talkpost has one."""

    def __init__(self, description):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--url", required=True, help="the route that begins a voice")
        parser.add_argument("--speak", required=True, help="WAV, mono, 48 kHz, 16 bit")
        options = parser.parse_args()
        self.speech = options.speak
        url = urlsplit(options.url)
        self._path, self._http = url.path, http.client.HTTPConnection(url.hostname, url.port)
        self._sounded = False

    def run(self, call):
        """Runs `call()` after `ready`, then waits for SIGTERM."""
        stop_on_sigterm()
        try:
            self._http.connect()
            event("ready")
            time.sleep(SETTLING)
            event("begun")
            call()
            while True:
                signal.pause()
        except Stopped:
            pass

    def post(self, offer):
        """The answer to an offer."""
        self._http.request("POST", self._path, json.dumps({"sdp": offer}), {"Content-Type": "application/json"})
        return json.load(self._http.getresponse())["sdp"]

    def hears(self, samples):
        """Says once that Int16 bytes are the first sound. Returns whether there is no more to listen for."""
        if not self._sounded and loudness(samples) > FIRST_SOUND:
            self._sounded = True
            event("first_sound")
        return self._sounded

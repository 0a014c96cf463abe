"""Headless Chromium as answerer and as offerer: chromium.html is the peer, this serves it and speaks HTTP for it."""

import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import urllib.parse
from pathlib import Path

from contract import Recording, Routes, Stopped, arguments, event, post, stop_on_sigterm

PAGE = Path(__file__).with_suffix(".html")
FLAGS = """
    --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-sync
    --disable-background-networking --disable-component-update --use-fake-ui-for-media-stream
    --use-fake-device-for-media-stream --autoplay-policy=no-user-gesture-required
    --disable-features=WebRtcHideLocalIpsWithMdns
""".split()


class Page:
    """The routes the page asks for: its offers to answer, its events, what it heard."""

    def __init__(self):
        self._offers, self._answers, self._recordings = queue.Queue(), {}, {}
        self._ready, self.done = threading.Event(), threading.Event()

    def routes(self):
        return {
            ("GET", "/"): lambda *_: (200, "text/html", PAGE.read_bytes()),
            ("GET", "/favicon.ico"): lambda *_: (204, "image/png", b""),
            ("GET", "/speech.wav"): lambda *_: (200, "audio/wav", Path(options.speak).read_bytes()),
            ("GET", "/next"): self._next,
            ("POST", "/answer"): self._answered,
            ("POST", "/event"): self._event,
            ("POST", "/heard"): self._heard,
            ("POST", "/begin"): lambda _, body: _json(post(options.url, {"sdp": body.decode()})),
            ("POST", "/hang_up"): lambda voice, _: _json(post(f"{options.url}/{voice}/close", {})),
        }

    def answer(self, voice, offer):
        self._answers[voice] = queue.Queue()
        self._offers.put({"voice": voice, "sdp": offer})
        return self._answers[voice].get(timeout=20)

    def write_recordings(self):
        for recording in self._recordings.values():
            recording.write()

    def _next(self, *_):
        try:
            return _json(self._offers.get(timeout=20))
        except queue.Empty:
            return 204, "text/plain", b""

    def _answered(self, voice, body):
        self._answers[voice].put(body.decode())
        return _json({})

    def _event(self, _, body):
        more = json.loads(body)
        name = more.pop("event")
        if name == "done":
            self.done.set()
        else:
            event(name, **more)
        return _json({})

    def _heard(self, voice, body):
        self._recordings.setdefault(voice, Recording(options.record, voice)).append(body)
        return _json({})


def _json(content):
    return 200, "application/json", json.dumps(content).encode()


def main():
    page = Page()
    Routes(options.port, page.answer, more=page.routes(), address=options.address)
    query = {name: getattr(options, name) for name in ("role", "calls", "mute_after", "talk", "closing")}
    profile = tempfile.mkdtemp(prefix="chromium-")
    command = ["chromium", *FLAGS, f"--user-data-dir={profile}"]
    command.append(f"http://127.0.0.1:{options.port}/?{urllib.parse.urlencode(query)}")
    log = open(options.log, "w") if options.log else subprocess.DEVNULL
    # A session of its own: Chromium is a dozen processes, and they are ended together.
    browser = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        while not page.done.wait(0.2):
            if browser.poll() is not None:
                event("failed", why=f"Chromium ended: {browser.returncode}")
                break
    finally:
        page.write_recordings()
        for end in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(browser.pid, end)
                browser.wait(5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        shutil.rmtree(profile, ignore_errors=True)


if __name__ == "__main__":
    options = arguments(__doc__, log={"help": "file for Chromium's own log"})
    stop_on_sigterm()
    try:
        main()
    except Stopped:
        pass

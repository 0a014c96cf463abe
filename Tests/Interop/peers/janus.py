"""Janus' echotest as answerer: starts a Janus of its own, full ICE or ice-lite, and bridges the routes to its API."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

from contract import Routes, Stopped, arguments, event, post, stop_on_sigterm

MODULES = next(Path("/usr/lib").glob("*/janus"), Path("/usr/lib/janus"))


def configure(folder, port, is_lite, by_tcp, networks):
    """Writes a configuration with one plugin and one transport, so that Janus starts at once and opens nothing else."""
    for kind, name in (("plugins", "echotest"), ("transports", "http")):
        (folder / kind).mkdir()
        library = f"libjanus_{name}.so"
        (folder / kind / library).symlink_to(MODULES / kind / library)
    for empty in ("events", "loggers"):
        (folder / empty).mkdir()
    folders = " ".join(
        f'{key} = "{folder / name}"'
        for key, name in (
            ("configs_folder", ""),
            ("plugins_folder", "plugins"),
            ("transports_folder", "transports"),
            ("events_folder", "events"),
            ("loggers_folder", "loggers"),
        )
    )
    (folder / "janus.jcfg").write_text(
        f"general: {{ {folders} debug_level = 5 }}\n"
        f'nat: {{ ice_lite = {"true" if is_lite else "false"} ice_tcp = {"true" if by_tcp else "false"} '
        f'ice_enforce_list = "{networks}" }}\n'
        "media: { ipv6 = true }\n"
    )
    (folder / "janus.plugin.echotest.jcfg").write_text("general: { events = false }\n")
    where = f'http = true port = {port} ip = "127.0.0.1" https = false'
    (folder / "janus.transport.http.jcfg").write_text(
        f'general: {{ json = "compact" base_path = "/janus" {where} }}\n'
        "admin: { admin_http = false }\n"
    )


class Session:
    """One session with one echotest handle, polled for what Janus has to say about it."""

    def __init__(self, api, voice):
        self._voice, self._answer, self._answered = voice, None, threading.Event()
        self._is_closed = False
        self._url = f"{api}/{self._ask(api, 'create')['data']['id']}"
        self._handle = f"{self._url}/{self._ask(self._url, 'attach', plugin='janus.plugin.echotest')['data']['id']}"
        threading.Thread(target=self._poll, daemon=True).start()

    def answer(self, offer):
        jsep = {"type": "offer", "sdp": offer, "trickle": False}
        self._ask(self._handle, "message", body={"audio": True, "video": False}, jsep=jsep)
        if not self._answered.wait(10):
            raise TimeoutError("Janus gave no answer")
        return self._answer

    @staticmethod
    def _ask(url, verb, **more):
        reply = post(url, {"janus": verb, "transaction": uuid.uuid4().hex, **more})
        if reply.get("janus") == "error":
            raise RuntimeError(reply["error"]["reason"])
        return reply

    def _poll(self):
        while not self._is_closed:
            try:
                with urllib.request.urlopen(f"{self._url}?maxev=1", timeout=60) as response:
                    self._take(json.load(response))
            except (urllib.error.URLError, OSError):
                return

    def _take(self, news):
        kind = news.get("janus")
        if "jsep" in news:
            self._answer = news["jsep"]["sdp"]
            self._answered.set()
        elif kind == "webrtcup":
            event("state", voice=self._voice, state="connected")
        elif kind in ("hangup", "timeout"):
            self._is_closed = True
            event("closed", voice=self._voice, by=f"Janus {kind}: {news.get('reason', '')}")


def main():
    with tempfile.TemporaryDirectory(prefix="janus-") as folder:
        port = options.port + 1
        configure(Path(folder), port, options.lite, options.tcp, options.networks)
        log = open(options.log, "w") if options.log else subprocess.DEVNULL
        janus = subprocess.Popen(["janus", "-F", folder], stdout=log, stderr=log, start_new_session=True)
        try:
            api = f"http://127.0.0.1:{port}/janus"
            for _ in range(100):
                try:
                    urllib.request.urlopen(f"{api}/info", timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            else:
                raise SystemExit("Janus did not start")
            Routes(options.port, lambda voice, offer: Session(api, voice).answer(offer), address=options.address)
            event("listening")
            janus.wait()
            event("failed", why=f"Janus ended: {janus.returncode}")
        finally:
            if janus.poll() is None:
                os.killpg(janus.pid, signal.SIGTERM)
                try:
                    janus.wait(5)
                except subprocess.TimeoutExpired:
                    os.killpg(janus.pid, signal.SIGKILL)


if __name__ == "__main__":
    options = arguments(
        __doc__,
        lite={"action": "store_true", "help": "answer as an ice-lite peer"},
        tcp={"action": "store_true", "help": "take connections too"},
        networks={"default": "10.99.,fd99:", "help": "starts of the addresses Janus may offer"},
        log={"help": "file for Janus' own log"},
    )
    stop_on_sigterm()
    try:
        main()
    except Stopped:
        pass

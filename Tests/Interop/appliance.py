"""The talk post in a case: its config, its button's script, and the screen that reads its captions."""

import json
import socket
import threading
import time

from routed import RELAY_NAME
from servers import PROXY_CREDENTIAL, PROXY_PORT, TURN_CREDENTIAL
from ways import BACKEND_PORT


def write_config(stage, channel="oai-events", microphone=None):
    """The config for the stage's way, beside its credentials; returns its path."""
    folder, sound, network, way = stage.folder, stage.sound, stage.network, stage.way
    # With a fifth of the packets lost a sender takes some seconds for the long line of speech.
    idle = round(sound.talk - sound.release + sound.lead) + (10 if way.loss else 0)
    keys = {
        "backend": {"url": f"http://{network.backend}:{BACKEND_PORT}/voice/{{chat}}", "chat": "lobby"},
        "talk": {"mode": "hold", "turns": "provider" if channel == "none" else "button", "idle_end": f"{idle} s"},
        "sound": {"microphone": f"wav:{microphone or sound.microphone}", "speaker": f"wav:{folder}/offerer-{{call}}.wav"},
        "tones": {"earcons": "none"},
        "button": {"source": f"script:{folder}/button.script"},
        "led": {"output": "none"},
        "network": {},
        "voice": {"channel": channel},
        "state": {"directory": folder},
        "captions": {"socket": captions_path(stage)},
        "log": {"target": "console", "level": "debug"},
    }
    if way.has_proxy:
        keys["backend"]["proxy"] = f"http://{network.bracketed(network.relay)}:{PROXY_PORT}"
        keys["backend"]["proxy_credential"] = _secret(folder / "proxy-credential", PROXY_CREDENTIAL)
    if way.servers and not way.is_told:
        keys["network"]["ice_servers"] = ", ".join(servers(stage))
        if any(url.startswith("turn") for url in way.servers):
            keys["network"]["turn_credential"] = _secret(folder / "turn-credential", TURN_CREDENTIAL)
    path = folder / "talkpost.conf"
    sections = (f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in of.items()) for name, of in keys.items())
    path.write_text("".join(sections))
    return path


def servers(stage):
    """The URLs of the way's STUN and TURN servers."""
    # A certificate is made for a name; the others are found by their address.
    relay = RELAY_NAME if any(url.startswith("turns:") for url in stage.way.servers) else stage.network.relay
    return [url.format(relay=stage.network.bracketed(relay)) for url in stage.way.servers]


def told_servers(stage):
    """As a backend's answer has them (W3C RTCIceServer), as JSON."""
    user, _, password = TURN_CREDENTIAL.partition(":")
    return json.dumps([{"urls": servers(stage), "username": user, "credential": password}])


def write_script(stage, calls):
    """What the button does: each call from the press to its own end, or one press that comes to nothing."""
    call = "press\nawait error 20\nrelease\nafter 0.3\n"
    if stage.way.connects:
        call = f"press\nafter {stage.sound.release:.2f}\nawait connected 20\nrelease\nawait closed 40\n"
    # Nobody presses within the milliseconds in which the post looks whether its backend is there.
    (stage.folder / "button.script").write_text("await ready 10\nafter 0.3\n" + call * calls + "after 0.3\nquit\n")


def captions_path(stage):
    return stage.folder / "captions"


def _secret(path, text):
    path.write_text(text + "\n")
    path.chmod(0o600)
    return path


class Screen:
    """Reads the captions' socket from its appearance to its end, and keeps the lines that have ended: their id and text."""

    def __init__(self, path):
        self.lines, self._path = [], path
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        with socket.socket(socket.AF_UNIX) as reader:
            until = time.monotonic() + 20
            while time.monotonic() < until:
                try:
                    reader.connect(str(self._path))
                    break
                except OSError:
                    time.sleep(0.02)
            else:
                return
            for line in reader.makefile():
                message = json.loads(line).get("message", {})
                if message.get("status") == "end":
                    self.lines.append((message["id"], message["text"], time.monotonic()))

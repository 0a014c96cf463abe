"""The measured calls: each caller is a process of its own, started before the clock runs, on the same answerer."""

import socket
import threading
import time

import catalog
from meter import Memory, cpu_per_second
from processes import Program

PORT = 8080
URL = f"http://127.0.0.1:{PORT}/voice/lobby"
SETTLING, WINDOW = 1, 5  # seconds after connected, and seconds in which processor time is counted
PRESSES = 20
CALLERS = catalog.HERE.parent / "Bench" / "callers"

CONFIG = """\
[backend]
url = http://127.0.0.1:{port}/voice/{{chat}}
chat = lobby
[talk]
mode = hold
release_tail = 50 ms
idle_end = 1 s
[sound]
microphone = wav:{microphone}
speaker = none
[tones]
earcons = none
[button]
source = script:{script}
[led]
output = none
[network]
loopback = {loopback}
[voice]
bitrate = 32000
complexity = 5
expected_loss = 10
[log]
target = console
"""
CALL = "await ready 10\nafter 0.7\npress\nawait connected 10\nafter 60\n"
PRESS = "press\nawait connected 10\nafter 0.1\nrelease\nawait closed 10\nafter 0.2\n"


class NotMeasured(Exception):
    """A call could not be measured. The message says why."""


class Echo:
    """Sends each datagram back half a packet's time later: a provider's packets do not come just as ours go."""

    def __init__(self):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._send_back, daemon=True).start()

    def _send_back(self):
        while True:
            datagram, sender = self._socket.recvfrom(2048)
            time.sleep(0.01)
            self._socket.sendto(datagram, sender)


class Bench:
    """Where the calls are played: a network, its answerer, and what is spoken."""

    def __init__(self, network, folder, binaries, floor, voice):
        self._network, self._folder, self._binaries, self._floor = network, folder, binaries, floor
        self._voice, self._programs, self._answerer = voice, [], None

    def stop(self):
        for program in reversed(self._programs):
            program.stop()

    def call(self, name):
        """One call of `talkpost`, `wrtc`, `gstreamer` or `floor`: its figures by name."""
        return self._run_floor() if name == "floor" else self._run_caller(name)

    def _run_caller(self, name):
        answerer = self._answering()
        command, began = {
            "talkpost": lambda: (self._talkpost(PORT, CALL, "no", self._voice.microphone), ("button", {"change": "pressed"})),
            "wrtc": lambda: (self._caller(catalog.virtual_environment(), "libwebrtc.py"), ("begun", {})),
            "gstreamer": lambda: (self._caller(catalog.SYSTEM_PYTHON, "gstreamer.py"), ("begun", {})),
        }[name]()
        program = self._start(name, command)
        memory = Memory(program.process_id)
        try:
            begun = self._await(program, began[0], 20, **began[1])
            connected = self._await(program, "state", 20, state="connected")
            time.sleep(max(0, connected["at"] + SETTLING - time.monotonic()))
            cpu = cpu_per_second(program.process_id, WINDOW)
            sounded = self._await(program, "first_sound", 5)
        finally:
            memory.stop()
            program.stop()
        asked = next(event for event in answerer.all("voice") if event["at"] > begun["at"])
        answered = answerer.first("answered", voice=asked["voice"])
        return {
            "connected_s": connected["at"] - begun["at"],
            "first_sound_s": sounded["at"] - begun["at"],
            "cpu_per_s": cpu,
            "peak_pss_mib": memory.peak_mib,
            "answerer_s": answered["at"] - asked["at"],
        }

    def _run_floor(self):
        command = ["nice", "-n", "-10", self._floor, Echo().port, SETTLING + WINDOW + 1, self._voice.wav]
        program = Program("floor", command, self._folder)
        memory = Memory(program.process_id)
        try:
            time.sleep(SETTLING)
            cpu = cpu_per_second(program.process_id, WINDOW)
            if program.await_end(5) != 0:
                raise NotMeasured(f"floor: {program.last_words() or 'failed'}")
        finally:
            memory.stop()
            program.stop()
        return {"cpu_per_s": cpu, "peak_pss_mib": memory.peak_mib}

    def presses(self):
        """Seconds from the press to connected, for each press of one appliance and talkpost-provider."""
        where = ["--listen", "127.0.0.1:0", "--loopback", "--events", "-"]
        provider = self._start("provider", [self._binaries / "talkpost-provider", *where])
        port = int(self._await(provider, "listening", 10)["port"])
        script = "await ready 10\nafter 0.7\n" + PRESS * PRESSES + "quit\n"
        program = self._start("presses", self._talkpost(port, script, "yes", self._voice.silence))
        if program.await_end(60 + 10 * PRESSES) != 0:
            raise NotMeasured(f"presses: {program.last_words() or 'failed'}")
        provider.stop()
        begun, connected = program.all("button", change="pressed"), program.all("state", state="connected")
        if len(connected) != PRESSES or len(begun) != PRESSES:
            raise NotMeasured(f"presses: {len(connected)} of {len(begun)} connected")
        return [after["at"] - before["at"] for before, after in zip(begun, connected)]

    def _answering(self):
        if self._answerer is None:
            command = [catalog.pion(), "-port", PORT, "-packets", self._voice.packets]
            self._answerer = self._start("answerer", command)
            self._await(self._answerer, "listening", 20)
        return self._answerer

    def _talkpost(self, port, script, loopback, microphone):
        path, config = self._folder / "button.script", self._folder / "talkpost.conf"
        path.write_text(script)
        config.write_text(CONFIG.format(port=port, script=path, microphone=microphone, loopback=loopback))
        return [self._binaries / "talkpost", "run", "--config", config, "--events", "-"]

    def _caller(self, python, program):
        return [python, CALLERS / program, "--url", URL, "--speak", self._voice.wav]

    def _start(self, name, command):
        program = Program(name, self._network.inside(command), self._folder)
        self._programs.append(program)
        return program

    @staticmethod
    def _await(program, name, seconds, **fields):
        found = program.await_event(name, seconds, **fields)
        if not found:
            what = " ".join([name, *fields.values()])
            raise NotMeasured(f"{program.name}: no {what} in {seconds} s. {program.last_words()}")
        return found

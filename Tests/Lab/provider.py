"""A real WebRTC peer outside the machine, with the backend's two routes: it speaks a sentence and records what it hears."""

import catalog
from box import PORT
from processes import Program
from tap import HOST


class Provider:
    """One peer at a time, at the host's end of the machine's cable."""

    def __init__(self, network, folder, speak, name="wrtc"):
        self._network, self._folder, self._speak = network, folder, speak
        self._peer, self._program, self._runs = catalog.ALL[name], None, 0

    def start(self):
        """Serves from here on; its voices count from 1 again."""
        self._runs += 1
        command = self._peer.command("answer", self._folder, *("--port", PORT, "--address", HOST))
        options = ["--speak", self._speak, "--record", self._recording("{call}")]
        self._program = Program(f"provider-{self._runs}", self._network.inside([*command, *options]), self._folder)
        self._network.favour(self._program.process_id)
        if not self._program.await_event("listening", 60):
            raise RuntimeError(f"the provider did not start: {self._program.last_words()}")

    def stop(self):
        if self._program:
            self._program.stop()
        self._program = None

    @property
    def is_serving(self):
        return self._program is not None

    @property
    def voices(self):
        """How many voices were begun so far."""
        return len(self._program.all("voice"))

    def await_voice(self, number, seconds):
        return self._program.await_event("voice", seconds, voice=str(number))

    def await_state(self, number, state, seconds):
        return self._program.await_event("state", seconds, voice=str(number), state=state)

    def await_closed(self, number, seconds):
        return self._program.await_event("closed", seconds, voice=str(number))

    def closed(self, number):
        return self._program.first("closed", voice=str(number))

    def hung_up(self, number):
        return self._program.first("hung_up", voice=str(number))

    def first_sound(self, number):
        return self._program.first("first_sound", voice=str(number))

    def recording(self, number):
        """The WAV of what was heard in a voice; complete once the voice is closed and `settle` has passed."""
        return self._recording(number)

    def _recording(self, call):
        return self._folder / f"at-provider-{self._runs}-{call}.wav"

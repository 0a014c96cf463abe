"""Two calls between two programs and what they must show: both sentences, silence while muted, the close noticed."""

from dataclasses import dataclass, field

import speech
from processes import Program

CALLS = 2
PORT = 8080
CHAT = f"http://127.0.0.1:{PORT}/voice/lobby"

# Opus alone at 32 kbit/s gives these sentences 0.95 (voice mode) to 0.99; jitter buffers that stretch in the middle of
# a word, and encoders' filters, take up to a tenth more. What is lost or garbled falls far below.
LEAST_CORRELATION = 0.8
SILENCE = -60.0  # dBFS, the loudest 10 ms allowed while muted
LONGEST_CONNECT = 5.0  # seconds, for the slowest peer to gather and answer
LONGEST_CLOSE = 5.0  # seconds until the other side has noticed


@dataclass
class Outcome:
    """One row of the report."""

    peer: str
    role: str
    faults: list = field(default_factory=list)
    measured: dict = field(default_factory=dict)

    def row(self):
        why = "; ".join(self.faults)
        return {"peer": self.peer, "role": self.role, "ok": not self.faults, "why": why, **self.measured}

    def need(self, holds, why):
        if not holds:
            self.faults.append(why)
        return bool(holds)

    def measure(self, name, value, digits=3):
        """Keeps one figure for each call, in order."""
        self.measured.setdefault(name, []).append(None if value is None else round(value, digits))


class Stage:
    """Where one case is played: its network, its folder, its sentences, and the programs started there."""

    def __init__(self, network, folder, sound):
        self._network, self.folder, self.sound, self._programs = network, folder, sound, []

    def start(self, name, command):
        program = Program(name, self._network.inside(command), self.folder)
        self._programs.append(program)
        return program

    def stop(self):
        for program in reversed(self._programs):
            program.stop()


def listening(program, outcome):
    ready = program.await_event("listening", 40)
    return outcome.need(ready, f"{program.name} did not start: {program.last_words()}")


def appliance_calls(stage, binary, peer, outcome):
    """The appliance presses, speaks, is released and hangs up by itself, twice; the peer answers."""
    sound = stage.sound
    answerer = stage.start(peer.name, peer.command("answer", stage.folder, *_answering(stage)))
    if not listening(answerer, outcome):
        return
    config = stage.folder / "talkpost.conf"
    config.write_text(
        f"[backend]\nurl = http://127.0.0.1:{PORT}/voice/{{chat}}\nchat = lobby\n"
        f"[talk]\nmode = hold\nidle_end = {round(sound.talk - sound.release + sound.lead)} s\n"
        f"[sound]\nmicrophone = wav:{sound.microphone}\nspeaker = wav:{stage.folder}/offerer-{{call}}.wav\n"
        f"[tones]\nearcons = none\n[button]\nsource = script:{stage.folder}/button.script\n"
        "[led]\noutput = none\n[log]\ntarget = console\nlevel = debug\n"
    )
    call = f"press\nafter {sound.release:.2f}\nawait connected 10\nrelease\nawait closed 20\n"
    (stage.folder / "button.script").write_text("await ready 10\n" + call * CALLS + "after 0.3\nquit\n")
    appliance = stage.start("talkpost", [binary, "run", "--config", config, "--events", "-"])
    code = appliance.await_end(CALLS * (sound.talk + 20) + 15)
    _ended_well(outcome, appliance, code)
    pressed, connected = appliance.all("button", change="pressed"), appliance.all("state", state="connected")
    for index in range(min(len(pressed), len(connected))):
        outcome.measure("connected_s", connected[index]["at"] - pressed[index]["at"])
    for call in range(1, CALLS + 1) if peer.tells_channels else ():
        channel = answerer.first("channel", voice=str(call), label="oai-events")
        outcome.need(channel, f"call {call}: the channel was not opened")
        if channel and len(connected) >= call:
            outcome.measure("channel_s", max(channel["at"] - connected[call - 1]["at"], 0))
    for index, closed in enumerate(appliance.all("state", state="closed")[:CALLS]):
        _closing(outcome, answerer, index + 1, closed["at"], peer.name)
    stage.stop()
    for call in range(1, CALLS + 1):
        outcome.need(len(connected) >= call, f"call {call}: not connected")
        heard = stage.folder / ("offerer" if peer.echoes else "answerer")
        _spoken(outcome, sound, call, f"{heard}-{call}.wav")
        if not peer.echoes:
            _heard(outcome, sound, call, f"{stage.folder}/offerer-{call}.wav")
    _own_faults(outcome, answerer)


def peer_calls(stage, provider, peer, outcome, echoes=False, closing="hang_up"):
    """The peer offers, speaks, mutes itself and asks for the close, twice; `provider` (a command) answers."""
    sound = stage.sound
    answerer = stage.start("provider", provider)
    if not listening(answerer, outcome):
        return
    options = ["--port", PORT + 20, "--url", CHAT, "--speak", sound.microphone, "--closing", closing]
    options += ["--record", f"{stage.folder}/offerer-{{call}}.wav", "--calls", CALLS]
    options += ["--mute-after", f"{sound.release:.2f}", "--talk", f"{sound.talk:.2f}"]
    offerer = stage.start(peer.name, peer.command("offer", stage.folder, *options))
    code = offerer.await_end(CALLS * (sound.talk + 20) + 30)
    _ended_well(outcome, offerer, code)
    for call in range(1, CALLS + 1):
        begun = offerer.first("voice", voice=str(call))
        connected = offerer.first("state", voice=str(call), state="connected")
        if outcome.need(connected, f"call {call}: not connected"):
            outcome.measure("connected_s", connected["at"] - begun["at"])
        if not echoes and closing == "hang_up":
            _channel(outcome, offerer, peer, call, connected)
        hung_up = offerer.first("hung_up", voice=str(call))
        if hung_up:
            watcher = offerer if closing == "hang_up" else answerer
            _closing(outcome, watcher, call, hung_up["at"], watcher.name)
    stage.stop()
    for call in range(1, CALLS + 1):
        heard = "offerer" if echoes else "answerer"
        _spoken(outcome, sound, call, f"{stage.folder}/{heard}-{call}.wav")
        if not echoes:
            _heard(outcome, sound, call, f"{stage.folder}/offerer-{call}.wav")
    _own_faults(outcome, offerer)


def provider_command(stage, binary):
    """talkpost-provider, as the answering side of `peer_calls`."""
    record = f"{stage.folder}/answerer-{{call}}.wav"
    speak = ["--record", record, "--speak", stage.sound.provider]
    return [binary, "--listen", f"127.0.0.1:{PORT}", *speak, "--events", "-"]


def peer_command(stage, peer):
    """Another peer, as the answering side of `peer_calls`."""
    return peer.command("answer", stage.folder, *_answering(stage))


def _answering(stage):
    record = f"{stage.folder}/answerer-{{call}}.wav"
    return ["--port", PORT, "--speak", stage.sound.provider, "--record", record]


def _channel(outcome, offerer, peer, call, connected):
    """The provider greets on the channel, and repeats a few bytes and the largest message that the peer takes."""
    opened = offerer.first("channel", voice=str(call))
    if not outcome.need(opened, f"call {call}: the channel was not opened"):
        return
    if connected:
        outcome.measure("channel_s", max(opened["at"] - connected["at"], 0))
    said = [message["text"] for message in offerer.all("message", voice=str(call))]
    outcome.need(any("session.created" in text for text in said), f"call {call}: no greeting on the channel")
    for size, name in ((4, "echo_s"), (peer.largest_message, "echo_largest_s")):
        echoed = offerer.first("echoed", voice=str(call), bytes=size)
        if outcome.need(echoed, f"call {call}: {size} bytes did not come back on the channel"):
            outcome.measure(name, echoed["seconds"])


def _closing(outcome, watcher, call, at, name):
    seen = watcher.await_event("closed", LONGEST_CLOSE + 3, voice=str(call))
    outcome.measure("closed_s", max(seen["at"] - at, 0) if seen else None)
    if seen and "by" in seen:
        outcome.measured.setdefault("closed_by", []).append(seen["by"])
    if outcome.need(seen, f"call {call}: {name} never saw the close"):
        late = seen["at"] - at
        outcome.need(late <= LONGEST_CLOSE, f"call {call}: {name} saw the close only after {late:.1f} s")


def _spoken(outcome, sound, call, path):
    """The question arrived, and the aside, spoken while muted, did not."""
    recording = _recording(outcome, call, path)
    if recording is None:
        return
    score = speech.compare(sound.question, recording)
    outcome.measure("spoken_correlation", score.correlation)
    enough = score.correlation >= LEAST_CORRELATION
    if not outcome.need(enough, f"call {call}: the sentence spoken to the provider scores {score.correlation:.2f}"):
        return
    shift = int((score.lag - sound.lead) * speech.RATE)
    muted = speech.Span(sound.aside_span.start + shift, sound.aside_span.end + shift)
    level = speech.loudest(recording, muted)
    outcome.measure("muted_dbfs", level, 1)
    if outcome.need(level is not None, f"call {call}: the recording ends before the muted sentence does"):
        outcome.need(level <= SILENCE, f"call {call}: muted, and yet {level:.0f} dBFS")


def _heard(outcome, sound, call, path):
    recording = _recording(outcome, call, path)
    if recording is None:
        return
    score = speech.compare(sound.reply, recording).correlation
    outcome.measure("heard_correlation", score)
    outcome.need(score >= LEAST_CORRELATION, f"call {call}: the provider's sentence scores {score:.2f}")


def _recording(outcome, call, path):
    try:
        return speech.read_wav(path)
    except speech.SpeechError as error:
        outcome.need(False, f"call {call}: {error}")
        return None


def _ended_well(outcome, program, code):
    how = "did not end" if code is None else f"ended with {code}"
    outcome.need(code == 0, f"{program.name} {how}: {program.last_words()}")


def _own_faults(outcome, program):
    for fault in program.all("failed"):
        outcome.need(False, f"{program.name}: {fault.get('why')}")

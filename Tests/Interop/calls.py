"""The calls of a case and what they must show: both sentences, silence while muted, the channel's words, the close noticed."""

from dataclasses import dataclass, field

import appliance
import channel
import speech
from processes import Program
from ways import BACKEND_PORT, BY_STREAM

CHAT = f"http://127.0.0.1:{BACKEND_PORT}/voice/lobby"

# Opus alone at 32 kbit/s gives these sentences 0.95 (voice mode) to 0.99; jitter buffers that stretch in the middle of
# a word, and encoders' filters, take up to a tenth more. What is lost or garbled falls far below.
LEAST_CORRELATION = 0.8
SILENCE = -60.0  # dBFS, the loudest 10 ms allowed while muted
LONGEST_CLOSE = 5.0  # seconds until the other side has noticed
LONGEST_LOSSY_CLOSE = 40.0  # where the word of the end may be lost: until nothing comes any more and consent runs out (RFC 7675)
LONGEST_CONNECT = 3.0  # seconds from the answer to connected where datagrams do not pass
LONGEST_FAULT = 10.0  # seconds from the press until what is wrong has its name
LEAST_CARRIED = 16_384  # bytes; a call's speech is some 30 kB, and what only asks and is refused far less


@dataclass
class Outcome:
    """One row of the report."""

    case: object
    faults: list = field(default_factory=list)
    measured: dict = field(default_factory=dict)

    def row(self):
        return self.case.row(ok=not self.faults, why="; ".join(self.faults), **self.measured)

    def need(self, holds, why):
        if not holds:
            self.faults.append(why)
        return bool(holds)

    def measure(self, name, value, digits=3):
        """Keeps one figure for each call, in order."""
        self.measured.setdefault(name, []).append(None if value is None else round(value, digits))


class Stage:
    """Where one case is played: its network and way, its folder, its sentences, and the programs started there."""

    def __init__(self, network, way, folder, sound):
        self.network, self.way, self.folder, self.sound, self._programs = network, way, folder, sound, []

    def start(self, name, command, place=""):
        program = Program(name, self.inside(command, place), self.folder)
        self._programs.append(program)
        return program

    def inside(self, command, place=""):
        return self.network.inside(command, place)

    def stop(self):
        for program in reversed(self._programs):
            program.stop()


def listening(program, outcome):
    ready = program.await_event("listening", 40)
    return outcome.need(ready, f"{program.name} did not start: {program.last_words()}")


def appliance_calls(stage, command, peer, outcome):
    """The appliance (`command`) presses, speaks, is released and hangs up by itself; the peer answers."""
    sound, case, network = stage.sound, outcome.case, stage.network
    peer_command = peer.command("answer", stage.folder, *answering(stage), by_tcp=case.way in BY_STREAM)
    answerer = stage.start(peer.name, peer_command, "provider")
    if not listening(answerer, outcome):
        return
    config = appliance.write_config(stage, "oai-events" if case.channel else "none")
    appliance.write_script(stage, case.calls)
    screen = appliance.Screen(appliance.captions_path(stage))
    post = stage.start("talkpost", [*command, "run", "--config", config, "--events", "-"], "box")
    code = post.await_end(case.calls * (sound.talk + 20) + 15)
    ended_well(outcome, post, code)
    if not stage.way.connects:
        _blocked(outcome, post)
        return
    pressed, connected = post.all("button", change="pressed"), post.all("state", state="connected")
    begun = post.all("voice")
    for index in range(min(len(pressed), len(connected))):
        outcome.measure("connected_s", connected[index]["at"] - pressed[index]["at"])
        if index < len(begun):
            _soon(outcome, stage.way, index + 1, connected[index]["at"] - begun[index]["at"])
    longest = LONGEST_LOSSY_CLOSE if stage.way.loss else LONGEST_CLOSE
    for index, closed in enumerate(post.all("state", state="closed")[: case.calls]):
        _closing(outcome, answerer, index + 1, closed["at"], peer.name, longest)
    if stage.way.carries:
        carried = network.carried()
        outcome.measure("carried_kB", carried / 1000, 1)
        outcome.need(carried >= LEAST_CARRIED, f"only {carried} bytes went the way that this is about")
    stage.stop()
    for call in range(1, case.calls + 1):
        outcome.need(len(connected) >= call, f"call {call}: not connected")
        if case.channel:
            channel.at_answerer(outcome, answerer, peer, call, connected)
        if not stage.way.loss:
            _spoken(outcome, sound, call, f"{stage.folder / ('offerer' if peer.echoes else 'answerer')}-{call}.wav")
            if not peer.echoes:
                _heard(outcome, sound, call, f"{stage.folder}/offerer-{call}.wav")
    if case.channel:
        channel.at_screen(stage, outcome, answerer, screen, peer)
    _own_faults(outcome, answerer)


def answering(stage):
    """A peer's options as the backend and provider of the talk post."""
    options = [*_answering(stage), "--address", stage.network.answering]
    return options + (["--ice-servers", appliance.told_servers(stage)] if stage.way.is_told else [])


def _soon(outcome, way, call, seconds):
    outcome.measure("after_answer_s", seconds)
    if way.is_slow:
        outcome.need(seconds <= LONGEST_CONNECT, f"call {call}: connected only {seconds:.1f} s after the answer")


def _blocked(outcome, post):
    """The fault got its name, soon."""
    pressed, fault = post.first("button", change="pressed"), post.first("error")
    outcome.need(not post.all("state", state="connected"), "connected, with every way blocked")
    if outcome.need(pressed and fault, "no fault was told"):
        outcome.measure("fault_s", fault["at"] - pressed["at"])
        outcome.measured["fault"] = [fault["code"]]
        outcome.need(fault["code"] == "udp_blocked", f"the fault is {fault['code']}: {fault['message']}")
        outcome.need(fault["at"] - pressed["at"] <= LONGEST_FAULT, "its name came too late")


def peer_calls(stage, provider, peer, outcome, echoes=False, closing="hang_up"):
    """The peer offers, speaks, mutes itself and asks for the close, twice; `provider` (a command) answers."""
    sound = stage.sound
    answerer, calls = stage.start("provider", provider), outcome.case.calls
    if not listening(answerer, outcome):
        return
    options = ["--port", BACKEND_PORT + 20, "--url", CHAT, "--speak", sound.microphone, "--closing", closing]
    options += ["--record", f"{stage.folder}/offerer-{{call}}.wav", "--calls", calls]
    options += ["--mute-after", f"{sound.release:.2f}", "--talk", f"{sound.talk:.2f}"]
    offerer = stage.start(peer.name, peer.command("offer", stage.folder, *options))
    code = offerer.await_end(calls * (sound.talk + 20) + 30)
    ended_well(outcome, offerer, code)
    for call in range(1, calls + 1):
        begun = offerer.first("voice", voice=str(call))
        connected = offerer.first("state", voice=str(call), state="connected")
        if outcome.need(connected, f"call {call}: not connected"):
            outcome.measure("connected_s", connected["at"] - begun["at"])
        if not echoes and closing == "hang_up":
            channel.at_offerer(outcome, offerer, peer, call, connected)
        hung_up = offerer.first("hung_up", voice=str(call))
        if hung_up:
            watcher = offerer if closing == "hang_up" else answerer
            _closing(outcome, watcher, call, hung_up["at"], watcher.name)
    stage.stop()
    for call in range(1, calls + 1):
        heard = "offerer" if echoes else "answerer"
        _spoken(outcome, sound, call, f"{stage.folder}/{heard}-{call}.wav")
        if not echoes:
            _heard(outcome, sound, call, f"{stage.folder}/offerer-{call}.wav")
    _own_faults(outcome, offerer)


def provider_command(stage, binary):
    """talkpost-provider, as the answering side of `peer_calls`."""
    record = f"{stage.folder}/answerer-{{call}}.wav"
    speak = ["--record", record, "--speak", stage.sound.provider]
    return [binary, "--listen", f"127.0.0.1:{BACKEND_PORT}", *speak, "--events", "-"]


def peer_command(stage, peer):
    """Another peer, as the answering side of `peer_calls`."""
    return peer.command("answer", stage.folder, *_answering(stage))


def _answering(stage):
    record = f"{stage.folder}/answerer-{{call}}.wav"
    return ["--port", BACKEND_PORT, "--speak", stage.sound.provider, "--record", record]


def _closing(outcome, watcher, call, at, name, longest=LONGEST_CLOSE):
    seen = watcher.await_event("closed", longest + 3, voice=str(call))
    outcome.measure("closed_s", max(seen["at"] - at, 0) if seen else None)
    if seen and "by" in seen:
        outcome.measured.setdefault("closed_by", []).append(seen["by"])
    if outcome.need(seen, f"call {call}: {name} never saw the close"):
        late = seen["at"] - at
        outcome.need(late <= longest, f"call {call}: {name} saw the close only after {late:.1f} s")


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


def ended_well(outcome, program, code):
    how = "did not end" if code is None else f"ended with {code}"
    outcome.need(code == 0, f"{program.name} {how}: {program.last_words()}")


def _own_faults(outcome, program):
    for fault in program.all("failed"):
        outcome.need(False, f"{program.name}: {fault.get('why')}")

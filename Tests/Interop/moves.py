"""Calls in which the box's network changes under a sentence: its address goes, and another comes."""

import time

import appliance
import calls
import speech

SENTENCES = 5
PAUSE = 0.3
STAYS = 1.0  # seconds from connected until the address goes
WITHOUT = 0.3  # seconds until the next one is there
LONGEST = 8.0  # seconds from the new address until the call goes on


def appliance_moves(stage, command, peer, outcome):
    """The post is pressed and spoken into; the call has to go on by itself, in the same voice or in a new one."""
    answering = calls.answering(stage)
    answerer = stage.start(peer.name, peer.command("answer", stage.folder, *answering), "provider")
    if not calls.listening(answerer, outcome):
        return
    sound = stage.sound
    microphone, length = sound.repeated(stage.folder / "microphone.wav", SENTENCES, PAUSE)
    config = appliance.write_config(stage, microphone=microphone)
    steps = f"await ready 10\nafter 0.3\npress\nafter {length + 1:.2f}\nrelease\nafter 1\nquit\n"
    (stage.folder / "button.script").write_text(steps)
    post = stage.start("talkpost", [*command, "run", "--config", config, "--events", "-"], "box")
    connected = post.await_event("state", 15, state="connected")
    if not outcome.need(connected, "not connected"):
        return
    time.sleep(STAYS)
    stage.network.lose_address()
    time.sleep(WITHOUT)
    moved = time.monotonic()
    stage.network.take_address()
    code = post.await_end(length + 30)
    calls.ended_well(outcome, post, code)
    again = [event for event in post.all("state", state="connected") if event["at"] > moved]
    voices = post.all("voice")
    if not outcome.need(again, f"the call did not go on: {post.last_words()}"):
        return
    # A peer that answers checks and does not follow is connected for a moment before a new voice is.
    on = again[-1] if len(voices) > 1 else again[0]
    seconds = on["at"] - moved
    outcome.measured["voices"] = [len(voices)]
    outcome.measure("moved_s", seconds)
    outcome.need(seconds <= LONGEST, f"it went on only after {seconds:.1f} s")
    outcome.need(len(voices) <= 2, f"{len(voices)} voices")
    stage.stop()
    _heard_again(outcome, stage, peer, voices, on["at"] - connected["at"])


def _heard_again(outcome, stage, peer, voices, after):
    """A whole sentence arrived after the call went on."""
    recording = speech.read_wav(stage.folder / f"{'offerer' if peer.echoes else 'answerer'}-{len(voices)}.wav")
    rest = recording[int(after * speech.RATE) :] if len(voices) == 1 else recording
    score = speech.compare(stage.sound.question, rest).correlation
    outcome.measure("spoken_correlation", score)
    outcome.need(score >= calls.LEAST_CORRELATION, f"what was spoken after it scores {score:.2f}")

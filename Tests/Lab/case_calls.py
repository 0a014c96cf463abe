"""Calls as visitors make them: held, toggled, hands-free, tapped."""

import re

from call_scores import score_heard, score_press, score_spoken, score_tone
from lab import SPEAKER_STATUS, case

DELAYS = {
    "mouth_to_wire_ms": r"microphone's delay was ([\d.]+) ms",
    "wire_to_speaker_ms": r"speaker's delay was ([\d.]+) ms",
    "of_it_jitter_buffer_ms": r"([\d.]+) ms of it in the jitter buffer",
}


# A call's first press, and the one after it, from the line's pull to the tone.
PRESSES = ("press_to_tone_s", "next_press_to_tone_s")
# A look at the speaker while the tone of a press sounds or has just sounded, so many seconds after it.
LOOK, LOOK_AFTER = f"stream={SPEAKER_STATUS}", 0.3


class Call:
    """One call from the press to the LED's muted again; `play` does what the visitor does."""

    def __init__(self, lab, report):
        self._lab, self._report = lab, report
        self.number = lab.provider.voices + 1
        lab.box.mark()
        lab.listen()
        self.spoken_from, self.trace = None, None

    def play(self, *steps):
        """Speaks, and takes the steps from the first sample on; they may name seconds of the sentences by `at`."""
        self.trace = self._lab.box.do(*self._lab.speak_step(), *steps, seconds=90)
        self.spoken_from = self.trace.first("running", "1")
        self._report.need(self.spoken_from is not None, "the loopback card did not take the sentences")

    def finish(self, muted=True):
        """Waits for the end, then scores."""
        lab, report = self._lab, self._report
        if not report.need(lab.provider.await_voice(self.number, 1), "no voice was begun"):
            report.need(False, f"STATUS: {lab.box.status}")
            lab.heard()
            return
        connected = lab.provider.await_state(self.number, "connected", 1)
        report.need(connected, "not connected")
        report.need(lab.provider.await_closed(self.number, 40), "the voice was never closed")
        report.need(lab.box.await_idle(20), "the LED does not show muted after the call")
        offset = lab.box.agent.clock_offset()
        pulled = self.trace.first("pull", "down")
        if connected and pulled:
            report.measure("press_to_connected_s", connected["at"] - pulled - offset)
        score_press(lab, report, self.trace)
        score_spoken(lab, report, self.number, self.spoken_from, offset, muted)
        heard = lab.heard()
        score_heard(lab, report, self.number, heard, offset)
        for name, pulled in zip(PRESSES, self.trace.all("pull", "down")):
            score_tone(lab, report, self.trace, heard, pulled, name)
        self._measure_delays(lab.box.journal())

    def _measure_delays(self, journal):
        """What the appliance itself says of the call: microphone to packet, packet to speaker, the jitter buffer's share."""
        for figure, words in DELAYS.items():
            found = re.search(words, journal)
            self._report.measure(figure, float(found[1]) if found else None, 1)
            self._report.need(found, f"the journal does not tell {figure}")


@case("hold", at_least="smoke")
def hold(lab, report):
    """Pressed and held while speaking; what is said after the release must not arrive."""
    # Long enough for one more press when all is said: the tone of a voice that is open.
    lab.box.configure(talk={"mode": "hold", "idle_end": "8 s"})
    call, times = Call(lab, report), lab.sentences
    press = ("pull=down", f"wait={LOOK_AFTER}", LOOK)
    held = (*press, f"wait={times.release_at - LOOK_AFTER}", "pull=up", "led=1:3")
    call.play(*held, f"wait={times.end_at - times.release_at}", *press, "pull=up")
    released = call.trace.first("pull", "up")
    muted = call.trace.first("led", "1", after=released or 0)
    # 300 ms of tail, in which the last word is still heard.
    report.need_at_most("release_to_muted_s", muted - released if muted else None, 0.3 + lab.limit(0.05))
    call.finish()


def two_presses(lab, report, held):
    """Opened by one press and ended by the next, after the reply was heard."""
    call, times = Call(lab, report), lab.sentences
    press = ("pull=down", f"wait={held}", "pull=up", f"wait={LOOK_AFTER - held}", LOOK)
    end = max(times.release_at, times.reply_at + times.reply_seconds) + 2.5
    call.play(*press, f"wait={end - LOOK_AFTER}", *press, "led=1:3")
    call.finish(muted=False)


@case("auto-tap", at_least="smoke")
def auto_tap(lab, report):
    """In auto, a tap opens the microphone and the next one closes it: nobody must be able to hold a button."""
    lab.box.configure(talk={"mode": "auto", "idle_end": "20 s"})
    two_presses(lab, report, held=0.15)


@case("toggle", at_least="short")
def toggle(lab, report):
    """A press opens and unmutes, the next one mutes and closes."""
    lab.box.configure(talk={"mode": "toggle", "idle_end": "20 s"})
    two_presses(lab, report, held=0.25)


@case("hands-free", at_least="short")
def hands_free(lab, report):
    """A press opens, the microphone stays open, and the idle end closes when nobody says anything any more."""
    lab.box.configure(talk={"mode": "hands-free", "idle_end": "4 s"})
    call, times = Call(lab, report), lab.sentences
    call.play("pull=down", f"wait={LOOK_AFTER}", LOOK, "pull=up", f"wait={times.end_at}")
    call.finish(muted=False)

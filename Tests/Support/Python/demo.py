"""Plays the demo that `./demo` has prepared: starts provider and appliance, shows the call, and sums it up."""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import speech
import timeline
from live import Display
from processes import Program

ARRIVED = 0.7  # the least correlation that counts; Opus alone gives speech 0.95, music and noise less
TAIL = 0.8  # seconds the button stays pressed after the last word, and seconds listened to after the last repeated one

SCRIPT = """\
await ready 10
after 0.5
press
await connected 10
after {talk:.2f}
release
await first_sound {patience:.0f}
after {listen:.2f}
quit
"""
CONFIG = """\
[backend]
kind = {kind}
url = http://127.0.0.1:{port}{path}
chat = lobby
[talk]
mode = hold
idle_end = 120 s
[sound]
microphone = wav:{out}/microphone.wav
speaker = wav:{out}/at-box.wav
[tones]
earcons = none
[button]
source = script:{out}/button.script
[led]
output = none
[network]
loopback = yes
[state]
directory = {out}
[log]
target = console
level = warning
"""
# Where the provider starts a voice, by its kind of backend.
PATHS = {"contract": "/voice/{chat}", "whip": "/whip/{chat}", "pipecat": "/api/offer", "answer": "/voice/{chat}"}


class Failure(Exception):
    """The demo cannot go on. The message is a sentence for whoever started it."""


class Use:
    """Processor time and memory of one process, sampled from /proc twice a second on a thread of its own."""

    def __init__(self, process):
        self._folder, self._samples, self._over = Path(f"/proc/{process}"), [], threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self):
        self._over.set()
        self._thread.join()

    def cpu_per_second(self, start, end):
        """Seconds of processor time for each second between two times of CLOCK_MONOTONIC; None if it was too short."""
        inside = [sample for sample in self._samples if start <= sample[0] <= end]
        if len(inside) < 2:
            return None
        return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])

    @property
    def peak_pss_mib(self):
        return max((sample[2] for sample in self._samples), default=0) / 1024

    def _sample(self):
        tick = os.sysconf("SC_CLK_TCK")
        while True:
            try:
                fields = (self._folder / "stat").read_text().rpartition(") ")[2].split()
                rollup = (self._folder / "smaps_rollup").read_text()
            except OSError:
                return
            pss = next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)
            self._samples.append((time.monotonic(), (int(fields[11]) + int(fields[12])) / tick, pss))
            if self._over.wait(0.5):
                return


def play(options, display):
    """The call itself. Returns the appliance's and the provider's events and what the appliance used."""
    out, spoken = options.out, speech.read_wav(options.out / "microphone.wav")
    utterances = speech.utterances(spoken)
    if not utterances:
        raise Failure("There is no speech in the recording.")
    # The provider takes a pause for the end of what is said; one inside the recording must not be long enough.
    pauses = [after.start - before.end for before, after in zip(utterances, utterances[1:])]
    repeat_after = min(max(0.8, max(pauses, default=0) / speech.RATE + 0.3), 30)
    talk = utterances[-1].end / speech.RATE + TAIL
    listen = (utterances[-1].end - utterances[0].start) / speech.RATE + TAIL + 0.5

    for stale in ("at-provider.wav", "at-box.wav", "timeline.png"):
        (out / stale).unlink(missing_ok=True)
    programs, use = [], None
    try:
        where = ["--listen", "127.0.0.1:0", "--kind", options.kind, "--loopback", "--record", out / "at-provider.wav", "--events", "-"]
        repeats = ["--repeat-after", f"{repeat_after:.2f}"]
        provider = Program("provider", [options.binaries / "talkpost-provider", *where, *repeats], out)
        programs.append(provider)
        listening = provider.await_event("listening", 10)
        if not listening:
            raise Failure(f"The provider did not start: {provider.last_words()}")
        config = CONFIG.format(kind=options.kind, port=int(listening["port"]), path=PATHS[options.kind], out=out)
        (out / "talkpost.conf").write_text(config)
        script = SCRIPT.format(talk=talk, patience=repeat_after + 10, listen=listen)
        (out / "button.script").write_text(script)
        command = [options.binaries / "talkpost", "run", "--config", out / "talkpost.conf", "--events", "-"]
        appliance = Program("talkpost", command, out, on_event=display.show)
        programs.append(appliance)
        use = Use(appliance.process_id)
        code = appliance.await_end(60 + talk + listen)
        display.finish()
        if code != 0:
            how = "did not end" if code is None else f"ended with code {code}"
            raise Failure(f"talkpost {how}: {appliance.last_words()}")
        provider.await_event("closed", 3)
    finally:
        if use:
            use.stop()
        for program in reversed(programs):
            program.stop()
    return appliance, provider, use, repeat_after


def figures(out, appliance, use):
    """What the summary says; a figure that could not be had is None."""
    pressed = appliance.first("button", change="pressed")
    connected = appliance.first("state", state="connected")
    sounded = appliance.first("first_sound")
    closed = appliance.first("closed") or appliance.events[-1]
    spoken = speech.compare(speech.read_wav(out / "microphone.wav"), speech.read_wav(out / "at-provider.wav"))
    heard = speech.compare(speech.read_wav(out / "at-provider.wav"), speech.read_wav(out / "at-box.wav"))

    def since_press(event):
        return event["at"] - pressed["at"] if event and pressed else None

    return spoken, heard, {
        "connected_s": since_press(connected),
        "first_sound_s": since_press(sounded),
        "spoken_correlation": spoken.correlation,
        "heard_correlation": heard.correlation,
        "cpu_per_s": use.cpu_per_second(connected["at"], closed["at"]) if connected else None,
        "peak_pss_mib": use.peak_pss_mib,
    }


def summary(options, result, waited, repeat_after):
    def line(name, value, unit, remark=""):
        shown = "-" if value is None else value
        print(f"  {name:<30}{shown:>9} {unit:<5}{remark}")

    def rounded(name, digits):
        return None if result[name] is None else f"{result[name]:.{digits}f}"

    print()
    line("press to connected", result["connected_s"] and f"{1000 * result['connected_s']:.1f}", "ms")
    remark = f"  {waited:.1f} s after the last word, of which the provider waited {repeat_after:.1f}" if waited else ""
    line("press to first sound heard", rounded("first_sound_s", 2), "s", remark)
    line("spoken, as it arrived", rounded("spoken_correlation", 3), "", f"  {options.out / 'at-provider.wav'}")
    line("heard, as it arrived", rounded("heard_correlation", 3), "", f"  {options.out / 'at-box.wav'}")
    line("processor, a second of call", result["cpu_per_s"] and f"{1000 * result['cpu_per_s']:.1f}", "ms")
    line("memory (PSS), at most", rounded("peak_pss_mib", 1), "MiB")
    line("both on one time line", "", "", f"  {options.out / 'timeline.png'}")
    print("  (arrived: correlation after alignment, 1 is all of it; the codec alone gives 0.95)\n")


def main():
    parser = argparse.ArgumentParser(prog="demo")
    parser.add_argument("--binaries", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--kind", choices=PATHS, default="contract")
    options = parser.parse_args()
    options.out, options.binaries = options.out.resolve(), options.binaries.resolve()

    def stop(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        appliance, provider, use, repeat_after = play(options, Display(sys.stdout))
        spoken, heard, result = figures(options.out, appliance, use)
        if options.json:
            rounded = {name: value if value is None else round(value, 6) for name, value in result.items()}
            options.json.write_text(json.dumps(rounded, indent=2) + "\n")
        drawing = timeline.Drawing(options.out, appliance.events, provider.events, spoken, heard)
        drawing.save(options.out / "timeline.png")
    except KeyboardInterrupt:
        return 130
    except (Failure, speech.SpeechError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    summary(options, result, drawing.waited, repeat_after)
    arrived = min(result["spoken_correlation"], result["heard_correlation"]) >= ARRIVED
    print("The speech arrived both ways." if arrived else "The speech did NOT arrive both ways.")
    return 0 if arrived else 1


if __name__ == "__main__":
    sys.exit(main())

"""What a call must show, and how it is scored: both sentences, silence while muted, the delays, the LED."""

import speech
from heard import MOST_SPREAD

# What the interop calls ask for too. Opus alone gives these sentences 0.95, and emulation costs nothing of it as long as the host lets it keep
# pace (README). Each lost word costs more than what is left.
LEAST_CORRELATION = 0.8
# Seconds that a piece of speech may lie off its place: an emulated machine on a busy host stands still for that long.
SEARCH = 1.0
SILENCE = -60.0  # dBFS, the loudest 10 ms allowed while muted


def score_spoken(lab, report, number, spoken_from, offset, muted=True):
    """The question arrived at the provider, and the aside did not. `spoken_from`: when speaking began (machine's clock)."""
    recording = lab.at_provider(number)
    if not report.need(recording is not None, "the provider recorded nothing"):
        return
    score = speech.compare(lab.sentences.question, recording, SEARCH)
    report.measure("spoken", score.correlation)
    enough = report.need(score.correlation >= LEAST_CORRELATION, f"the sentence spoken scores {score.correlation:.2f}")
    if not enough:
        return
    if muted:
        level = speech.loudest(recording, lab.sentences.aside_span(score.lag))
        # A recording that ends before the aside holds nothing of it.
        report.measure("muted_dbfs", speech.SILENCE_DBFS if level is None else level, 1)
        report.need(level is None or level <= SILENCE, f"muted, and yet {level or 0:.0f} dBFS")
    sounded = lab.provider.first_sound(number)
    if sounded and spoken_from is not None:
        first_word = spoken_from + offset + lab.sentences.question_at
        report.measure("mouth_to_provider_s", sounded["at"] - first_word)


def score_heard(lab, report, number, heard, offset):
    """The reply came out of the speaker."""
    score = speech.compare(lab.sentences.reply, heard.samples, SEARCH)
    report.measure("heard", score.correlation)
    if not report.need(score.correlation >= LEAST_CORRELATION, f"the provider's sentence scores {score.correlation:.2f}"):
        return
    connected = lab.provider.await_state(number, "connected", 1)
    if connected:
        said = connected["at"] + lab.sentences.reply_at
        report.measure("provider_to_ear_s", heard.began + offset + score.lag - said)


def score_press(lab, report, trace, name="press_to_led_s", limit=0.05):
    """From the line's pull to the LED's first change."""
    pulled = trace.first("pull", "down")
    changed = trace.first("led", after=pulled or 0)
    taken = changed - pulled if changed and pulled else None
    report.need_at_most(name, taken, lab.limit(limit))


def score_tone(lab, report, trace, heard, pulled, name):
    """From the line's pull to the tone in the air; apart, what of it lay in the speaker's own buffer. Nothing sounded before it."""
    report.need(heard.spread <= MOST_SPREAD, f"the ear's times disagree by {heard.spread:.3f} s")
    onset = heard.onset(pulled)
    if report.need(onset, f"{name}: no tone was heard"):
        lab.tones.append(report.measure(name, onset - pulled))
    stream = next((change.value.split() for change in trace if change.what == "stream" and change.at >= pulled), ["closed"])
    if onset and stream != ["closed"]:
        started, waiting = float(stream[0]), int(stream[1]) / speech.RATE
        # Silence goes before the first frame; a stream that ran already keeps about as much in stock all the time.
        report.measure(f"{name.removesuffix('_s')}_of_it_speaker_s", onset - started if pulled <= started <= onset else waiting)

"""What happens to the microphone's card: pulled out and plugged in again in a call, in another program's hands, forbidden."""

import time

import speech
from box import UNIT, dark_spells, flicks
from call_scores import LEAST_CORRELATION, SEARCH, score_heard
from case_life import begin_held_call, need_press_served
from case_site import MICROPHONE_DENIED, need_fault_shown
from case_sound import BACK_WITHIN, LOST_WITHIN, measure_waiting
from lab import HEADSET, HEADSET_DEVICE, SPEAKER_STATUS, case

MICROPHONE_LOST = "5-2"  # what the LED flicks (HANDBOOK, the kiosk)
DRIVER = "/sys/bus/platform/drivers/snd_aloop"
MICROPHONE = {"microphone": f"card:{HEADSET}"}
# A flick is 0.12 s; one that is longer than this is no flick, however busy the host.
LONGEST_FLICK = 0.6
# A step whose line tells when a trace ends.
END = f"stream={SPEAKER_STATUS}"
NOW = "cut -d' ' -f1 /proc/uptime"
# Keeps when STATUS says that something is missing.
STATUS_STEP = (
    f"run=: >/run/lab/status; until systemctl show -p StatusText {UNIT} | grep -q 'Not able to serve.*icrophone';"
    f" do sleep 0.05; done; {NOW} >/run/lab/status"
)


def driver_step(what):
    """A step that unbinds or binds the headset's driver, and keeps when that was begun and done (machine's clock)."""
    return f"run={NOW} >/run/lab/{what}; echo {HEADSET_DEVICE} >{DRIVER}/{what}; {NOW} >>/run/lab/{what}"


def kept_times(lab, what):
    """When that was begun and done, as the machine kept it; None for what has not come yet."""
    times = [float(line) for line in lab.box.agent.run(f"cat /run/lab/{what}").split()]
    return (times + [None, None])[:2]


def named_at(line):
    """When the journal's line was written (machine's clock)."""
    return float(line.partition("[")[2].partition("]")[0])


@case("microphone-back", at_least="short")
def microphone_back(lab, report):
    """The microphone's card goes away in a call and comes back: named, shown, the provider heard all the while, then speech again."""
    # The fault's tone would sound over the provider's words, by which it is found out whether they are heard.
    lab.box.configure(talk={"mode": "hold", "idle_end": "20 s"}, sound=MICROPHONE, tones={"earcons": "none"})
    process = lab.box.process_id
    lab.listen()
    try:
        number = begin_held_call(lab, report)
        if not number:
            return
        lab.box.mark()
        taken_away(lab, report)
        report.need(not lab.provider.first_sound(number), "the provider heard something before anybody spoke")
        given_back(lab, report, number)
        report.need(lab.provider.voices == number and not lab.provider.closed(number), "the call did not go on")
        report.need(lab.box.process_id == process, "the appliance did not survive it")
    finally:
        lab.box.agent.run(f"[ -e {DRIVER}/{HEADSET_DEVICE} ] || echo {HEADSET_DEVICE} >{DRIVER}/bind; true", 60)
        lab.box.do("pull=up")
    report.need(lab.provider.await_closed(number, 40), "the voice was never closed")
    score_heard(lab, report, number, lab.heard(), lab.box.agent.clock_offset())
    recording = lab.at_provider(number)
    if report.need(recording is not None, "the provider recorded nothing"):
        score = speech.compare(lab.sentences.question, recording, SEARCH)
        report.measure("spoken_after", score.correlation)
        report.need(score.correlation >= LEAST_CORRELATION, f"what is spoken afterwards scores {score.correlation:.2f}")


def taken_away(lab, report):
    trace = lab.box.do(STATUS_STEP, driver_step("unbind"), "wait=6", END)
    report.measure("held", holders(lab))
    begun, _ = kept_times(lab, "unbind")
    lines = [line for line in lab.box.journal().splitlines() if "[sound] microphone" in line]
    if report.need(lines, "the journal does not name the loss"):
        report.measure("loss", lines[0].partition("]: ")[2])
        report.need_at_most("loss_named_s", named_at(lines[0]) - begun, lab.limit(LOST_WITHIN))
    lit = trace.first("led", "1", after=begun)
    report.need_at_most("loss_to_lit_s", lit - begun if lit else None, lab.limit(LOST_WITHIN))
    told, _ = kept_times(lab, "status")
    report.need_at_most("loss_to_status_s", told - begun if told else None, lab.limit(LOST_WITHIN))
    report.measure("status", lab.box.status)
    shown = measure_waiting(lab, report, "tp-capture", lambda: lab.box.do("wait=13", END))
    report.measure("flicks", flicks(shown))
    report.need(flicks(shown) == MICROPHONE_LOST, f"the LED does not flick {MICROPHONE_LOST}")
    lies = [at for at in dark_spells(trace, LONGEST_FLICK) if lit and at > lit] + dark_spells(shown, LONGEST_FLICK)
    report.need(not lies, "the LED shows open while there is no microphone")


def given_back(lab, report, number):
    """Somebody speaks from the moment the card is there again."""
    # The first word may come before the card is ready to play: it is tried until it is.
    speak = f"run=until aplay -q -D hw:{HEADSET},1,0 /lab/again.wav 2>/dev/null; do sleep 0.05; done"
    trace = lab.box.do(driver_step("bind"), speak, "wait=6", END, seconds=60)
    _, back = kept_times(lab, "bind")
    if not report.need(back, f"the card did not come back; who still holds sound devices: {holders(lab)}"):
        return
    offset = lab.box.agent.clock_offset()
    sounded = lab.provider.first_sound(number)
    report.need_at_most("back_to_speech_s", sounded["at"] - offset - back if sounded else None, lab.limit(BACK_WITHIN))
    lines = [line for line in lab.box.journal().splitlines() if "microphone is back" in line]
    if report.need(lines, "the journal does not say that it is back"):
        report.measure("back_named_s", named_at(lines[0]) - back)
    spells = dark_spells(trace, LONGEST_FLICK)
    report.need_at_most("back_to_open_s", spells[0] - back if spells else None, lab.limit(BACK_WITHIN))
    report.need(not spells or spells[0] >= back, "the LED shows open before the card is back")
    time.sleep(max(lab.sentences.again_seconds - 6, 0) + 1)


def holders(lab):
    """Which of the appliance's open files are sound devices: a driver is not gone before the last of them is closed."""
    return lab.box.agent.run(f"ls -l /proc/{lab.box.process_id}/fd | sed -n 's/.* \\(.*snd.*\\)/\\1/p'").replace("\n", ", ")


def need_denied(lab, report, words):
    """A press is answered by the microphone's fault: by LED, tone, journal and STATUS; the reason has these words."""
    process, voices = lab.box.process_id, lab.provider.voices
    lab.box.mark()
    lab.listen()
    pressed = lab.box.do("pull=down", "wait=0.3", "pull=up").first("pull")
    need_fault_shown(lab, report, MICROPHONE_DENIED, lab.limit(5))
    said = [line for line in lab.box.journal().splitlines() if "microphone_denied" in line]
    if report.need(said, "the journal does not say microphone_denied"):
        report.measure("named", said[0].partition("]: ")[2])
        report.need(all(word in said[0] for word in words), f"the reason does not have: {', '.join(words)}")
    report.measure("status", lab.box.status)
    tone = report.measure("tone", lab.heard().fault(pressed))
    report.need(tone == MICROPHONE_DENIED, f"the tone says {tone}, not {MICROPHONE_DENIED}")
    report.need(lab.provider.voices == voices, "a voice was begun without a microphone")
    report.need(lab.box.process_id == process, "the appliance did not survive it")


@case("card-busy", at_least="all")
def card_busy(lab, report):
    """Another program holds the microphone at the press: named with that program; freed, the next press is served."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "2 s"}, sound=MICROPHONE)
    holds = f"run=exec arecord -q -D hw:{HEADSET},0,0 -f S16_LE -r 48000 -c 2 /dev/null 2>/dev/null"
    held = lab.box.do(holds, f"running=/proc/asound/{HEADSET}/pcm0c/sub0/status:10")
    report.need(held.first("running", "1"), "the other program did not get the card")
    try:
        need_denied(lab, report, ("in use", "arecord"))
    finally:
        lab.box.agent.run("pkill arecord; true")
    need_press_served(lab, report)


@case("card-forbidden", at_least="all")
def card_forbidden(lab, report):
    """The microphone's node may not be opened: named as that; permitted again, the next press is served."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "2 s"}, sound=MICROPHONE)
    node = "/dev/snd/pcmC1D0c"
    mode = lab.box.agent.run(f"stat -c %a {node}")
    lab.box.agent.run(f"chmod 0 {node}")
    try:
        need_denied(lab, report, ("may not be used",))
    finally:
        lab.box.agent.run(f"chmod {mode} {node}")
    need_press_served(lab, report)

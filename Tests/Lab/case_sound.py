"""What happens to sound devices: a card pulled out and put back in a call, a jack, mixer values that must come back."""

import time

from case_life import begin_held_call
from case_site import MICROPHONE_DENIED, need_fault_shown
from lab import case

LOST_WITHIN, BACK_WITHIN = 1.0, 3.0  # seconds
WAITING = 5.0  # percent of a core, of the thread whose card is gone


def measure_waiting(lab, report, thread, meanwhile):
    """What the thread that waits for its card takes of a core, within the limit; what the rest of the call takes, for the record."""
    before, since = lab.box.thread_seconds(), time.monotonic()
    found = meanwhile()
    after, seconds = lab.box.thread_seconds(), time.monotonic() - since
    used = {name: 100 * (after[name] - before.get(name, 0)) / seconds for name in after}
    report.measure("waiting_thread", thread)
    report.measure("waiting_cpu_percent_limit", lab.limit(WAITING), 1)
    report.need_at_most("waiting_cpu_percent", used.get(thread), lab.limit(WAITING))
    report.measure("rest_of_call_cpu_percent", sum(used.values()) - used.get(thread, 0), 1)
    return found


def usb_card(lab):
    """The id of the USB card once the kernel has it, or None."""
    listed = lab.box.agent.run("cat /proc/asound/cards")
    for line in listed.splitlines():
        if "[" in line and "Loopback" not in line:
            return line.partition("[")[2].partition("]")[0].strip()
    return None


def is_playing(lab, card):
    """Whether the card's playback stream runs."""
    return "RUNNING" in lab.box.agent.ask(f"cat /proc/asound/{card}/pcm0p/sub0/status")[1]


@case("card-back", at_least="short")
def card_back(lab, report):
    """A USB card is pulled out in a call and put back: the loss is named, the call goes on, what is played resumes."""
    lab.machine.plug_card()
    try:
        card = lab.box.until(lambda: usb_card(lab), 30)
        if not report.need(card, "the kernel does not see the USB card"):
            return
        lab.box.configure(talk={"mode": "hold", "idle_end": "20 s"}, sound={"speaker": f"card:{card}"})
        number = begin_held_call(lab, report)
        if not number:
            return
        report.need(lab.box.until(lambda: is_playing(lab, card), lab.limit(3)), "nothing is played on the USB card")
        pulled_out(lab, report, number)
        put_back(lab, report, card, number)
        lab.box.do("pull=up")
    finally:
        lab.machine.unplug_card()


def pulled_out(lab, report, number):
    process = lab.box.process_id
    lab.box.mark()
    pulled, offset = time.monotonic(), lab.box.agent.clock_offset()
    lab.machine.unplug_card()
    lines = lab.box.until(lambda: [line for line in lab.box.journal().splitlines() if "[sound] speaker" in line], 10)
    if report.need(lines, "the journal does not name the loss"):
        report.measure("loss", lines[0].partition("]: ")[2])
        at = float(lines[0].partition("[")[2].partition("]")[0])
        report.need_at_most("loss_named_s", at + offset - pulled, lab.limit(LOST_WITHIN))
    measure_waiting(lab, report, "tp-playback", lambda: time.sleep(8))
    report.need(lab.provider.voices == number and not lab.provider.closed(number), "the call did not go on")
    report.need(lab.box.process_id == process, "the appliance did not survive it")


def put_back(lab, report, card, number):
    lab.machine.plug_card()
    report.need(lab.box.until(lambda: usb_card(lab), 30, pause=0.05), "the kernel does not see the card again")
    since = time.monotonic()
    resumed = lab.box.until(lambda: is_playing(lab, card), lab.limit(BACK_WITHIN) + 5, pause=0.05)
    report.need_at_most("resumed_s", time.monotonic() - since if resumed else None, lab.limit(BACK_WITHIN))
    report.need(not lab.provider.closed(number), "the call did not go on")


@case("card-absent", at_least="short")
def card_absent(lab, report):
    """No card at all: READY all the same, and a press is answered by a fault that is named."""
    lab.box.configure(talk={"mode": "hold"}, sound={"microphone": "card:Absent", "speaker": "card:Absent"})
    report.need(lab.box.ask("ActiveState") == "active", "READY waits for the card")
    report.measure("status", lab.box.status)
    lab.box.mark()
    lab.box.do("pull=down", "wait=0.3", "pull=up")
    need_fault_shown(lab, report, MICROPHONE_DENIED, lab.limit(5))
    report.need("Absent" in lab.box.journal() + lab.box.status, "neither journal nor STATUS names the card")
    lab.box.await_idle(30)


# The loopback card's controls, as lab-wires made them (files/usr/local/share/lab/controls.state).
CONTROLS = (
    "Speaker Playback Volume", "Speaker Playback Switch", "Headphone Playback Volume", "Headphone Playback Switch",
    "Capture Volume", "Capture Switch", "Mic Boost Volume",
)
JACK = "iface=CARD,name='Headphone Jack'"


def mixer(lab):
    """Every control's value as amixer shows it: {name: value}."""
    script = "".join(f"amixer -c Loopback cget name='{name}' | sed -n 's/^  : values=//p';" for name in CONTROLS)
    return dict(zip(CONTROLS, lab.box.agent.run(script).splitlines()))


def differences(before, after):
    return ", ".join(f"{name} {before[name]} -> {after.get(name)}" for name in before if before[name] != after.get(name))


@case("mixer", at_least="short")
def mixer_values(lab, report):
    """Set as configured in a call, back as they were after it; after a kill too, with the microphone off until the next call."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "2 s"}, sound={"volume": "70", "microphone_volume": "60"})
    before = mixer(lab)
    number = begin_held_call(lab, report)
    if not number:
        return
    during = mixer(lab)
    report.measure("in_a_call", differences(before, during))
    wanted = {"Speaker Playback Volume": "70,70", "Capture Volume": "60,60", "Capture Switch": "on"}
    for name, value in wanted.items():
        report.need(during[name] == value, f"in a call {name} is {during[name]}, not {value}")
    report.need(during["Mic Boost Volume"] == before["Mic Boost Volume"], "a control that is not the voice's was changed")
    lab.box.do("pull=up")
    lab.provider.await_closed(number, 20)
    lab.box.await_idle(20)
    after = mixer(lab)
    report.need(after == before, f"not put back after the call: {differences(before, after)}")

    if not begin_held_call(lab, report):
        return
    killed = lab.box.do(f"kill=9:{lab.box.process_id}", "pull=up").first("kill")
    report.need(lab.box.await_ready(killed, 60), "not READY again")
    lab.box.await_idle(20)
    after = mixer(lab)
    report.measure("after_kill", differences(before, after))
    report.need(after["Capture Switch"] == "off", "after a kill the microphone is not off")
    rest = {**after, "Capture Switch": before["Capture Switch"]}
    report.need(rest == before, f"not put back after a kill: {differences(before, rest)}")

    number = begin_held_call(lab, report)
    report.need(mixer(lab)["Capture Switch"] == "on", "the next call does not switch the microphone on")
    lab.box.do("pull=up")
    if number:
        lab.provider.await_closed(number, 20)
    lab.box.await_idle(20)
    after = mixer(lab)
    report.need(after == before, f"not put back after the next call: {differences(before, after)}")


@case("jack", at_least="short")
def jack(lab, report):
    """A headphone plugged in during a call is taken, and the speaker again once it is pulled."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "2 s"})
    try:
        if not begin_held_call(lab, report):
            return
        need_output(lab, report, "Speaker", "Headphone", "at the start")
        for name, other, state in (("Headphone", "Speaker", "on"), ("Speaker", "Headphone", "off")):
            lab.box.agent.run(f"amixer -q -c Loopback cset {JACK} {state}")
            need_output(lab, report, name, other, f"with the jack {state}")
    finally:
        lab.box.agent.run(f"amixer -q -c Loopback cset {JACK} off")
        lab.box.do("pull=up")
        lab.box.await_idle(20)


def need_output(lab, report, name, other, when):
    """One output sounds and the other does not, within the time that a visitor would wait for it."""

    def taken():
        now = mixer(lab)
        return now[f"{name} Playback Switch"] == "on,on" and now[f"{other} Playback Switch"] == "off,off"

    since = time.monotonic()
    if report.need(lab.box.until(taken, lab.limit(2)), f"{when} the {name.lower()} is not what sounds"):
        report.measure(f"{name.lower()}_{when.replace(' ', '_')}_s", time.monotonic() - since, 1)

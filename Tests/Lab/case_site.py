"""What a site can do to the appliance, none of which ends it: no network, no backend, a wrong clock."""

import time

from box import flicks
from case_life import begin_held_call, need_press_served
from lab import case


# What the LED flicks for which fault (HANDBOOK, the kiosk).
NO_NETWORK, UNREACHABLE, MICROPHONE_DENIED = "2-1", "2-5", "5-1"


def need_fault_shown(lab, report, code, seconds):
    """The LED flicks as it does for this fault, within a time."""
    shown = lab.box.until(lambda: flicks(lab.box.do("wait=13")), seconds)
    report.measure("flicks", shown)
    report.need(shown == code, f"the LED shows {f'fault {shown}' if shown else 'no fault'}, not fault {code}")


@case("backend-down", at_least="smoke")
def backend_down(lab, report):
    """The backend is away: a press is answered by a fault that is seen and named; it is back: a press is served."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "2 s"})
    process = lab.box.process_id
    lab.provider.stop()
    lab.box.mark()
    lab.box.do("pull=down", "wait=0.3", "pull=up")
    need_fault_shown(lab, report, UNREACHABLE, lab.limit(5))
    report.measure("status", lab.box.status)
    said = [line for line in lab.box.journal().splitlines() if "backend" in line.lower()]
    report.need(said or "backend" in lab.box.status.lower(), "neither journal nor STATUS names the backend")
    report.need(lab.box.process_id == process, "the appliance did not survive it")
    lab.provider.start()
    report.need(lab.box.await_idle(40), "the fault never ends")
    need_press_served(lab, report)
    report.need(lab.box.process_id == process, "the appliance did not survive the way back")


@case("network-cut", at_least="short")
def network_cut(lab, report):
    """The cable is cut for a while in a call, which goes on; then for longer, which ends it; then it is mended."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "20 s"})
    process = lab.box.process_id
    number = begin_held_call(lab, report)
    if not number:
        return
    lab.network.cut()
    time.sleep(3)
    lab.network.mend()
    time.sleep(2)
    trace = lab.box.do("led=0:6", "wait=0.3")
    report.need(trace.last("led").value == "0", "a call cut for three seconds does not show open again")
    report.need(lab.provider.voices == number, "it became another voice")
    lab.network.cut()
    cut = time.monotonic()

    def seen():
        trace = lab.box.do("wait=1.5")
        return sum(change.what == "led" for change in trace) >= 2 or trace[-1].value == "1"

    if report.need(lab.box.until(seen, 30), "a cut cable is never shown"):
        report.measure("cut_to_shown_s", time.monotonic() - cut, 1)
    report.measure("status_cut", lab.box.status)
    lab.box.do("pull=up")
    report.need(lab.box.until(lambda: lab.box.await_idle(3), 90), "the call that was cut off never ends")
    report.measure("cut_to_idle_s", time.monotonic() - cut, 1)
    lab.network.mend()
    need_press_served(lab, report)
    report.need(lab.box.process_id == process, "the appliance did not survive it")


@case("cable", at_least="all")
def cable(lab, report):
    """No carrier and so no address at the start: READY all the same, and a press is served once the cable is in."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "2 s"})
    lab.machine.qmp.execute("set_link", name="net", up=False)
    try:
        time.sleep(2)
        lab.box.stop()
        lab.box.start()
        report.need(lab.box.ask("ActiveState") == "active", "READY waits for the network")
        report.measure("status", lab.box.status)
        lab.box.do("pull=down", "wait=0.3", "pull=up")
        need_fault_shown(lab, report, NO_NETWORK, lab.limit(5))
    finally:
        lab.machine.qmp.execute("set_link", name="net", up=True)
    time.sleep(3)
    lab.box.await_idle(40)
    need_press_served(lab, report)


@case("clock", at_least="all")
def clock(lab, report):
    """A box without a battery wakes in 1970: it starts, calls, and minds no leap when the time comes."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "4 s"})
    lab.box.stop()
    lab.box.agent.run("date -s @3600")
    try:
        lab.box.start()
        report.measure("status", lab.box.status)
        number = begin_held_call(lab, report)
        lab.box.agent.run(f"date -s @{time.time():.0f}")
        trace = lab.box.do("wait=2")
        report.need(trace[-1].value == "0", "the leap of the clock is seen in the LED")
        lab.box.do("pull=up")
        if number:
            report.need(lab.provider.await_closed(number, 30), "the voice was never closed")
    finally:
        lab.box.agent.run(f"date -s @{time.time():.0f}")
    lab.box.await_idle(20)
    need_press_served(lab, report)

"""What a button can do to the appliance: stand pressed at boot, bounce, be hammered at."""

from case_life import need_press_served
from lab import case

PRESSES = 30


@case("presses", at_least="smoke")
def presses(lab, report):
    """Thirty presses in three seconds, with a bouncing contact: the same process, and afterwards a call as ever."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "2 s"})
    process, before = lab.box.process_id, lab.provider.voices
    bounce = ("pull=down", "wait=0.001", "pull=up", "wait=0.001", "pull=down", "wait=0.046")
    trace = lab.box.do(*(bounce + ("pull=up", "wait=0.05")) * PRESSES, seconds=60)
    report.measure("pressed_in_s", trace.last("pull").at - trace.first("pull"))
    report.measure("led_changes", sum(change.what == "led" for change in trace) - 1)
    report.need(lab.box.await_idle(60), "the LED never shows muted again")
    report.measure("voices", lab.provider.voices - before)
    report.need(lab.provider.voices - before <= PRESSES, "there were more voices than presses")
    report.need(lab.box.process_id == process, "the appliance did not survive it")
    need_press_served(lab, report)


@case("stuck-button", at_least="short")
def stuck_button(lab, report):
    """Pressed while the appliance starts, as a jammed button is: no call, READY all the same; a real press is served."""
    # With a bias of its own the appliance would pull the simulated line away from the contact.
    lab.box.configure(talk={"mode": "hold", "idle_end": "2 s"}, button={"bias": "as-is"})
    lab.box.stop()
    before = lab.provider.voices
    lab.box.do("pull=down")
    lab.box.start()
    report.need(lab.box.ask("ActiveState") == "active", "READY waits for the button")
    report.measure("status", lab.box.status)
    trace = lab.box.do("wait=3")
    report.need(lab.provider.voices == before, "a contact that was closed at boot began a voice")
    report.measure("led_changes", sum(change.what == "led" for change in trace) - 1)
    need_press_served(lab, report)
    lab.box.do("pull=up")

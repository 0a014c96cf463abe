"""How the appliance begins, dies and comes back: starts, kills, stops, threads that stand still, a kernel that hangs, idleness."""

import re
import subprocess
import time

from box import UNIT
from lab import case


def begin_held_call(lab, report):
    """Presses and holds until the provider is connected and the LED shows open; returns the voice's number, or None."""
    number = lab.provider.voices + 1
    lab.box.do("pull=down", "wait=0.5")
    if not report.need(lab.provider.await_voice(number, lab.limit(5)), f"no voice was begun; STATUS: {lab.box.status}"):
        return None
    if not report.need(lab.provider.await_state(number, "connected", lab.limit(5)), "not connected"):
        return None
    report.need(lab.box.do("led=0:5", "wait=0.1").last("led").value == "0", "the LED does not show open in a call")
    return number


def need_press_served(lab, report, name="press_to_voice_s"):
    """A press begins a voice that connects; then it is let go of and ends."""
    lab.box.do("pull=up", "wait=0.3")
    number = lab.provider.voices + 1
    pressed, offset = lab.box.do("pull=down", "wait=0.3").first("pull"), lab.box.agent.clock_offset()
    begun = lab.provider.await_voice(number, lab.limit(5))
    if report.need(begun, f"a press is not served; STATUS: {lab.box.status}"):
        report.measure(name, begun["at"] - pressed - offset)
        report.need(lab.provider.await_state(number, "connected", lab.limit(5)), "the call after it does not connect")
    lab.box.do("pull=up")
    lab.provider.await_closed(number, 20)
    lab.box.await_idle(20)


@case("start", at_least="smoke")
def start(lab, report):
    """From the unit's start to READY, beside a unit that does nothing."""
    lab.box.configure()
    taken = {}
    for unit in ("lab-null.service", "talkpost.service"):
        rounds = []
        for _ in range(3):
            lab.box.agent.run(f"systemctl stop {unit}; systemctl reset-failed {unit}; systemctl start {unit}", 60)
            times = lab.box.properties("InactiveExitTimestampMonotonic", "ActiveEnterTimestampMonotonic", unit=unit)
            begun, ready = (int(times[name]) / 1e6 for name in ("InactiveExitTimestampMonotonic", "ActiveEnterTimestampMonotonic"))
            rounds.append(ready - begun)
        taken[unit] = sorted(rounds)[1]
    lab.box.agent.run("systemctl stop lab-null.service")
    # What systemd itself says of how well the running unit is confined: 0 is best.
    verdict = lab.box.agent.run(f"systemd-analyze --no-pager security {UNIT} | tail -n 1", 60)
    exposed = re.search(r"level for .*: ([\d.]+)", verdict)
    report.need_at_most("security", float(exposed[1]) if exposed else None, 2.0)
    report.measure("null_unit_s", taken["lab-null.service"])
    report.need_at_most("start_to_ready_s", taken["talkpost.service"], lab.limit(1.0))
    report.measure("status", lab.box.status)


@case("kill", at_least="smoke")
def kill(lab, report):
    """kill -9 in a call: the LED shows muted at once, and the appliance serves again."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "4 s"})
    if not begin_held_call(lab, report):
        return
    times = [killed_to_ready(lab, report, "led=1:5", "wait=0.5", "pull=up")]
    report.need(lab.box.await_idle(20), "the LED does not show muted after the restart")
    need_press_served(lab, report)
    # Once more, from idle.
    times.append(killed_to_ready(lab, report, "wait=0.5"))
    report.measure("kills_to_ready_s", ", ".join("never" if time is None else f"{time:.1f}" for time in times))
    report.need_at_most("kill_to_ready_s", None if None in times else max(times), lab.limit(2.0))


def killed_to_ready(lab, report, *steps):
    """Kills the appliance; returns the seconds until READY, or None."""
    trace = lab.box.do(f"kill=9:{lab.box.process_id}", *steps)
    killed = trace.first("kill")
    if trace.first("pull"):
        lit = trace.first("led", "1", after=killed)
        report.need_at_most("kill_to_muted_s", lit - killed if lit else None, lab.limit(0.5))
    ready = lab.box.await_ready(killed, 60)
    return ready - killed if ready else None


@case("stopped", at_least="smoke")
def stopped(lab, report):
    """SIGSTOP: systemd's watchdog ends the process and the appliance serves again."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "4 s"})
    period = watchdog_seconds(lab, report)
    trace = lab.box.do(f"kill=19:{lab.box.process_id}")
    at = trace.first("kill")
    ready = lab.box.await_ready(at, period + 90)
    report.need_at_most("stop_to_serving_s", ready - at if ready else None, period + lab.limit(2.0))
    report.need(lab.box.await_idle(20), "the LED does not show muted after the restart")
    need_press_served(lab, report)


def watchdog_seconds(lab, report):
    period = lab.box.ask("WatchdogUSec")
    # systemd shows it as "10s" or "1min 5s", no watchdog as "infinity" or "0".
    seconds = 0.0
    for part in period.split():
        for unit, factor in (("ms", 0.001), ("min", 60), ("us", 1e-6), ("s", 1)):
            if part.endswith(unit) and part.removesuffix(unit).replace(".", "").isdigit():
                seconds += float(part.removesuffix(unit)) * factor
                break
    report.need(seconds > 0, f"the unit has no watchdog ({period})")
    return report.measure("watchdog_s", seconds)


@case("stuck-thread", at_least="short")
def stuck_thread(lab, report):
    """A thread that stands still in a call: named in the journal, then the watchdog restarts the appliance."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "4 s"})
    period = watchdog_seconds(lab, report)
    if not begin_held_call(lab, report):
        return
    process, names = lab.box.process_id, {name for name, _ in lab.box.switches().values()}
    thread = next((name for name in names if "network" in name), None)
    if not report.need(thread, f"no network thread among {', '.join(sorted(names))}"):
        return
    lab.box.mark()
    frozen = lab.box.agent.run(f"hands freeze {process} {thread} 90 >/run/lab/frozen 2>&1 & sleep 0.5; cat /run/lab/frozen")
    if not report.need("frozen" in frozen, frozen):
        return
    at = float(frozen.split()[0])
    ready = lab.box.await_ready(at, period + 90)
    report.need_at_most("stuck_to_serving_s", ready - at if ready else None, 2 * period + lab.limit(2.0))
    said = [line.partition("]: ")[2] for line in lab.box.journal().splitlines() if "network" in line and "stuck" in line.lower()]
    report.measure("named", said[0] if said else None)
    report.need(said, "the journal does not name the stuck part")
    need_press_served(lab, report)


@case("idle", at_least="short")
def idle(lab, report):
    """Nothing to do: what is used and how often anything wakes, per second."""
    lab.box.configure(talk={"mode": "hold", "idle_end": "4 s"})
    lab.box.await_idle(20)
    # How much dearer a wake-up is here than on the host's own processor: what is idle does little else.
    slowdown = report.measure("slowdown", float(lab.box.agent.run("hands wakes")) / native_wakes(lab), 1)
    before, cpu, since = lab.box.switches(), lab.box.cpu_seconds(), time.monotonic()
    time.sleep(30)
    after, used, seconds = lab.box.switches(), lab.box.cpu_seconds() - cpu, time.monotonic() - since
    share = report.measure("cpu_percent_emulated", 100 * used / seconds) / max(slowdown, 1)
    report.need_at_most("cpu_percent", share, 0.2)
    rates = {f"{name}/{thread}": (count - before.get(thread, (name, 0))[1]) / seconds for thread, (name, count) in after.items()}
    busiest = sorted(rates.items(), key=lambda rate: -rate[1])[:3]
    report.measure("busiest", ", ".join(f"{name} {rate:.1f}/s" for name, rate in busiest))
    report.need(all(rate <= 5 for _, rate in busiest), f"{busiest[0][0]} wakes {busiest[0][1]:.1f} times a second")


def native_wakes(lab):
    """The processor time of a thousand wake-ups on the host, in seconds."""
    return float(subprocess.run([lab.hands, "wakes"], capture_output=True, text=True, check=True).stdout)


# What the watchdog is set to and the second that its two stages may be off: no slower in emulation, since it has a clock of its own.
RESET_WITHIN = 15 + 1


@case("kernel-hang", at_least="all")
def kernel_hang(lab, report):
    """The kernel stands still: the hardware watchdog resets the machine, and the box serves again. Where the time goes stands apart."""
    watchdog = "/sys/class/watchdog/watchdog0"
    report.measure("watchdog", lab.box.agent.run(f"cat {watchdog}/state {watchdog}/timeout").replace("\n", ", "))
    since = time.monotonic()
    lab.box.agent.run("echo 0 >/proc/sys/kernel/panic; echo 1 >/proc/sys/kernel/sysrq; (sleep 0.5; echo c >/proc/sysrq-trigger) & true")
    report.need(lab.machine.await_again(300), "the machine did not come back")
    resets = lab.machine.qmp.events("WATCHDOG", since)
    reset = resets[0] if resets else None
    report.need_at_most("hang_to_reset_s", reset - since if reset else None, RESET_WITHIN)
    lab.box.forget()
    ready = lab.box.await_ready(0, 120)
    if report.need(ready, "the appliance is not READY after the reset") and reset:
        kernel = lab.box.agent.clock_offset()
        report.measure("reset_to_kernel_s", kernel - reset, 1)
        report.measure("kernel_to_ready_s", ready, 1)
        report.measure("hang_to_ready_s", kernel + ready - since, 1)
    report.measure("first_boot_s", lab.machine.boot_seconds, 1)
    need_press_served(lab, report)

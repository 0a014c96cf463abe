"""Plays the calls in rounds and reports; started by `./bench`, which has installed and built what this needs."""

import argparse
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import catalog
import chart
import speech
from calls import Bench, NotMeasured
from figures import COLUMNS, Measurements
from network import Network, NetworkError
from rates import Rates
from voice import Voice

ONCE = ("press", "channel", "binary", "allocations")


def say(text):
    print(text, file=sys.stderr, flush=True)


def play(bench, wanted, count, measured):
    """The rounds: one call of each at a time, so that whatever else the machine does meets all alike."""
    callers = [name for name in COLUMNS if name in wanted]
    for number in range(1, count + 1 if callers else 1):
        calls = {}
        measured.rounds.append(calls)
        for name in callers:
            calls[name] = bench.call(name)
            parts = [f"connected {1000 * calls[name]['connected_s']:.1f} ms"] if "connected_s" in calls[name] else []
            parts.append(f"processor {1000 * calls[name]['cpu_per_s']:.1f} ms/s")
            parts.append(f"memory {calls[name]['peak_pss_mib']:.1f} MiB")
            say(f"round {number}, {name}: {', '.join(parts)}")
    if "press" in wanted:
        measured.presses = bench.presses()
        say(f"presses: {' '.join(f'{1000 * seconds:.1f}' for seconds in measured.presses)} ms")


def stripped_bytes(binary, folder):
    copy = folder / "stripped"
    subprocess.run(["strip", "-o", copy, binary], check=True)
    return copy.stat().st_size


def is_without_allocation(binaries):
    gate = Path(__file__).parent / "allocation-gate"
    return subprocess.run([gate, binaries], stdout=sys.stderr).returncode == 0


def measure(options, measured):
    wanted = options.only or [*COLUMNS, *ONCE]
    folder = options.made / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for peer, callers in (("pion", COLUMNS[:-1]), ("wrtc", ["wrtc", "channel"]), ("gstreamer", ["gstreamer"])):
        if set(callers) & set(wanted):
            catalog.ALL[peer].install()
    with Network(0) as network:
        bench = Bench(network, folder, options.binaries, options.made / "floor", Voice(folder))
        try:
            play(bench, wanted, options.calls, measured)
        finally:
            bench.stop()
        if "channel" in wanted:
            rates = Rates(network, folder, options.binaries)
            for loss in (0, 5):
                measured.channel[loss] = rates.measure(loss)
                say(f"channel, {loss} % lost, 1 MiB there and back: {measured.channel[loss]} s")
    if "binary" in wanted:
        measured.binary_bytes = stripped_bytes(options.binaries / "talkpost", folder)
    if "allocations" in wanted:
        measured.is_without_allocation = is_without_allocation(options.binaries)


def main():
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("--calls", type=int, default=7, help="rounds")
    parser.add_argument("--json", type=Path, help="the figures are written to this file")
    parser.add_argument("--png", type=Path, help="the chart; beside the build unless told")
    parser.add_argument("--only", action="append", choices=[*COLUMNS, *ONCE], help="only this; may be given again")
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is not met")
    parser.add_argument("--binaries", type=Path, required=True)
    parser.add_argument("--made", type=Path, required=True)
    options = parser.parse_args()
    options.binaries, options.made = options.binaries.resolve(), options.made.resolve()

    def stop(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    measured = Measurements()
    try:
        measure(options, measured)
    except KeyboardInterrupt:
        return 130
    except (NotMeasured, NetworkError, catalog.NotInstalled, speech.SpeechError, OSError) as error:
        say(f"bench: {error}")
        return 1
    except subprocess.CalledProcessError as error:
        say(f"bench: {Path(error.cmd[0]).name} failed with {error.returncode}")
        return 1
    figures = measured.figures()
    if measured.rounds:
        print(f"\nMedians of {len(measured.rounds)} calls (least-most); libwebrtc's encoder cannot be set, it has its own.\n")
        print("\n".join(measured.table()))
        chart.save(measured, options.png or options.made / "bench.png")
        print(f"\nAs bars: {options.png or options.made / 'bench.png'}")
    print("\nFigures of talkpost\n" + "\n".join(figure.line() for figure in figures))
    if options.json:
        options.json.write_text(json.dumps(measured.json(), indent=2) + "\n")
    return 1 if options.check and not all(figure.is_met for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())

"""The measured calls as bars: medians, with lines from the least to the most."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from figures import COLUMNS  # noqa: E402

INK, PALE, GRID, PAPER = "#22303c", "#7b8a97", "#e4e9ed", "#ffffff"
COLOURS = {"talkpost": "#0f8b8d", "wrtc": "#e07a1f", "gstreamer": "#8e6fb5", "floor": "#c9d2d9"}
TITLES = {"wrtc": "libwebrtc", "gstreamer": "GStreamer", "floor": "floor (C)"}
PANELS = (
    ("connected_s", "Press to connected", "ms", 1000),
    ("first_sound_s", "Press to first sound", "ms", 1000),
    ("cpu_per_s", "Processor, a second of call", "ms", 1000),
    ("peak_pss_mib", "Memory (PSS), at most", "MiB", 1),
)
TARGETS = {  # the largest that is met, drawn across the panel
    "connected_s": lambda measured: _scaled(measured.median("wrtc", "connected_s"), 0.5),
    "first_sound_s": lambda measured: _scaled(measured.median("wrtc", "first_sound_s"), 0.6),
    "cpu_per_s": lambda measured: _least(
        _scaled(measured.median("floor", "cpu_per_s"), 1.3), _scaled(measured.median("gstreamer", "cpu_per_s"), 0.7)
    ),
    "peak_pss_mib": lambda measured: _least(
        _scaled(measured.median("floor", "peak_pss_mib"), 1, 6),
        _scaled(measured.median("gstreamer", "peak_pss_mib"), 0.8),
    ),
}


def _scaled(value, factor, more=0):
    return None if value is None else factor * value + more


def _least(*values):
    return min((value for value in values if value is not None), default=None)


def save(measured, path):
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 10, "text.color": INK})
    figure, panels = plt.subplots(1, len(PANELS), figsize=(15, 5.2))
    figure.patch.set_facecolor(PAPER)
    figure.subplots_adjust(left=0.03, right=0.985, top=0.76, bottom=0.1, wspace=0.18)
    for axes, (name, title, unit, scale) in zip(panels, PANELS):
        _draw(axes, measured, name, title, unit, scale)
    figure.text(0.03, 0.925, "One call, side by side", fontsize=18, fontweight="bold")
    rounds = len(measured.rounds)
    told = f"medians of {rounds} calls each, lines from least to most, same answerer  ·  dashed: what talkpost may need"
    figure.text(0.985, 0.93, told, fontsize=10, color=PALE, ha="right")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _top(highest):
    """Where a panel ends: above its highest bar, or, where that dwarfs the others, above the next and through it."""
    ordered = sorted(highest)
    if len(ordered) > 1 and ordered[-1] > 4 * ordered[-2]:
        return 1.5 * ordered[-2]
    return 1.16 * ordered[-1] if ordered else 1


def _draw(axes, measured, name, title, unit, scale):
    callers = [caller for caller in COLUMNS if measured.all(caller, name)]
    top = _top([scale * max(measured.all(caller, name)) for caller in callers])
    for place, caller in enumerate(callers):
        values = [scale * value for value in measured.all(caller, name)]
        middle = scale * measured.median(caller, name)
        axes.bar(place, middle, width=0.66, color=COLOURS[caller], zorder=2)
        figure = f"{middle:.1f}" if middle < 100 else f"{middle:.0f}"
        if max(values) > top:  # the bar is cut off
            axes.text(
                place, 0.94, f"{figure} ↑", transform=axes.get_xaxis_transform(), ha="center", va="center", color=PAPER,
                fontweight="bold", fontsize=11, zorder=5,
            )
            continue
        axes.plot([place, place], [min(values), max(values)], color=INK, linewidth=1.4, alpha=0.7, zorder=4)
        axes.annotate(
            figure, (place, max(values)), (0, 5), textcoords="offset points", ha="center", fontweight="bold", fontsize=11,
            zorder=5,
        )
    target = TARGETS[name](measured)
    if target is not None:
        axes.axhline(scale * target, color=INK, linewidth=1, linestyle=(0, (4, 3)), alpha=0.6, zorder=3)
    axes.set_xticks(range(len(callers)), [TITLES.get(caller, caller) for caller in callers], fontsize=9.5)
    axes.set_xlim(-0.6, max(len(callers), 2) - 0.4)
    axes.set_ylim(0, top)
    axes.set_title(f"{title}, {unit}", loc="left", fontsize=11.5, pad=10)
    axes.grid(axis="y", color=GRID, linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=PALE, labelcolor=INK)
    axes.tick_params(axis="y", labelcolor=PALE)
    for side in axes.spines.values():
        side.set_visible(False)

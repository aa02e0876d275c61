#!/usr/bin/python3
"""Draws what ./dev bench recorded: plot_bench.py RECORD FOLDER

Writes one SVG a benchmark program. A panel for each comparison: a bar for each contestant at its
median, a whisker from its lowest round to its highest, and its ratio to the first one. A panel for
each series: its lines over their axis, which is drawn in powers of two.
"""

import collections
import json
import pathlib
import statistics
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen first)

BASELINE, OURS = "#9aa5b1", "#2f6f9f"
BAR_HEIGHT_INCHES = 0.32
SERIES_HEIGHT_INCHES = 3.0


def draw_panel(axes, comparison):
    contestants = comparison["contestants"]
    medians = [statistics.median(c["figures"]) for c in contestants]
    below = [m - min(c["figures"]) for m, c in zip(medians, contestants)]
    above = [max(c["figures"]) - m for m, c in zip(medians, contestants)]
    rows = range(len(contestants))
    colours = [BASELINE] + [OURS] * (len(contestants) - 1)
    axes.barh(rows, medians, xerr=[below, above], color=colours, capsize=3, height=0.7)
    axes.set_yticks(rows, [c["name"] for c in contestants])
    axes.invert_yaxis()
    for row, (median, contestant) in enumerate(zip(medians, contestants)):
        axes.annotate(
            f"{median:.3g}  ({median / medians[0]:.2f}x)", (max(contestant["figures"]), row),
            xytext=(6, 0), textcoords="offset points", va="center", fontsize=8)
    axes.margins(x=0.15)
    axes.set_title(comparison["title"], fontsize=9, loc="left")
    axes.set_xlabel(comparison["unit"], fontsize=8)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def draw_series(axes, series):
    for line in series["lines"]:
        xs, ys = zip(*line["points"])
        axes.plot(xs, ys, marker="o", markersize=3, label=line["name"])
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(matplotlib.ticker.ScalarFormatter())
    axes.set_ylim(bottom=0)
    axes.set_title(series["title"], fontsize=9, loc="left")
    axes.set_xlabel(series["axis"], fontsize=8)
    axes.set_ylabel(series["unit"], fontsize=8)
    axes.tick_params(labelsize=8)
    axes.legend(fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def height_of(panel):
    if "lines" in panel:
        return SERIES_HEIGHT_INCHES
    return BAR_HEIGHT_INCHES * len(panel["contestants"]) + 0.9


def draw(program, panels_of_program, folder):
    heights = [height_of(panel) for panel in panels_of_program]
    figure, panels = plt.subplots(
        len(heights), 1, squeeze=False, figsize=(9, sum(heights)), layout="constrained",
        gridspec_kw={"height_ratios": heights})
    for axes, panel in zip(panels[:, 0], panels_of_program):
        (draw_series if "lines" in panel else draw_panel)(axes, panel)
    path = folder / f"{program}.svg"
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print(path)


def main(record, folder):
    by_program = collections.defaultdict(dict)
    with open(record, encoding="utf-8") as lines:
        for line in lines:
            panel = json.loads(line)
            # A later run of the same replaces the earlier.
            by_program[panel["program"]][panel["title"]] = panel
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # The same figures give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "jackdaw"
    for program, panels_of_program in by_program.items():
        draw(program, list(panels_of_program.values()), folder)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])

"""A calibration as text for the terminal, and as a Markdown page with plots."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from graphghha.errors import EngineError
from graphghha.plants.fcu.lbnl.calibrate import APART, YEAR_START, Calibration, Comparison, HourlyFit, shares
from graphghha.plants.fcu.signals import INDEX

PAGE = "testbed-calibration.md"
WEEKS = {"winter": datetime(2018, 1, 15), "summer": datetime(2018, 7, 9)}  # Mondays
OVERLAY = ("RM_TEMP", "FCU_DAT", "FCU_MAT")
WORST = 25


def as_text(result: Calibration) -> str:
    """Return the shares of every case and the summary, for the terminal."""
    lines = [f"{'case':42} {'mean':>6} {'std':>6} {'moved':>6} {'mean':>6} {'std':>6}"]
    for case, figures in by_case(result).items():
        lines.append(
            f"{case:42} {_percent(figures['share_mean_within'])} {_percent(figures['share_std_within'])} "
            f"{figures['moved_pairs']:6d} {_percent(figures['moved_mean_within'])} "
            f"{_percent(figures['moved_std_within'])}"
        )
    for name, value in result.summary().items():
        lines.append(f"{name}: {value}")
    return "\n".join(lines)


def by_case(result: Calibration) -> dict[str, dict[str, Any]]:
    """Return the shares of each case."""
    cases = dict.fromkeys(row.case for row in result.rows)
    return {case: shares(row for row in result.rows if row.case == case) for case in cases}


def worst(result: Calibration) -> list[Comparison]:
    """Return the pairs outside the limits, farthest first."""

    def distance(row: Comparison) -> float:
        return max(abs(row.deviation) / 0.25, abs(float(np.log(max(row.std_ratio, 1e-3)))) / 0.4)

    outside = [row for row in result.rows if not row.apart and not (row.mean_within and row.std_within)]
    return sorted(outside, key=distance, reverse=True)


def write_report(result: Calibration, folder: Path) -> Path:
    """Write the page and its plots into a folder; needs matplotlib."""
    folder.mkdir(parents=True, exist_ok=True)
    images = [_plot_shares(result, folder)]
    if result.hourly:
        images += [_plot_week(result.hourly, season, folder) for season in WEEKS]
    page = folder / PAGE
    page.write_text("\n".join(_markdown(result, images)) + "\n")
    return page


def _markdown(result: Calibration, images: list[str]) -> list[str]:
    summary = result.summary()
    lines = [
        "# Testbed calibration",
        "",
        "Written by `graphghha testbed calibrate --report`. Every case of the published tables is simulated for a year",
        "without noise on the reference unit. *Mean*: deviation of the annual mean at most 0.25 fault-free standard",
        "deviations; *std*: ratio of standard deviations in 0.67 to 1.5; *moved*: pairs of case and signal that the",
        "real fault moves beyond those limits.",
        "",
        "| set | pairs | mean within | std within | moved pairs | mean within | std within |",
        "|---|---|---|---|---|---|---|",
        _table_row(f"all but {APART}", summary),
    ]
    for case, figures in summary.get("apart", {}).items():
        lines.append(_table_row(f"{case}, apart: saturated in the original", figures))
    if "with_apart" in summary:
        lines.append(_table_row("all", summary["with_apart"]))
    if result.hourly:
        lines += ["", *_hourly_lines(result.hourly)]
    lines += ["", *(f"![{Path(image).stem}]({image})" for image in images)]
    lines += [
        "",
        "## Cases",
        "",
        "| case | pairs | mean within | std within | moved pairs | mean within | std within |",
    ]
    lines += ["|---|---|---|---|---|---|---|"]
    lines += [_table_row(case, figures) for case, figures in by_case(result).items()]
    lines += ["", f"## Pairs outside the limits (the {WORST} farthest)", ""]
    lines += ["| case | signal | deviation of mean | std ratio | moved |", "|---|---|---|---|---|"]
    lines += [
        f"| {row.case} | {row.signal} | {row.deviation:+.2f} | {row.std_ratio:.2f} | {'yes' if row.moved else 'no'} |"
        for row in worst(result)[:WORST]
    ]
    return lines


def _table_row(name: str, figures: dict[str, Any]) -> str:
    cells = [str(figures["pairs"]), _percent(figures["share_mean_within"]), _percent(figures["share_std_within"])]
    cells += [
        str(figures["moved_pairs"]),
        _percent(figures["moved_mean_within"]),
        _percent(figures["moved_std_within"]),
    ]
    return f"| {name} | " + " | ".join(cell.strip() for cell in cells) + " |"


def _hourly_lines(fit: HourlyFit) -> list[str]:
    figures = fit.as_dict()
    lines = ["| fault-free year, hourly means | RMSE operate hours | RMSE all hours |", "|---|---|---|"]
    for name in OVERLAY:
        operate, every = figures["rmse_operate_degF"][name], figures["rmse_all_degF"][name]
        lines.append(f"| {name} | {operate:.2f} F | {every:.2f} F |")
    for kind in ("heating", "cooling"):
        hours = figures[f"{kind}_hours"]
        lines += [
            "",
            f"{kind.capitalize()} hours in operate time: {hours['simulated']} here, {hours['published']} published.",
        ]
    return lines


def _percent(value: float | None) -> str:
    return "     -" if value is None else f"{100 * value:5.1f}%"


def _figure(width: float, height: float, rows: int) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as exc:
        raise EngineError("plots need matplotlib: pip install 'graphghha[bench]', or leave --report out") from exc
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, 1, sharex=True)


def _plot_week(fit: HourlyFit, season: str, folder: Path) -> str:
    first = int((WEEKS[season] - YEAR_START) / timedelta(hours=1))
    hours = slice(first, first + 7 * 24)
    figure, axes = _figure(8.0, 5.5, len(OVERLAY))
    for axis, name in zip(axes, OVERLAY, strict=True):
        published, simulated = ((side[hours, INDEX[name]] - 32.0) / 1.8 for side in (fit.published, fit.simulated))
        axis.plot(np.arange(published.size) / 24, published, color="0.6", linewidth=2.0, label="published")
        axis.plot(np.arange(simulated.size) / 24, simulated, color="C0", linewidth=1.0, label="simulated")
        axis.set_ylabel(f"{name}, degC")
    axes[0].legend(loc="upper right", ncols=2, fontsize="small")
    axes[-1].set_xlabel(f"days from {WEEKS[season]:%A %d %B}")
    return _save(figure, folder, f"testbed-{season}-week.png")


def _plot_shares(result: Calibration, folder: Path) -> str:
    cases = by_case(result)
    figure, axis = _figure(8.0, 6.5, 1)
    places = np.arange(len(cases))
    for shift, key, label in ((-0.2, "share_mean_within", "mean within"), (0.2, "share_std_within", "std within")):
        axis.barh(places + shift, [100 * figures[key] for figures in cases.values()], height=0.38, label=label)
    axis.set_yticks(places, [case.removeprefix("FCU_") for case in cases], fontsize="x-small")
    axis.invert_yaxis()
    axis.set_xlim(50, 100)
    axis.set_xlabel("share of the 29 signals, %")
    axis.legend(loc="lower left", fontsize="small")
    return _save(figure, folder, "testbed-shares.png")


def _save(figure: Any, folder: Path, name: str) -> str:
    figure.savefig(folder / name, dpi=90, metadata={"Software": None})  # no version inside: same input, same bytes
    return name

"""Pictures of results, drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._result import Result

# The colours of the page.
ACTIVITIES = {
    "compute": "#3fb58f",
    "send": "#8ccbf0",
    "recv": "#1f6fb2",
    "wait": "#d55e00",
    "file": "#f0e442",
    "collective": "#6a2c70",
}


def plot(result: Result, ax: Any = None) -> Any:
    """Draws the time of each rank by activity, and returns the axes."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ImportError("plot needs matplotlib: pip install matplotlib") from None
        _, ax = pyplot.subplots(layout="constrained")
    ranks = result.ranks
    below = [0.0] * len(ranks)
    for activity, colour in ACTIVITIES.items():
        seconds = ranks[activity]
        if any(seconds):
            ax.bar(ranks["rank"], seconds, bottom=below, width=1.0, color=colour, label=activity)
            below = [lower + upper for lower, upper in zip(below, seconds)]
    ax.set_xlabel("rank")
    ax.set_ylabel("seconds")
    ax.set_title(f"Predicted time: {result.simulated_time:.6g} s")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    return ax

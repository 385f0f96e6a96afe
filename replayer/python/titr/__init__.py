"""titr: predicts how long MPI programs take on other machines, by replaying traces of them.

>>> import titr
>>> result = titr.replay("torus.toml", "traces/", set={"network.bandwidth": "40 Gbit/s"})
>>> result.simulated_time
0.0176

Tables are Arrow tables: `pandas.DataFrame.from_arrow(result.ranks)`, `polars.DataFrame(result.ranks)` and
`pyarrow.table(result.ranks)` take them without a copy. docs/PYTHON.md is an introduction.
"""

from ._titr import Error, Events, Result, Table, Trace, __version__, calibrate, open, replay, sweep

__all__ = ["Error", "Events", "Result", "Table", "Trace", "__version__", "calibrate", "open", "replay", "sweep"]

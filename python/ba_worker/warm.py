"""Touches the code paths that first jobs need, so that no job pays for first use."""

import io
import os
import random

from ba_worker import pages


def once():
    """In the zygote, before any fork: pandas, a chart with Chinese text."""
    _tables()
    _chart()


def learn():
    """In the zygote, as the last thing before it serves: which pages a job with a table needs."""
    pages.learn(_rehearse)


def ahead():
    """In a child that waits for a job: gets those pages while nobody is in a hurry."""
    pages.fetch()


def _rehearse():
    from ba_worker import frames, usercode

    _tables()
    job = {"code": "x = 1\nprint(x)\nx", "limits": {"output_bytes": 1000}, "allow_list": True}
    read_end, write_end = os.pipe()
    frames.write_json(write_end, {"run": job})
    frames.write_json(write_end, {"result": usercode.run(frames.read_json(read_end)["run"], write_end)})


def reseed():
    """Children must not share random streams."""
    import numpy

    random.seed(os.urandom(32))
    numpy.random.seed(int.from_bytes(os.urandom(4), "little"))


def _tables():
    import pandas

    frame = pandas.DataFrame({"k": ["a", "b", "a"], "v": [1, 2, 3], "d": pandas.to_datetime(["2024-01-01"] * 3)})
    frame.groupby("k").agg({"v": ["sum", "mean"]})
    frame.to_csv(io.StringIO())
    pandas.read_csv(io.StringIO("a,b\n1,2\n"))
    repr(frame)


def _chart():
    from matplotlib import pyplot

    from ba_worker import charts

    figure, axes = pyplot.subplots()
    axes.plot([1, 2], [3, 4], label="销售额")
    axes.bar(["一月", "二月"], [1, 2])
    axes.set_title("趋势 trend")
    axes.legend()
    figure.savefig(io.BytesIO(), format="png", dpi=110, bbox_inches="tight")
    charts.save_figure(figure, "/scratch/warm.png")
    os.unlink("/scratch/warm.png")
    pyplot.close("all")

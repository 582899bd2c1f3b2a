"""Charts without ceremony: Chinese text is readable, open figures are saved, plotly figures become files."""

import functools
import importlib.util
import os
import struct
import sys
import zlib

CJK = "Noto Sans CJK SC"
_saved = "_ba_saved"
_DPI = 110


def install_fonts():
    """Puts one CJK font behind every font choice, so that no chart loses its Chinese characters."""
    from matplotlib import font_manager, rcParams

    package = importlib.util.find_spec("mplfonts").submodule_search_locations[0]
    font_manager.fontManager.addfont(os.path.join(package, "fonts", "NotoSansCJKsc-Regular.otf"))
    rcParams["axes.unicode_minus"] = False
    rcParams["figure.max_open_warning"] = 0
    original = font_manager.FontManager._find_fonts_by_props
    generic = [f"font.{name}" for name in ("family", "serif", "sans-serif", "cursive", "fantasy", "monospace")]
    found = {}

    @functools.wraps(original)
    def with_cjk(self, prop, *args, **kwargs):
        prop = font_manager.FontProperties._from_any(prop)
        key = (prop, args, tuple(kwargs.items()), *(tuple(rcParams[name]) for name in generic))
        if key not in found:
            if len(found) > 500:
                found.clear()
            wider = prop.copy()
            families = [name for name in prop.get_family() if known(name)]
            wider.set_family([*families, CJK] if families else ["sans-serif", CJK])
            # The key must not change under us: a caller may alter its own object later.
            found[(prop.copy(), *key[1:])] = original(self, wider, *args, **kwargs)
        return found[key]

    @functools.lru_cache(maxsize=256)
    def known(name):
        name = name.lower()
        return name in font_manager.font_family_aliases or any(
            entry.name.lower() == name for entry in font_manager.fontManager.ttflist
        )

    font_manager.FontManager._find_fonts_by_props = with_cjk


def install_hooks():
    from matplotlib.figure import Figure
    import plotly.basedatatypes
    import plotly.io

    original = Figure.savefig

    @functools.wraps(original)
    def savefig(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        setattr(self, _saved, True)
        return result

    Figure.savefig = savefig

    def show(figure, *_args, **_kwargs):
        print("saved " + ", ".join(save_plotly(figure)))

    plotly.basedatatypes.BaseFigure.show = show
    plotly.io.show = show


def free_name(stem, extension):
    number = 1
    while os.path.lexists(f"{stem}_{number}.{extension}"):
        number += 1
    return f"{stem}_{number}"


def save_open_figures():
    """Saves every open figure that the code did not save itself, then closes them all."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        if not getattr(figure, _saved, False) and figure.axes:
            save_figure(figure, free_name("figure", "png") + ".png")
    pyplot.close("all")


def save_figure(figure, name):
    """One drawing when everything fits into the figure; `tight` draws again when a label sticks out."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_dpi(_DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    if not fits(figure, canvas.get_renderer()):
        figure.savefig(name, dpi=_DPI, bbox_inches="tight")
        return
    with open(name, "wb") as file:
        file.write(png(canvas.buffer_rgba()))


def png(rgba):
    """A PNG of these pixels. Charts are flat: without the filters that Pillow tries on every row it is smaller and twice as fast."""
    import numpy

    pixels = numpy.asarray(rgba)
    opaque = bool((pixels[:, :, 3] == 255).all())
    height, width, depth = *pixels.shape[:2], 3 if opaque else 4
    rows = numpy.zeros((height, 1 + depth * width), dtype=numpy.uint8)
    rows[:, 1:] = pixels[:, :, :depth].reshape(height, depth * width)
    per_metre = round(_DPI / 0.0254)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2 if opaque else 6, 0, 0, 0)),
        (b"pHYs", struct.pack(">IIB", per_metre, per_metre, 1)),
        (b"IDAT", zlib.compress(rows.data, 3)),
        (b"IEND", b""),
    )
    framed = (struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def fits(figure, renderer):
    """Whether every drawn text lies inside the figure."""
    room = figure.bbox.padded(1)
    if figure.subfigs or any(axes.name != "rectilinear" for axes in figure.axes):
        return False
    texts = [*figure.texts, *figure.legends]
    for axes in figure.axes:
        texts += [axes.title, axes._left_title, axes._right_title, axes.xaxis.label, axes.yaxis.label]
        texts += [*axes.texts, *axes.tables, axes.get_legend()]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            texts.append(axis.offsetText)
            for tick in axis.majorTicks:
                if low <= tick.get_loc() <= high:
                    texts += [tick.label1, tick.label2]
    for text in texts:
        if text is None or not text.get_visible() or not getattr(text, "get_text", lambda: "?")():
            continue
        box = text.get_window_extent(renderer)
        if box.x0 < room.x0 or box.y0 < room.y0 or box.x1 > room.x1 or box.y1 > room.y1:
            return False
    return True


def is_plotly(value):
    module = sys.modules.get("plotly.basedatatypes")
    return module is not None and isinstance(value, module.BaseFigure)


def is_matplotlib(value):
    from matplotlib.artist import Artist
    from matplotlib.container import Container

    if isinstance(value, (Artist, Container)):
        return True
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, (Artist, Container)) for v in value)


def save_plotly(figure):
    stem = free_name("plotly", "html")
    figure.write_html(stem + ".html", include_plotlyjs=True, full_html=True)
    with open(stem + ".json", "w", encoding="utf-8") as file:
        file.write(figure.to_json())
    return [stem + ".html", stem + ".json"]

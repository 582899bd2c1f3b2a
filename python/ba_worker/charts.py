"""Charts without ceremony: Chinese text is readable, open figures are saved, plotly figures become files."""

import functools
import importlib.util
import os
import sys

CJK = "Noto Sans CJK SC"
_saved = "_ba_saved"


def install_fonts():
    """Puts one CJK font behind every font choice, so that no chart loses its Chinese characters."""
    from matplotlib import font_manager, rcParams

    package = importlib.util.find_spec("mplfonts").submodule_search_locations[0]
    font_manager.fontManager.addfont(os.path.join(package, "fonts", "NotoSansCJKsc-Regular.otf"))
    rcParams["axes.unicode_minus"] = False
    rcParams["figure.max_open_warning"] = 0
    original = font_manager.FontManager._find_fonts_by_props

    @functools.wraps(original)
    def with_cjk(self, prop, *args, **kwargs):
        prop = font_manager.FontProperties._from_any(prop).copy()
        families = [name for name in prop.get_family() if known(self, name)]
        # Plain strings only: a generic name such as sans-serif stays generic.
        prop.set_family([*families, CJK] if families else ["sans-serif", CJK])
        return original(self, prop, *args, **kwargs)

    @functools.lru_cache(maxsize=256)
    def known_name(name):
        return any(entry.name.lower() == name for entry in font_manager.fontManager.ttflist)

    def known(_manager, name):
        return name.lower() in font_manager.font_family_aliases or known_name(name.lower())

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
            figure.savefig(free_name("figure", "png") + ".png", dpi=110, bbox_inches=tight_box(figure))
    pyplot.close("all")


def tight_box(figure):
    """What `bbox_inches="tight"` finds, without drawing the whole figure once more."""
    box = figure.get_tightbbox(figure.canvas.get_renderer())
    sane = box is not None and 0 < box.width < 200 and 0 < box.height < 200
    return box.padded(0.1) if sane else None


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

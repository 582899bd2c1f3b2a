"""Charts of an answer: read from references and from scripts, drawn as SVG by ECharts itself in QuickJS, without a browser.

A script of a model runs only in that engine, inside the sandbox, with a time and a memory limit.
"""

import json
import os
import re

from . import marks, series, words

WIDTH, HEIGHT = 800, 400
SECONDS, MEMORY = 4, 384 << 20
MAX_SVG = 6 << 20
_BEFORE = "globalThis.setTimeout=()=>0;globalThis.clearTimeout=()=>{};globalThis.setInterval=()=>0;globalThis.clearInterval=()=>{};" \
    "globalThis.console=new Proxy({},{get:()=>()=>{}});"


class Failed(Exception):
    pass


class Engine:
    """ECharts, loaded when the first chart needs it."""

    def __init__(self, path):
        self.path, self.context = path, None

    def call(self, name, *args):
        if self.context is None:
            self._load()
        try:
            answer = json.loads(self.context.eval(f"call({json.dumps(name)}, {', '.join(json.dumps(a) for a in args)})"))
        except Exception as error:  # The engine's own: out of time, memory or stack.
            self.context = None
            raise Failed(str(error).splitlines()[0][:300]) from error
        if isinstance(answer, dict) and set(answer) == {"failure"}:
            raise Failed(str(answer["failure"])[:300])
        return answer

    def _load(self):
        if not self.path or not os.path.exists(self.path):
            raise Failed("ECharts is not part of this build")
        import quickjs

        context = quickjs.Context()
        context.set_memory_limit(MEMORY)
        context.set_max_stack_size(4 << 20)
        context.eval(_BEFORE)
        with open(self.path, encoding="utf-8") as file:
            context.eval(file.read())
        with open(os.path.join(os.path.dirname(__file__), "engine.js"), encoding="utf-8") as file:
            context.eval(file.read())
        context.set_time_limit(SECONDS)
        self.context = context


class Charts:
    """All charts of one answer. `number` counts over the whole document."""

    def __init__(self, engine, metadata, language, counter):
        self.engine, self.language, self.counter = engine, language, counter
        self.listed = {chart.get("index"): chart for chart in metadata.get("charts") or [] if isinstance(chart, dict)}
        self.all = []

    def _block(self, title, option, source=None, recorded=None, size=(WIDTH, HEIGHT), error=None):
        self.counter[0] += 1
        block = {"k": "chart", "n": self.counter[0], "title": title, "option": option, "source": source, "w": size[0], "h": size[1], "error": error,
                 "data": series.read(option) if option else None, "_recorded": recorded}
        self.all.append(block)
        return block

    def by_reference(self, number):
        chart = self.listed.get(number)
        option = chart.get("option") if chart else None
        if not isinstance(option, dict):
            return {"k": "note", "text": words.say(self.language, "chart_missing", n=number)}
        return self._block(str(chart.get("title") or series.title_of(option)), option, chart.get("tool_call_id"))

    def from_scripts(self, scripts, html):
        """What the scripts of one region of HTML draw: {box id: block}."""
        code = "\n;\n".join(scripts)
        if "echarts" not in code and "setOption" not in code:
            return {}
        found = {}
        try:
            report = self.engine.call("record", code)
        except Failed as error:
            return {"": self._broken(str(error))}
        for offset, box in enumerate(report["boxes"]):
            index = report["first"] + offset
            option = self.engine.call("option", index)
            if not option:
                found[box or f"\0{index}"] = self._broken(report["failure"] or words.say(self.language, "chart_empty"))
                continue
            found[box or f"\0{index}"] = self._block(series.title_of(option), option, None, index, _size(html, box))
        if not report["boxes"] and report["failure"]:
            found[""] = self._broken(report["failure"])
        return found

    def _broken(self, reason):
        return self._block("", None, error=marks.clean(reason))

    def svg(self, block):
        """The picture as SVG text, or None with `block["error"]` set."""
        if "_svg" in block:
            return block["_svg"]
        block["_svg"] = None
        if block["option"] is None:
            return None
        try:
            recorded = block["_recorded"]
            if recorded is not None:
                drawn = self.engine.call("drawRecorded", recorded, block["w"], block["h"])
            else:
                drawn = self.engine.call("drawOption", json.dumps(block["option"]), block["w"], block["h"])
            if len(drawn[0]) > MAX_SVG:
                raise Failed(words.say(self.language, "chart_large"))
            block["_svg"] = _tidy(drawn[0])
        except Failed as error:
            block["error"] = str(error)
        return block["_svg"]


def _tidy(svg):
    """Without rules for pointing, and without text that is not text."""
    svg = re.sub(r"<style[\s\S]*?</style>", "", svg)
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]", "", svg)


def with_font(svg, family):
    svg = re.sub(r'font-family="[^"]*"', f'font-family="{family}"', svg)
    return re.sub(r"font-family:[^;\"']*(?:'[^']*'[^;\"']*)*", f"font-family:{family}", svg)


def _size(html, box):
    """The height that the report gave the chart's box, within reason."""
    tag = re.search(rf"""<[a-z]+[^>]*\bid\s*=\s*["']?{re.escape(box)}["'\s>][^>]*""", html, re.I) if box else None
    height = re.search(r"height\s*:\s*(\d{2,4})px", tag[0]) if tag else None
    return WIDTH, min(max(int(height[1]), 240), 900) if height else HEIGHT

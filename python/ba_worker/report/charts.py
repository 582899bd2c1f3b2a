"""Charts of an answer: read from references and from scripts, drawn as SVG by ECharts itself in QuickJS, without a browser.

A script of a model runs only in that engine, inside the sandbox, with a time and a memory limit.
"""

import json
import os
import re

from . import marks, series, words

WIDTH, HEIGHT = 800, 400
SECONDS, MEMORY = 2, 384 << 20
# A document waits for this many scripts to be ended, not for more.
MAX_ENDED, MAX_SCRIPTS = 5, 100
MAX_SVG = 6 << 20
_BEFORE = "globalThis.setTimeout=()=>0;globalThis.clearTimeout=()=>{};globalThis.setInterval=()=>0;globalThis.clearInterval=()=>{};" \
    "globalThis.console=new Proxy({},{get:()=>()=>{}});"


class Failed(Exception):
    pass


class Engine:
    """ECharts, loaded when the first chart needs it."""

    def __init__(self, path):
        self.path, self.context = path, None
        # Counts the contexts: what was recorded in one is gone with it.
        self.generation, self.ended = 0, 0

    def call(self, name, *args):
        if self.ended >= MAX_ENDED:
            raise Failed("too many scripts of this report had to be ended")
        if self.context is None:
            self._load()
        try:
            answer = json.loads(self.context.eval(f"call({json.dumps(name)}, {', '.join(json.dumps(a) for a in args)})"))
        except Exception as error:  # The engine's own: out of time, memory or stack.
            self.context = None
            self.ended += 1
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
        self.generation += 1


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
        if not any("echarts" in code or "setOption" in code for code in scripts):
            return {}
        code = "\n;\n".join(scripts)
        try:
            report = self.engine.call("record", code)
            failure = report["failure"]
        except Failed as error:
            report, failure = None, str(error)
        if failure and len(scripts) > 1:
            return self._one_by_one(scripts, html)
        found = self._blocks(report, code, html) if report else {}
        return found or ({"": self._broken(failure)} if failure else {})

    def _one_by_one(self, scripts, html):
        """A script that fails costs its own charts; its neighbours run again after those before them that went well."""
        found, good = {}, []
        for number, script in enumerate(scripts[:MAX_SCRIPTS]):
            code, reason = "\n;\n".join([*good, script]), ""
            try:
                report = self.engine.call("record", code)
                reason = report["failure"]
                new = [box for box in report["boxes"] if box not in found]
                found.update(self._blocks(report, code, html, skip=found))
            except Failed as error:
                reason, new = str(error), []
            if not reason:
                good.append(script)
            elif not new:
                found[f"\0failed{number}"] = self._broken(reason)
        return found

    def _blocks(self, report, code, html, skip=()):
        found = {}
        for offset, box in enumerate(report["boxes"]):
            index, key = report["first"] + offset, box or f"\0{offset}"
            if key in skip:
                continue
            option = self.engine.call("option", index)
            if option:
                found[key] = self._block(series.title_of(option), option, None, (code, offset), _size(html, box))
                found[key]["_index"] = (self.engine.generation, index)
            else:
                found[key] = self._broken(report["failure"] or words.say(self.language, "chart_empty"))
        return found

    def _recorded(self, block):
        """Where the engine holds the chart; a context that was lost runs the scripts again."""
        generation, index = block["_index"]
        if self.engine.context is None or generation != self.engine.generation:
            code, offset = block["_recorded"]
            index = self.engine.call("record", code)["first"] + offset
            block["_index"] = (self.engine.generation, index)
        return index

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
            if block["_recorded"] is not None:
                drawn = self.engine.call("drawRecorded", self._recorded(block), block["w"], block["h"])
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

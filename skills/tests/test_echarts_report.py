"""Chart options are valid JSON with the right figures; the report check finds what was made up."""

import json
import math
import re
import unittest

import numpy as np
import pandas as pd
from support import script

echarts = script("echarts-design", "echarts")
report_check = script("executive-report", "report_check")


class Charts(unittest.TestCase):
    def options(self):
        x = pd.period_range("2024-01", periods=3, freq="M")
        return {
            "line": echarts.line("收入上升", x, {"收入": np.array([1.0, np.nan, 3.0])}, "万元"),
            "bar": echarts.bar("华东最高", ["东", "西"], {"收入": pd.Series([3, 1])}, horizontal=True),
            "pareto": echarts.pareto("两项占八成", list("abc"), [10, 60, 30]),
            "waterfall": echarts.waterfall("价格拉动", 100, {"量": 30, "价": -10}),
            "heatmap": echarts.heatmap("留存", [0, 1], ["一月", "二月"], [[1.0, 0.5], [1.0, np.nan]]),
            "funnel": echarts.funnel("支付流失最多", ["看", "买"], [10, 4]),
            "band": echarts.forecast_band("预计增长", ["1月", "2月"], [1, 2], ["3月"], [2.5], [2.0], [3.0]),
        }

    def test_words_follow_the_language_of_the_title(self):
        english = [
            echarts.pareto("Two items make 80%", list("abc"), [10, 60, 30]),
            echarts.waterfall("Price drives revenue", 100, {"Volume": 30}),
            echarts.forecast_band("Growth expected", ["Jan"], [1], ["Feb"], [2.5], [2.0], [3.0]),
        ]
        for option in english:
            option["series"] = [s for s in option["series"] if s.get("name") != "底"]
            self.assertNotRegex(json.dumps(option, ensure_ascii=False), "[\u4e00-\u9fff]")
        self.assertIn("累计占比", json.dumps(echarts.pareto("两项占八成", list("abc"), [10, 60, 30]), ensure_ascii=False))

    def test_every_chart_is_strict_json_and_passes_its_own_check(self):
        for name, option in self.options().items():
            json.dumps(option, allow_nan=False)
            self.assertEqual(echarts.check(option), [], name)

    def test_missing_values_are_gaps_not_zeros(self):
        options = self.options()
        self.assertEqual(options["line"]["series"][0]["data"], [1.0, None, 3.0])
        self.assertEqual(len(options["heatmap"]["series"][0]["data"]), 3)

    def test_figures_by_hand(self):
        options = self.options()
        self.assertEqual(options["pareto"]["xAxis"]["data"], ["b", "c", "a"])
        self.assertEqual(options["pareto"]["series"][1]["data"], [60.0, 90.0, 100.0])
        hidden, shown = options["waterfall"]["series"]
        self.assertEqual(hidden["data"], [0, 100, 120, 0])
        self.assertEqual([s["value"] for s in shown["data"]], [100, 30, 10, 120])
        self.assertEqual(options["band"]["series"][1]["data"], [None, 2, 2.5])
        self.assertEqual(options["band"]["series"][3]["data"], [None, None, 1.0])

    def test_bad_charts_are_told(self):
        bar = echarts.bar("x", ["a"], {"v": [1]})
        bar["yAxis"]["min"] = 50
        self.assertTrue(any("从 0" in p for p in echarts.check(bar)))
        pie = {"title": {"text": "t"}, "series": [{"type": "pie", "data": [{"value": 1}] * 9}]}
        self.assertTrue(any("饼图" in p for p in echarts.check(pie)))
        self.assertIn("没有数据", echarts.check({"series": []}))
        short = echarts.line("t", ["a", "b"], {"v": [1]})
        self.assertTrue(any("1 个点" in p for p in echarts.check(short)))

    def test_data_cannot_leave_the_script(self):
        text = echarts.html(echarts.bar("</script><b>", ["a"], {"v": [1]}), "chart-7")
        self.assertEqual(text.count("</script>"), 1)
        inside = re.search(r"setOption\((.*)\);</script>", text, re.DOTALL).group(1)
        self.assertEqual(json.loads(inside)["title"]["text"], "</script><b>")
        with self.assertRaises(ValueError):
            echarts.html({}, "x\"><img")


class Reports(unittest.TestCase):
    FACTS = {"revenue": 123456789.0, "growth": 0.1523, "drop": -0.031, "table": pd.DataFrame({"v": [42, 3.5]})}

    def test_numbers_are_read_with_their_units(self):
        values = [n["值"] for n in report_check.numbers("收入 1.23亿，增长 15.2%，共 4,200 单，第 3 名，2024年5月，`x = 9`，净利 -3.5万")]
        for value, expected in zip(values, [1.23e8, 0.152, 4200, -35000], strict=True):
            self.assertTrue(math.isclose(value, expected), (value, expected))

    def test_traced_numbers_pass_and_invented_ones_do_not(self):
        good = "收入 1.23亿，同比增长 15.2%，转化率下降 3.1%，共 42 单。"
        self.assertEqual(report_check.untraced(good, self.FACTS), [])
        bad = "收入 1.32亿，同比增长 15.3%，共 42 单，均值 3.5。"
        self.assertEqual(report_check.untraced(bad, self.FACTS), ["1.32亿", "15.3%"])

    def test_a_good_report_passes(self):
        good = "# 结论\n收入 1.23亿，同比增长 15.2%。\n\n建议：继续。\n\n口径：含税，数据截至 2024年5月。"
        self.assertEqual(report_check.check(good, self.FACTS), [])

    def test_a_vague_report_is_told_why(self):
        problems = " ".join(p for _, p in report_check.check("业绩明显增长，表现较好。"))
        for part in ["没有数字", "与什么相比", "“明显”", "建议", "口径"]:
            self.assertIn(part, problems)


if __name__ == "__main__":
    unittest.main()

"""Decompositions that add up exactly, checked by hand and on Simpson's kidney stones."""

import math
import unittest

import numpy as np
import pandas as pd
from support import script

attribution = script("change-attribution", "attribution")


class Attribution(unittest.TestCase):
    def test_contribution_by_hand(self):
        frame = pd.DataFrame({"r": ["东", "西", "南"], "a": [100, 200, 0], "b": [150, 180, 30]})
        table = attribution.contribution(frame, "r", "a", "b").set_index("r")
        self.assertEqual(table.loc["东", "变化"], 50)
        self.assertAlmostEqual(table["贡献率"].sum(), 1)
        self.assertAlmostEqual(table.loc["东", "贡献率"], 50 / 60)
        self.assertAlmostEqual(table["拉动(百分点)"].sum(), 20)
        self.assertTrue(math.isnan(table.loc["南", "增长率"]))

    def test_simpsons_paradox_is_mix(self):
        # Kidney stones (Charig et al. 1986): A is better in both groups, B is better overall.
        stones = pd.DataFrame({"size": ["小", "大"], "sA": [81, 192], "nA": [87, 263], "sB": [234, 55], "nB": [270, 80]})
        table, total = attribution.rate_mix(stones, "size", "sA", "nA", "sB", "nB")
        self.assertAlmostEqual(total["前"], 273 / 350)
        self.assertAlmostEqual(total["后"], 289 / 350)
        self.assertAlmostEqual(total["费率效应"] + total["结构效应"], total["变化"])
        self.assertTrue((table["费率效应"] < 0).all())
        self.assertGreater(total["结构效应"], 0)
        self.assertGreater(total["变化"], 0)

    def test_rate_and_mix_with_new_and_ended_groups(self):
        frame = pd.DataFrame({"g": list("abc"), "n0": [10, 20, 0], "d0": [100, 100, 0], "n1": [12, 0, 9], "d1": [100, 0, 30]})
        table, total = attribution.rate_mix(frame, "g", "n0", "d0", "n1", "d1")
        self.assertAlmostEqual(table["合计"].sum(), 21 / 130 - 30 / 200)
        self.assertEqual(table.set_index("g").loc["c", "费率效应"], 0)

    def test_price_volume_mix_by_hand(self):
        frame = pd.DataFrame({"p": ["A", "B", "新", "旧"], "q0": [100, 100, 0, 10], "p0": [10, 20, 0, 5], "q1": [150, 90, 5, 0], "p1": [11, 20, 30, 0]})
        table, total = attribution.price_volume_mix(frame, "p", "q0", "p0", "q1", "p1")
        # 200 -> 240 units of kept products: volume +20 % of 3,000.
        self.assertAlmostEqual(total["数量"], 600)
        self.assertAlmostEqual(total["结构"], (150 - 120) * 10 + (90 - 120) * 20)
        self.assertAlmostEqual(total["价格"], 150)
        self.assertEqual((total["新品"], total["停售"]), (150, -50))
        effects = sum(total[e] for e in ["数量", "结构", "价格", "新品", "停售"])
        self.assertAlmostEqual(effects, total["收入后"] - total["收入前"])

    def test_multiplicative_adds_up_in_any_order(self):
        before, after = {"流量": 1000, "转化率": 0.05, "客单价": 200}, {"流量": 1200, "转化率": 0.04, "客单价": 220}
        table, total = attribution.multiplicative(before, after)
        self.assertAlmostEqual(table["贡献"].sum(), 1200 * 0.04 * 220 - 10000)
        backwards, _ = attribution.multiplicative(dict(reversed(before.items())), dict(reversed(after.items())))
        self.assertAlmostEqual(table.set_index("因子")["贡献"]["流量"], backwards.set_index("因子")["贡献"]["流量"])
        weight = total["变化"] / math.log(total["后"] / total["前"])
        self.assertAlmostEqual(table["贡献"][0], weight * math.log(1.2))
        same, _ = attribution.multiplicative({"a": 2, "b": 3}, {"a": 3, "b": 2})
        self.assertAlmostEqual(same["贡献"].sum(), 0)
        with self.assertRaises(ValueError):
            attribution.multiplicative({"a": 0}, {"a": 1})

    def test_random_decompositions_always_add_up(self):
        rng = np.random.default_rng(5)
        for _ in range(50):
            frame = pd.DataFrame(rng.integers(0, 50, size=(6, 4)), columns=["q0", "p0", "q1", "p1"]).astype(float)
            frame.insert(0, "p", list("abcdef"))
            _, total = attribution.price_volume_mix(frame, "p", "q0", "p0", "q1", "p1")
            effects = sum(total[e] for e in ["数量", "结构", "价格", "新品", "停售"])
            self.assertAlmostEqual(effects, total["收入后"] - total["收入前"])


if __name__ == "__main__":
    unittest.main()

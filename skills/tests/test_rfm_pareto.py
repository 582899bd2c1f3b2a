"""RFM by hand, customer value from the textbook, concentration from known figures."""

import math
import unittest

import numpy as np
import pandas as pd
from support import script

rfm = script("rfm-customer-value", "rfm")
pareto = script("pareto-abc", "pareto")


class Rfm(unittest.TestCase):
    def setUp(self):
        rows = []
        for n in range(20):
            # Customer n bought n+1 times, last on day n+1, each time 10*(n+1).
            rows += [(f"c{n:02}", f"2024-01-{n + 1:02}", 10.0 * (n + 1))] * (n + 1)
        rows += [("c19", "2024-01-20", -100.0), ("refund", "2024-01-05", -50.0), ("zero", "2024-01-05", 30.0), ("zero", "2024-01-06", -30.0)]
        self.frame = pd.DataFrame(rows, columns=["c", "d", "a"])
        self.result = rfm.rfm(self.frame, "c", "d", "a", as_of="2024-02-01")

    def test_values_by_hand(self):
        top = self.result.loc["c19"]
        self.assertEqual((top["R"], top["F"], top["M"]), (12, 20, 20 * 200 - 100))
        self.assertEqual((top["R分"], top["F分"], top["M分"], top["分层"]), (5, 5, 5, "重要价值客户"))
        self.assertEqual(self.result.loc["c00", "分层"], "流失客户")

    def test_customers_without_net_purchases_are_kept_apart(self):
        self.assertEqual(self.result.loc["refund", "分层"], "净退款客户")
        self.assertEqual(self.result.loc["zero", "分层"], "净退款客户")

    def test_scores_are_fifths_and_equal_values_are_equal(self):
        scores = self.result["R分"].dropna().value_counts()
        self.assertEqual(list(scores.sort_index()), [4, 4, 4, 4, 4])
        self.assertEqual(len(set(rfm.score(pd.Series([1] * 90 + [2] * 10))[:90])), 1)

    def test_every_pair_of_scores_has_a_segment(self):
        names = {rfm.segment(r, fm / 2) for r in range(1, 6) for fm in range(2, 11)}
        self.assertEqual(len(names), 7)
        self.assertEqual(rfm.segment(1, 5), "重要挽留客户")
        self.assertEqual(rfm.segment(5, 1), "新客户")

    def test_summary_adds_up(self):
        table = rfm.summary(self.result)
        self.assertEqual(table["人数"].sum(), 22)
        self.assertAlmostEqual(table["净额"].sum(), self.frame["a"].sum())
        self.assertAlmostEqual(table["净额占比"].sum(), 1)

    def test_clv_multiple_textbook(self):
        # Gupta & Lehmann: retention 80 %, discount 10 % -> margin multiple 2.67.
        self.assertAlmostEqual(rfm.simple_clv(1, 0.8, 0.10), 2.6667, places=4)
        series = sum(100 * 0.8**t / 1.1**t for t in range(1, 400))
        self.assertAlmostEqual(rfm.simple_clv(100, 0.8, 0.10), series, places=6)
        with self.assertRaises(ValueError):
            rfm.simple_clv(1, 1.0, 0.1)


class Pareto(unittest.TestCase):
    def test_classes_by_hand(self):
        frame = pd.DataFrame({"i": list("abcdefg"), "v": [50, 30, 10, 5, 3, 2, -4]})
        table = pareto.abc(frame, "i", "v").set_index("i")
        self.assertEqual("".join(table["类别"][:6]), "AABBCC")
        self.assertEqual(table.loc["g", "类别"], "非正")
        self.assertAlmostEqual(table.loc["c", "累计占比"], 0.9)

    def test_the_item_that_crosses_the_line_is_inside(self):
        table = pareto.abc(pd.DataFrame({"i": ["a", "b"], "v": [79, 21]}), "i", "v")
        self.assertEqual(list(table["类别"]), ["A", "A"])
        self.assertEqual(list(pareto.abc(pd.DataFrame({"i": ["a"], "v": [1]}), "i", "v")["类别"]), ["A"])

    def test_concentration_known_figures(self):
        self.assertAlmostEqual(pareto.gini([1, 2, 3, 4, 5]), 4 / 15)
        self.assertAlmostEqual(pareto.gini([0, 0, 0, 1]), 0.75)
        self.assertAlmostEqual(pareto.gini([7, 7, 7]), 0)
        # The example of the US merger guidelines.
        self.assertAlmostEqual(pareto.hhi([30, 30, 20, 20]), 2600)
        self.assertAlmostEqual(pareto.top_share([80, 5, 5, 5, 5]), 0.8)
        self.assertTrue(math.isnan(pareto.gini([0, 0])))
        with self.assertRaises(ValueError):
            pareto.gini([-1, 2])

    def test_gini_is_the_mean_difference(self):
        x = np.random.default_rng(2).pareto(1.5, 80)
        pairs = np.abs(x[:, None] - x[None, :]).mean() / (2 * x.mean())
        self.assertAlmostEqual(pareto.gini(x), pairs)

    def test_xyz(self):
        matrix = pd.DataFrame([[10, 10, 11, 9], [0, 20, 5, 15], [0, 0, 0, 40], [0, 0, 0, 0]], index=list("abcd"))
        self.assertEqual("".join(pareto.xyz(matrix)["类别"]), "XYZZ")


if __name__ == "__main__":
    unittest.main()

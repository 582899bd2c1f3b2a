"""Ordered funnels by hand; intervals, tests and sample sizes against statsmodels."""

import unittest

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint, proportions_ztest
from support import script

funnel = script("funnel-analysis", "funnel")


class Funnel(unittest.TestCase):
    def test_order_and_window_matter(self):
        rows = [
            ("full", "view", "2024-01-01 10:00"), ("full", "cart", "2024-01-01 10:05"), ("full", "pay", "2024-01-01 10:10"),
            ("wrong order", "pay", "2024-01-01 09:00"), ("wrong order", "view", "2024-01-01 10:00"),
            ("late", "view", "2024-01-01 10:00"), ("late", "cart", "2024-01-05 10:00"), ("late", "pay", "2024-01-05 10:01"),
            ("second try", "view", "2024-01-01 10:00"), ("second try", "view", "2024-01-06 10:00"), ("second try", "cart", "2024-01-06 10:01"),
            ("no start", "cart", "2024-01-01 10:00"), ("no start", "pay", "2024-01-01 10:01"),
        ]
        frame = pd.DataFrame(rows, columns=["u", "e", "t"])
        steps = ["view", "cart", "pay"]
        self.assertEqual(list(funnel.funnel(frame, "u", "e", "t", steps)["人数"]), [4, 3, 2])
        table = funnel.funnel(frame, "u", "e", "t", steps, window="1D")
        self.assertEqual(list(table["人数"]), [4, 2, 1])
        self.assertEqual(list(table["流失"]), [0, 2, 1])
        self.assertAlmostEqual(table["总转化率"].iloc[2], 0.25)

    def test_wilson_is_statsmodels(self):
        for k, n in [(0, 10), (1, 10), (50, 100), (999, 1000), (10, 10)]:
            np.testing.assert_allclose(funnel.wilson(k, n), proportion_confint(k, n, method="wilson"), atol=1e-12)

    def test_comparison_is_statsmodels(self):
        found = funnel.compare(120, 1000, 150, 1000)
        z, p = proportions_ztest([150, 120], [1000, 1000])
        self.assertAlmostEqual(found["z"], z)
        self.assertAlmostEqual(found["p值"], p)
        low, high = confint_proportions_2indep(150, 1000, 120, 1000, method="newcomb")
        self.assertAlmostEqual(found["下限"], low)
        self.assertAlmostEqual(found["上限"], high)

    def test_sample_size_textbook(self):
        # 10 % -> 12 %, 80 % power, 5 % two-sided.
        self.assertEqual(funnel.sample_size(0.10, 0.12), 3841)
        with self.assertRaises(ValueError):
            funnel.sample_size(0.1, 0.1)

    def test_holm_is_statsmodels(self):
        p = [0.01, 0.04, 0.03, 0.005]
        np.testing.assert_allclose(funnel.holm(p), multipletests(p, method="holm")[1])


if __name__ == "__main__":
    unittest.main()

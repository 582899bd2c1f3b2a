"""Growth figures by hand, trend tests against scipy and Gilbert (1987), decomposition against statsmodels."""

import math
import unittest

import numpy as np
import pandas as pd
from scipy import stats
from support import script

trend = script("trend-growth", "trend")


class Growth(unittest.TestCase):
    def test_rates_by_hand(self):
        index = pd.period_range("2023-01", periods=14, freq="M")
        table = trend.growth_table(pd.Series([100, 110, 99, *[100] * 9, 120, 132], index=index))
        self.assertAlmostEqual(table["环比"].iloc[1], 0.10)
        self.assertAlmostEqual(table["环比"].iloc[2], -0.10)
        self.assertAlmostEqual(table["同比"].iloc[12], 0.20)
        self.assertAlmostEqual(table["同比"].iloc[13], 0.20)
        self.assertEqual(table["累计"].iloc[13], 252)
        self.assertAlmostEqual(table["累计同比"].iloc[13], 252 / 210 - 1)
        self.assertTrue(math.isnan(table["同比"].iloc[11]))
        self.assertEqual(table["滚动一年"].iloc[11], 1209)

    def test_a_base_of_zero_or_less_has_no_rate(self):
        self.assertTrue(np.isnan(trend.rate([10, 10, 10], [0, -5, np.nan])).all())

    def test_cagr_textbook(self):
        self.assertAlmostEqual(trend.cagr(100, 161.051, 5), 0.10, places=9)
        self.assertTrue(math.isnan(trend.cagr(0, 10, 3)))

    def test_a_missing_month_stays_missing(self):
        frame = pd.DataFrame({"d": ["2024-01-05", "2024-03-01", "2024-03-09"], "v": [1, 2, 3]})
        monthly = trend.to_monthly(frame, "d", "v")
        self.assertEqual(len(monthly), 3)
        self.assertTrue(math.isnan(monthly.iloc[1]))
        self.assertEqual(monthly.iloc[2], 5)

    def test_spring_festival_months_are_taken_together(self):
        series = pd.Series([60, 100, 1, 100, 76, 1], index=pd.PeriodIndex(["2023-01", "2023-02", "2023-03", "2024-01", "2024-02", "2024-03"], freq="M"))
        both = trend.jan_feb_together(series)
        self.assertEqual(list(both["1–2月合计"]), [160, 176])
        self.assertAlmostEqual(both["同比"].iloc[1], 0.10)


class Trend(unittest.TestCase):
    def test_gilbert_1987(self):
        found = trend.mann_kendall([10, 15, 14, 20])
        self.assertEqual(found["S"], 4)
        self.assertAlmostEqual(found["z"], 3 / math.sqrt(4 * 3 * 13 / 18))
        self.assertEqual(found["结论"], "无显著趋势")

    def test_against_scipy(self):
        rng = np.random.default_rng(7)
        x = np.round(np.arange(40) * 0.3 + rng.normal(size=40), 1)
        found = trend.mann_kendall(x)
        tau = stats.kendalltau(np.arange(40), x, variant="b", method="asymptotic")
        self.assertLess(abs(found["p"] - tau.pvalue), 1e-4)
        self.assertAlmostEqual(found["sen_slope"], stats.theilslopes(x)[0])
        self.assertEqual(found["结论"], "显著上升")

    def test_seasonal_index_is_recovered(self):
        factors = np.array([0.7, 0.9, 1.1, 1.3])
        series = (100 + 2 * np.arange(24)) * np.tile(factors, 6)
        np.testing.assert_allclose(trend.seasonal_index(series, 4), factors, atol=0.01)

    def test_decomposition_is_statsmodels_and_adds_up(self):
        from statsmodels.tsa.seasonal import STL

        rng = np.random.default_rng(3)
        t = np.arange(60)
        series = pd.Series(50 + t + 10 * np.sin(2 * np.pi * t / 12) + rng.normal(scale=0.5, size=60))
        parts, strength = trend.decompose(series, 12)
        np.testing.assert_allclose(parts["趋势"] + parts["季节"] + parts["残差"], series)
        np.testing.assert_allclose(parts["季节"], STL(series.to_numpy(), period=12, robust=True).fit().seasonal)
        self.assertGreater(strength["季节强度"], 0.95)
        noise = pd.Series(rng.normal(size=60))
        self.assertLess(trend.decompose(noise, 12)[1]["季节强度"], strength["季节强度"])
        with self.assertRaises(ValueError):
            trend.decompose(series[:20], 12)


if __name__ == "__main__":
    unittest.main()

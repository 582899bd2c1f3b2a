"""Formulas of Hyndman & Athanasopoulos by hand, and the airline series as a whole-method check."""

import unittest

import numpy as np
import pandas as pd
from support import script

forecast = script("forecasting", "forecast")

# Box & Jenkins, international airline passengers 1949-1960, thousands.
AIR = [
    112, 118, 132, 129, 121, 135, 148, 148, 136, 119, 104, 118, 115, 126, 141, 135, 125, 149, 170, 170, 158, 133, 114, 140,
    145, 150, 178, 163, 172, 178, 199, 199, 184, 162, 146, 166, 171, 180, 193, 181, 183, 218, 230, 242, 209, 191, 172, 194,
    196, 196, 236, 235, 229, 243, 264, 272, 237, 211, 180, 201, 204, 188, 235, 227, 234, 264, 302, 293, 259, 229, 203, 229,
    242, 233, 267, 269, 270, 315, 364, 347, 312, 274, 237, 278, 284, 277, 317, 313, 318, 374, 413, 405, 355, 306, 271, 306,
    315, 301, 356, 348, 355, 422, 465, 467, 404, 347, 305, 336, 340, 318, 362, 348, 363, 435, 491, 505, 404, 359, 310, 337,
    360, 342, 406, 396, 420, 472, 548, 559, 463, 407, 362, 405, 417, 391, 419, 461, 472, 535, 622, 606, 508, 461, 390, 432,
]


class Formulas(unittest.TestCase):
    def test_mase_by_hand(self):
        self.assertAlmostEqual(forecast.mase([10, 12], [11, 11], [1, 3, 2, 4], 1), 1 / (5 / 3))
        self.assertAlmostEqual(forecast.mase([5], [3], [1, 2, 4, 6], 2), 2 / 3.5)

    def test_naive_and_drift_by_hand(self):
        made = forecast.naive([1, 2, 4], 2)
        self.assertEqual(list(made["预测"]), [4, 4])
        sd = np.sqrt((1 + 4) / 2)
        np.testing.assert_allclose(made["上限"], 4 + 1.959964 * sd * np.sqrt([1, 2]), rtol=1e-6)
        np.testing.assert_allclose(forecast.drift([1, 2, 4, 7], 2)["预测"], [9, 11])

    def test_seasonal_naive_by_hand(self):
        made = forecast.seasonal_naive([1, 2, 3, 5, 7, 9], 5, 3)
        self.assertEqual(list(made["预测"]), [5, 7, 9, 5, 7])
        sd = np.sqrt((16 + 25 + 36) / 3)
        np.testing.assert_allclose((made["上限"] - made["预测"]) / 1.959964, sd * np.sqrt([1, 1, 1, 2, 2]), rtol=1e-6)

    def test_ets_is_statsmodels(self):
        from statsmodels.tsa.exponential_smoothing.ets import ETSModel

        model = ETSModel(pd.Series(np.log(AIR[:120])), error="add", trend="add", damped_trend=True, seasonal="add", seasonal_periods=12)
        reference = np.exp(model.fit(disp=False, maxiter=200).forecast(12))
        np.testing.assert_allclose(forecast.ets(AIR[:120], 12, 12, seasonal="mul")["预测"], reference, rtol=1e-6)


class Airline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        index = pd.period_range("1949-01", periods=144, freq="M")
        cls.series = pd.Series(AIR, index=index, dtype=float)
        cls.made, cls.scores, cls.best = forecast.forecast(cls.series[:132], 12, 12)

    def test_a_seasonal_model_wins_and_beats_last_year(self):
        scores = self.scores.set_index("方法")
        self.assertEqual(self.best, "指数平滑(乘法季节)")
        self.assertGreater(scores.loc[self.best, "覆盖率"], 0.85)
        self.assertLess(scores.loc[self.best, "MASE"], 0.7 * scores.loc["季节朴素", "MASE"])

    def test_the_year_1960_is_forecast_within_a_few_percent(self):
        actual = self.series[132:]
        self.assertEqual(list(self.made.index), list(actual.index))
        error = np.mean(np.abs(self.made["预测"] / actual - 1))
        self.assertLess(error, 0.06)
        self.assertGreaterEqual(np.mean((actual >= self.made["下限"]) & (actual <= self.made["上限"])), 0.75)

    def test_a_random_walk_gets_a_simple_method(self):
        walk = np.cumsum(np.random.default_rng(1).normal(size=120)) + 100
        _, scores, best = forecast.forecast(walk, 6, 12)
        self.assertIn(best, ["朴素", "漂移", "指数平滑"])
        self.assertGreater(scores.set_index("方法").loc["季节朴素", "MASE"], scores["MASE"].iloc[0])

    def test_a_short_series_gets_the_naive_forecast_with_its_band(self):
        made, scores, best = forecast.forecast(AIR[:14], 6, 12)
        self.assertEqual((best, len(made), list(scores["方法"])), ("朴素", 6, ["朴素"]))
        self.assertTrue((made["下限"] < made["预测"]).all() and (made["预测"] == AIR[13]).all())
        _, scores, _ = forecast.forecast(AIR[:5], 2, 12)
        self.assertEqual(len(scores), 0)
        with self.assertRaisesRegex(ValueError, "4 期"):
            forecast.forecast(AIR[:3], 2, 12)

    def test_too_little_history_is_refused(self):
        with self.assertRaises(ValueError):
            forecast.backtest(AIR[:20], 12, 12)
        with self.assertRaises(ValueError):
            forecast.backtest([*AIR[:60], float("nan")], 6, 12)


if __name__ == "__main__":
    unittest.main()

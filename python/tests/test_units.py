"""Which columns are in the unit that a title names (SPEC B4)."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

from ba_worker.tables.units import takes_title_unit  # noqa: E402


@pytest.mark.parametrize("name", ["销售额", "一月", "2024年3月", "Q2", "上半年", "2024", "Jan 2024", "profit"])
def test_figures_and_periods_take_it(name):
    assert takes_title_unit(name)


@pytest.mark.parametrize("name", ["人数", "月份", "年份", "增长率", "month", "headcount", "排名"])
def test_counts_rates_and_times_do_not(name):
    assert not takes_title_unit(name)

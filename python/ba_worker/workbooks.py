"""Workbooks that user code writes with pandas: text that begins with `=` stays text (SPEC D5). Formulas written on purpose, cell by cell, are left alone."""

import functools


def install():
    from pandas.io.formats.excel import ExcelFormatter

    original = ExcelFormatter._format_value

    @functools.wraps(original)
    def as_text(self, value):
        value = original(self, value)
        return "'" + value if isinstance(value, str) and value.startswith("=") else value

    ExcelFormatter._format_value = as_text

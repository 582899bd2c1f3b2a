"""Which installed files no job can use: tests, headers, fonts beside the one that charts take, networks that the sandbox forbids."""

import re

_UNNEEDED = re.compile(
    r"(^|/)tests/|\.pxd$|\.pyx$|\.pyi$"
    r"|^mplfonts/fonts/(?!NotoSansCJKsc-Regular\.otf$)"
    r"|^pyarrow/(include/|src/|libarrow_(flight|s3)|_(flight|s3fs)\.)"
    r"|^numpy/_core/include/|^plotly/labextension/|^lxml/includes/"
)


def unneeded(path):
    """`path` is relative to the packages' folder."""
    return _UNNEEDED.search(path) is not None

"""What a workbook says of its cells besides their values: hidden rows, and currencies that only the number format shows."""

import re
import zipfile

from .notes import warn
from .units import currency_class

MOST_XML = 24 << 20
FORMAT = re.compile(r'<numFmt [^>]*numFmtId="([0-9]+)"[^>]*formatCode="([^"]*)"|<numFmt [^>]*formatCode="([^"]*)"[^>]*numFmtId="([0-9]+)"')
SYMBOL = re.compile(r"\[\$([^-\]]+)(?:-[^\]]*)?\]|(US\$|HK\$|NT\$|[$€£¥￥₩₹])")
ROW = re.compile(rb"<row [^>]*>")
CELL = re.compile(rb'<c r="([A-Z]{1,3})[0-9]+"(?=[^>]* s="([0-9]+)")[^>]*>(?!</c>)')
LOCAL_MONEY = {5, 6, 7, 8, 37, 38, 39, 40, 41, 42, 43, 44}


def notes(path, parts):
    """Sheet name → notes. `parts`: name of the XML part → sheet name."""
    found = {}
    try:
        with zipfile.ZipFile(path) as z:
            money = _money_styles(z)
            for part, sheet in parts.items():
                if part in z.namelist() and z.getinfo(part).file_size <= MOST_XML:
                    made = _of_sheet(z.read(part), money)
                    if made:
                        found[sheet] = made
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, NotImplementedError, UnicodeDecodeError):
        return {}
    return found


def _money_styles(z):
    """Index of a cell style → currency."""
    if "xl/styles.xml" not in z.namelist() or z.getinfo("xl/styles.xml").file_size > MOST_XML:
        return {}
    xml = z.read("xl/styles.xml").decode("utf-8", "replace")
    codes = {}
    for a, b, c, d in FORMAT.findall(xml):
        codes[int(a or d)] = (b or c).replace("&quot;", '"').replace("&amp;", "&")
    block = re.search(r"<cellXfs[^>]*>(.*?)</cellXfs>", xml, re.S)
    styles = {}
    for i, xf in enumerate(re.findall(r"<xf [^>]*?>", block[1] if block else "")):
        number = re.search(r'numFmtId="([0-9]+)"', xf)
        number = int(number[1]) if number else 0
        symbol = SYMBOL.search(codes.get(number, ""))
        if symbol:
            styles[i] = currency_class((symbol[1] or symbol[2]).strip())
        elif number in LOCAL_MONEY and number not in codes:
            styles[i] = "local"
    return styles


def _of_sheet(xml, money):
    made = []
    hidden = sum(1 for row in ROW.findall(xml) if b'hidden="1"' in row or b'hidden="true"' in row)
    if hidden:
        made.append(warn("hidden_rows", f"{hidden} row(s) are hidden in the sheet and are part of the table here", count=hidden))
    columns = {}
    if money:
        for letters, style in CELL.findall(xml):
            currency = money.get(int(style))
            if currency:
                columns.setdefault(letters.decode(), set()).add(currency)
    for letters, kinds in columns.items():
        if len(kinds) > 1:
            shown = sorted(kinds)
            made.append(warn("currency_mixed", f"column {letters} shows several currencies ({', '.join(shown)}): do not add them up", currencies=shown, letters=letters, case="letters"))
    return made

"""The encoding of a text file: by its marks, by validity, and then by how the decoded text reads in each language.

`decodes without error` is not enough: Korean bytes are valid Chinese ones. What is read must also look like its language. A
close call is said, with the other candidates (SPEC B1, B8).
"""

import codecs
import os
import re

from .notes import warn

HEAD = 1 << 20
SLICE = 256 << 10
WHOLE_FILE_CHECK = 32 << 20
ENOUGH = 60_000
CLOSE = 0.12
DOUBTFUL_BELOW = 0.35

# The characters that most running text and most table headers are made of.
SIMPLIFIED = set("的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运笔售销额价单元编号称户客姓订付款库存季省县州店仓牌型类率均占亿元米厂铁华京沪广深苏浙川")
TRADITIONAL = set("的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應向頭文體政美相見被利什二等產或新己制身果加西月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活更別打女變四總何電數安少報才結反受目量再感建務做接必場件計管期市直資命山金指統區保至形社便空決治展科司五基書非則聽白卻界達光放強即難且權思王完設式色路記南品住告類求據程北邊張該交規萬取望覺術領共確傳師觀清今切院讓識候帶導爭運筆售銷額價單元編號稱戶客姓訂付款庫存季省縣州店倉牌型類率均佔億營臺灣灯燈桌椅檯")
HANGUL = set("이다의는에을를가하고로은한지서도기사인자시대정부제수어나리해과일아보전상장주성스경구유여들그원화니공동지국만문면연조년식진소선금신개라중업적비용트생회안관세무발실행운바학체모명산방교계회역외미당우현위의통영반물품별매출액점울번호름날짜격량합계총코드고객담주문")
CANDIDATES = ("gb18030", "big5", "cp932", "cp949", "cp1251", "cp1252")
SHOWN = {"cp932": "shift_jis", "cp949": "euc-kr"}


def slices(path):
    """The head, and for larger files pieces of the middle and the end."""
    size = os.path.getsize(path)
    with open(path, "rb") as f:
        if size <= WHOLE_FILE_CHECK:
            return [f.read()]
        pieces = [f.read(HEAD)]
        for at in (size // 3, size // 2, size - SLICE):
            f.seek(at)
            pieces.append(f.read(SLICE))
    return pieces


def encoding_of(path, named=None):
    """(codec, name shown to people, notes). `named` is used when it fits, and given up with a note when it does not."""
    pieces = slices(path)
    if not named:
        return _detect(pieces)
    codec, shown, _ = _detect(pieces)
    try:
        wanted = codecs.lookup(named).name
    except LookupError:
        return codec, shown, [warn("encoding_unknown", f"unknown encoding `{named}`; read as {shown}", encoding=named, shown=shown)]
    fits = all(_decodes(p, wanted, i) for i, p in enumerate(pieces))
    if fits and codec == "utf-8-sig" and wanted in ("utf-8", "utf_8"):
        return codec, shown, []
    marked = codec.startswith("utf-") and not wanted.startswith("utf") and (codec != "utf-8" or not pieces[0].isascii())
    if fits and not marked:
        return wanted, wanted, []
    return codec, shown, [warn("encoding_unfit", f"the file is not {named}; read as {shown}", encoding=named, shown=shown)]


def _detect(pieces):
    head = pieces[0]
    for mark, codec, shown in ((codecs.BOM_UTF8, "utf-8-sig", "utf-8-bom"), (codecs.BOM_UTF32_LE, "utf-32", "utf-32"),
                               (codecs.BOM_UTF32_BE, "utf-32", "utf-32"), (codecs.BOM_UTF16_LE, "utf-16", "utf-16"), (codecs.BOM_UTF16_BE, "utf-16", "utf-16")):
        if head.startswith(mark):
            return codec, shown, []
    wide = utf16_without_bom(head[:4096])
    if wide:
        return wide, wide, []
    if all(_decodes(p, "utf-8", i) for i, p in enumerate(pieces)) or _nearly_utf8(pieces):
        return "utf-8", "utf-8", []
    return _by_language(pieces)


def _nearly_utf8(pieces):
    """A bad byte here and there does not make another encoding of a file that is otherwise UTF-8."""
    good = bad = 0
    for i, piece in enumerate(pieces):
        text = piece[3:].decode("utf-8", "replace") if i else piece.decode("utf-8", "replace")
        bad += text.count("\ufffd")
        good += sum(1 for c in text if ord(c) > 127 and c != "\ufffd")
    return good >= 3 and bad * 2 <= good and bad <= 2 + good // 20


def _by_language(pieces):
    sample = b"".join(_lines_with_high_bytes(p) for p in pieces)[:ENOUGH]
    scored = sorted(((_score(sample, codec), codec) for codec in CANDIDATES), reverse=True)
    (best, codec), (second, other) = scored[:2]
    if codec == "gb18030" and all(_decodes(p, "gbk", i) for i, p in enumerate(pieces)):
        codec = "gbk"
    shown = SHOWN.get(codec, codec)
    notes = []
    if best - second < CLOSE or best < DOUBTFUL_BELOW:
        others = [SHOWN.get(c, c) for s, c in scored[1:4] if s > best - 0.5]
        notes.append(warn("encoding_doubtful", f"the encoding is not certain: read as {shown}; it could be {', '.join(others) or 'another'}. Choose another if the text looks wrong",
                          encoding=shown, others=others))
    return codec, shown, notes


def _lines_with_high_bytes(piece):
    lines = [line for line in re.split(rb"[\r\n]+", piece[:4 * HEAD]) if not line.isascii()]
    return b"\n".join(lines)[:ENOUGH]


def _score(sample, codec):
    """How much the text reads like the language that uses the codec: about 1 for certain, below 0 for nonsense."""
    text = sample.decode(codec, "replace")
    high = [c for c in text if ord(c) > 127]
    if not high:
        return -1.0
    judge = {"gb18030": _chinese(SIMPLIFIED), "big5": _chinese(TRADITIONAL), "cp932": _japanese, "cp949": _korean}.get(codec)
    if judge:
        points = sum(judge(c) for c in high)
    else:
        points = _cyrillic(text) if codec == "cp1251" else _latin(text)
    broken = text.count("\ufffd")
    return points / len(high) - 3.0 * max(0, broken - 1) / len(high)


def _chinese(common):
    def judge(c):
        if c in common:
            return 1.0
        if "\u4e00" <= c <= "\u9fff":
            return 0.25 if _frequent_plane(c, common) else -0.4
        if c in "，。、：；（）％￥　—“”《》【】？！／．－＋":
            return 0.5
        return -1.0 if "\ue000" <= c <= "\uf8ff" else -0.5
    return judge


def _frequent_plane(c, common):
    """The first level of a national set holds what is in use."""
    try:
        lead = c.encode("gb2312" if common is SIMPLIFIED else "big5")[0]
    except UnicodeEncodeError:
        return False
    return 0xB0 <= lead <= 0xD7 if common is SIMPLIFIED else 0xA4 <= lead <= 0xC6


def _japanese(c):
    if "\u3041" <= c <= "\u30ff":
        return 1.0
    if "\uff61" <= c <= "\uff9f":
        return -0.3
    if "\u4e00" <= c <= "\u9fff":
        try:
            return 0.55 if c.encode("cp932")[0] <= 0x97 else -0.5
        except UnicodeEncodeError:
            return -1.0
    return 0.3 if c in "、。「」・ー（）％￥　①②③④⑤㈱" else -0.8


def _korean(c):
    if c in HANGUL:
        return 1.0
    if "\uac00" <= c <= "\ud7a3":
        return 0.45
    return 0.2 if c in "，。（）％　·“”" else -0.8


def _cyrillic(text):
    points = 0.0
    for before, c in zip(" " + text, text):
        if ord(c) <= 127:
            continue
        if "а" <= c <= "я" or c == "ё":
            points += 1.0
        elif "А" <= c <= "Я" or c == "Ё":
            points += 0.9 if not before.isalpha() or before.isupper() and ord(before) > 127 else -0.8
        else:
            points += 0.3 if c in "№«»—–₽" else -0.9
    return points


def _latin(text):
    points = 0.0
    for before, c, after in zip(" " + text, text, text[1:] + " "):
        if ord(c) <= 127:
            continue
        ascii_beside = (before.isascii() and before.isalpha()) + (after.isascii() and after.isalpha())
        if c.isalpha():
            points += 1.0 if ascii_beside and (c.islower() or not before.isalpha()) else -0.4 if not ascii_beside else 0.1
        else:
            points += 0.8 if c in "€£°§½¼²³–—’‘“”…•®©«»¿¡·×" and not (ord(before) > 127 and ord(after) > 127) else -0.7
    return points


def utf16_without_bom(head):
    if len(head) < 8:
        return None
    even = head[0::2].count(0) / max(1, len(head[0::2]))
    odd = head[1::2].count(0) / max(1, len(head[1::2]))
    if odd > 0.3 and even < 0.05:
        return "utf-16-le"
    if even > 0.3 and odd < 0.05:
        return "utf-16-be"
    return None


def _decodes(piece, codec, index):
    """Strictly decodable, but for characters cut at the edges of a slice."""
    for start in range(1) if index == 0 else range(4):
        try:
            codecs.getincrementaldecoder(codec)("strict").decode(piece[start:], final=False)
        except (UnicodeDecodeError, UnicodeError):
            continue
        return True
    return False


def transcode(path, codec, target, progress=None):
    """Writes the file again as UTF-8 without NUL characters. Returns how many characters could not be read."""
    size = max(1, os.path.getsize(path))
    bad = done = 0
    decoder = codecs.getincrementaldecoder(codec)("replace")
    with open(path, "rb") as source, open(target, "wb") as sink:
        while True:
            block = source.read(4 << 20)
            text = decoder.decode(block, final=not block)
            bad += text.count("\ufffd")
            sink.write(text.replace("\x00", "").encode("utf-8", "replace"))
            done += len(block)
            if progress and block:
                progress(0.2 * done / size, f"converting {codec} to utf-8")
            if not block:
                return bad

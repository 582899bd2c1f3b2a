//! Numbers written in Chinese characters, where a bound or a unit says that they are numbers: `超过三天`, `两百块以上`,
//! `八折`. A numeral alone may be part of any name and is left alone.

use std::sync::LazyLock;

use regex::Regex;

use super::Meaning;

const DIGIT: &str = "[一二两三四五六七八九十百千万亿零半]";

static BOUNDED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    const UNIT: &str = "个?小时|分钟|秒钟?|年|天|晚|次|回|件|单|笔|个|人|块钱?|元|岁|分|公里|公斤|斤|吨|米|平米?|度|瓶|盒|箱|袋|杯|套|台|张|条|本|只|节|门|家|户|间";
    const MORE: &str = "超过|大于|高于|多于|不到|少于|低于|小于|不足|至少|最少|最多|不超过|不少于|不低于|不高于|达到|满|够|起码";
    const BOUND: &str = "以上|以下|以内|及以上|及以下|或以上|或以下";
    let written = [
        // 超过三天
        format!("(?:{MORE})了?({DIGIT}+)(小时|个小时|分钟|秒钟?)?"),
        // 三天以上
        format!("({DIGIT}+)(?:(小时|个小时|分钟|秒钟?)|(?:{UNIT}))?(?:{BOUND})"),
        // 三百块, 两千公里
        "([一二两三四五六七八九][百千万][一二两三四五六七八九十百千零]*|[一二两三四五六七八九]?十[万千])(小时|个小时|分钟|秒钟?)?(?:块|元|公里|公斤|斤|吨|米|件|人|次|单|笔|分|平|度|个)".to_owned(),
    ];
    written.iter().filter_map(|w| Regex::new(w).ok()).collect()
});

static DISCOUNTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new("([一二三四五六七八九])([一二三四五六七八九五])?[折成]|([0-9](?:\\.[0-9])?)折").ok()
});

/// What a numeral says: `两千五` is 2500, `半` a half.
pub(super) fn value(text: &str) -> Option<f64> {
    const DIGITS: &str = "零一二三四五六七八九";
    if text == "半" {
        return Some(0.5);
    }
    let (mut total, mut section, mut digit, mut last_unit) = (0.0, 0.0, None::<f64>, 1.0);
    for c in text.chars() {
        let place = DIGITS.chars().position(|d| d == c).or(if c == '两' { Some(2) } else { None });
        let unit = match c {
            '十' => 10.0,
            '百' => 100.0,
            '千' => 1000.0,
            '万' => 1e4,
            '亿' => 1e8,
            '半' => return None,
            _ => 0.0,
        };
        match place.and_then(|p| u8::try_from(p).ok()) {
            Some(0) => last_unit = 1.0,
            Some(_) if digit.is_some() => return None,
            Some(p) => digit = Some(f64::from(p)),
            None if unit >= 1e4 => {
                total = (total + section + digit.take().unwrap_or(0.0)).max(1.0) * unit;
                section = 0.0;
                last_unit = unit;
            }
            None => {
                section += digit.take().unwrap_or(1.0) * unit;
                last_unit = unit;
            }
        }
    }
    // `两千五`: the last digit is of the next smaller unit.
    let rest = digit.map_or(0.0, |d| if last_unit >= 100.0 { d * last_unit / 10.0 } else { d });
    Some(total + section + rest).filter(|n| *n > 0.0)
}

/// The numbers written in characters.
pub(super) fn find(text: &str) -> Vec<(usize, usize, Meaning)> {
    let at = |byte: usize| text[..byte].chars().count();
    let mut found = Vec::new();
    for c in BOUNDED.iter().flat_map(|r| r.captures_iter(text)) {
        let Some(numeral) = c.get(1) else { continue };
        let Some(n) = value(numeral.as_str()) else { continue };
        // `一次以上` says that there were some.
        if numeral.as_str() == "一" && text[numeral.end()..].starts_with(['次', '个', '单', '笔', '件'])
        {
            continue;
        }
        // A length is read with its unit.
        let end = c.get(2).filter(|u| u.start() == numeral.end()).map_or(numeral.end(), |u| u.end());
        found.push((at(numeral.start()), at(end), Meaning::Number(n)));
    }
    for c in DISCOUNTS.iter().flat_map(|r| r.captures_iter(text)) {
        let Some(whole) = c.get(0) else { continue };
        // `前三成交额`
        let word = text[whole.end()..]
            .starts_with(['交', '本', '功', '员', '人', '长', '绩', '品', '立', '套', '单']);
        if whole.as_str().ends_with('成') && word {
            continue;
        }
        let tenths = match (c.get(1), c.get(2), c.get(3)) {
            (Some(one), more, _) => {
                value(one.as_str()).map(|n| n + more.and_then(|m| value(m.as_str())).unwrap_or(0.0) / 10.0)
            }
            (_, _, Some(digits)) => digits.as_str().parse::<f64>().ok(),
            _ => None,
        };
        if let Some(n) = tenths {
            found.push((at(whole.start()), at(whole.end()), Meaning::Number(n / 10.0)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_have_their_values() {
        for (text, n) in [
            ("三", 3.0),
            ("十二", 12.0),
            ("二十", 20.0),
            ("一百", 100.0),
            ("两千五", 2500.0),
            ("三千零五", 3005.0),
            ("一百二十", 120.0),
            ("五万", 50000.0),
            ("十万", 100_000.0),
            ("一亿", 1e8),
            ("半", 0.5),
        ] {
            assert_eq!(value(text), Some(n), "{text}");
        }
        assert_eq!(value("三四"), None);
    }

    #[test]
    fn a_numeral_needs_a_bound_or_a_unit() {
        assert_eq!(find("候诊超过一小时的"), [(4, 7, Meaning::Number(1.0))]);
        assert_eq!(find("工作三年以上的"), [(2, 3, Meaning::Number(3.0))]);
        assert_eq!(find("八五折"), [(0, 3, Meaning::Number(0.85))]);
        assert_eq!(find("贡献八成收入"), [(2, 4, Meaning::Number(0.8))]);
        assert!(find("前三成交额").is_empty());
        assert!(find("三号楼的万象店").is_empty());
    }
}

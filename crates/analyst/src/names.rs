//! What names are made of: abbreviations, word stems, parts that may stand for the whole. Knows no vocabulary of questions.

use crate::norm::{is_cjk, name_words};

pub use short::{says, written_out};

mod short;

/// `stayed` and `stay`, `readmission` and `readmitted`: one word in two forms.
pub fn related(a: &str, b: &str) -> bool {
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    const ENDINGS: [&str; 10] = ["", "s", "es", "ed", "d", "ing", "ion", "ions", "ment", "al"];
    let ends = |text: &str| ENDINGS.contains(&text);
    let inflected = common >= 4 && ends(&a[common..]) && ends(&b[common..]);
    // A listener is no listening.
    let person = |t: &str| ["er", "ers", "or", "ors"].iter().any(|e| t.ends_with(e));
    let cognate = common >= 6 && common * 2 > a.len().max(b.len()) && !person(a);
    a.is_ascii() && b.is_ascii() && (inflected || cognate)
}

const VAGUE: [&str; 24] = [
    "date", "name", "type", "total", "number", "amount", "count", "rate", "time", "value", "code", "year",
    "month", "week", "quarter", "percent", "level", "index", "group", "mean", "average", "status", "score",
    "state",
];
const UNITS: [&str; 19] = [
    "sqm", "sqft", "min", "mins", "sec", "hrs", "usd", "eur", "cny", "rmb", "kg", "km", "pct", "musd",
    "mins", "days", "hours", "cm", "minutes",
];

/// The word a figure is named by: the last one that says something; what comes before only narrows it.
pub fn head(words: &str) -> Option<&str> {
    let words = without_unit(words);
    // `tickets sold` are tickets.
    let done =
        |t: &&str| t.ends_with("ed") || ["sold", "made", "kept", "paid", "spent", "lost", "won"].contains(t);
    let says_something = |t: &&str| !VAGUE.contains(t) && !UNITS.contains(t) && !done(t);
    words.split(' ').rfind(says_something).or_else(|| words.split(' ').rfind(done))
}

/// Parts of a name that may stand for it.
pub fn name_parts(words: &str, measured: bool) -> Vec<String> {
    let words = if measured { without_unit(words) } else { words };
    let mut parts = Vec::new();
    let tokens: Vec<&str> = words.split(' ').collect();
    if tokens.len() > 1 {
        // `cow` of `cow id`
        const NUMBERED: [&str; 6] = ["id", "no", "number", "code", "ref", "name"];
        let numbered = tokens.last().is_some_and(|t| NUMBERED.contains(t));
        let least = if measured || numbered { 3 } else { 4 };
        let usable = |t: &&&str| t.len() >= least && t.is_ascii() && !VAGUE.contains(*t);
        let head: Vec<&str> = head(words).filter(|_| measured).into_iter().collect();
        let named = tokens.iter().filter(usable).filter(|t| !measured || head.contains(t));
        parts.extend(named.map(|t| (*t).to_owned()));
        for pair in tokens.windows(2).filter(|_| tokens.len() > 2) {
            parts.push(pair.join(" "));
        }
    }
    let chars: Vec<char> = words.chars().collect();
    if chars.len() <= 12 && chars.len() >= 3 && chars.iter().all(|c| is_cjk(*c)) {
        for length in 2..chars.len() {
            parts.extend(chars.windows(length).map(|w| w.iter().collect::<String>()));
        }
    }
    parts
}

/// What a column of numbers or names stands for: `crane` of `crane id`, 宝宝 of 宝宝姓名.
pub fn numbered(name: &str) -> Option<&str> {
    const ENDINGS: [&str; 12] =
        [" id", " no", " number", " code", " name", "编号", "编码", "号牌", "名称", "姓名", "名字", "号"];
    ENDINGS.iter().find_map(|e| name.strip_suffix(e)).filter(|n| !n.is_empty())
}

/// A name without the unit at its end: `area sqm` is an area.
pub fn without_unit(words: &str) -> &str {
    const UNITS: &[&str] = &[
        " c",
        " f",
        " min",
        " mins",
        " minutes",
        " sec",
        " secs",
        " seconds",
        " hrs",
        " hours",
        " days",
        " months",
        " years",
        " km",
        " kg",
        " usd",
        " musd",
        " sqm",
        " sqft",
        " eur",
        " rmb",
        " cny",
        " gbp",
        " kwh",
        " mb",
        " gb",
        " pct",
        " percent",
        " 元",
        " 天",
        " 分钟",
        " 小时",
        " 件",
        " cm",
        " t",
        " h",
        " ha",
        " mm",
        " g",
        " l",
        " nok",
        " sek",
        " dkk",
        " chf",
        " aud",
        " cad",
        " inr",
        " sgd",
        " jpy",
        " hkd",
        " pln",
        " litres",
        " liters",
        " litre",
        " liter",
        " tonnes",
        " tons",
        " miles",
        " metres",
        " meters",
        " kw",
        " mwh",
        " $",
        " £",
        " €",
        " ¥",
        " gwh",
        " ml",
        " mw",
        " lbs",
        " lb",
        " oz",
        " gal",
        " kgal",
        " gallons",
        " m3",
        " cbm",
        " tb",
        " bbl",
        " kgs",
        " tons",
        " pounds",
        " bushels",
        " hectares",
        " acres",
        " litres",
        " usd k",
        " gbp k",
    ];
    UNITS.iter().find_map(|u| words.strip_suffix(u)).filter(|w| !w.is_empty()).unwrap_or(words)
}

/// Two forms of one word, short irregular ones included: `won` and `win`.
pub fn same_word(a: &str, b: &str) -> bool {
    same_root((a, &stem(a)), (b, &stem(b)))
}

/// The same of two words whose stems are known.
pub fn same_root((a, root): (&str, &str), (b, other): (&str, &str)) -> bool {
    let irregular = |w: &str| IRREGULAR.iter().any(|(past, now)| *past == w || *now == w);
    root == other && (root.len() >= 4 || a == b || irregular(a) && irregular(b))
}

const IRREGULAR: [(&str, &str); 26] = [
    ("payment", "pay"),
    ("payments", "pay"),
    ("kept", "keep"),
    ("paid", "pay"),
    ("sent", "send"),
    ("lent", "lend"),
    ("held", "hold"),
    ("won", "win"),
    ("lost", "lose"),
    ("bought", "buy"),
    ("built", "build"),
    ("taken", "take"),
    ("took", "take"),
    ("made", "make"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("given", "give"),
    ("written", "write"),
    ("driven", "drive"),
    ("drove", "drive"),
    ("flown", "fly"),
    ("flew", "fly"),
    ("grown", "grow"),
    ("grew", "grow"),
    ("left", "leave"),
    ("broken", "break"),
];

/// The forms of a verb: `pay`, `pays`, `paid`, `paying` of any of them.
pub fn forms(verb: &str) -> Vec<String> {
    let now = IRREGULAR.iter().find(|(past, _)| *past == verb).map(|(_, now)| *now);
    let base = now.unwrap_or_else(|| {
        let cut =
            verb.strip_suffix("ies").or_else(|| verb.strip_suffix("ing")).or_else(|| verb.strip_suffix("ed"));
        cut.or_else(|| verb.strip_suffix('s')).filter(|b| b.len() >= 3).unwrap_or(verb)
    });
    let past = IRREGULAR.iter().find(|(_, now)| *now == base).map(|(past, _)| (*past).to_owned());
    let regular =
        [base.to_owned(), format!("{base}s"), format!("{base}ed"), format!("{base}d"), format!("{base}ing")];
    regular.into_iter().chain(past).collect()
}

/// What is common to the forms of an English word: `cancelled` and `cancellation` are both `cancel`.
pub fn stem(word: &str) -> String {
    const ENDINGS: [(&str, &str, usize); 28] = [
        ("ure", "", 5),
        ("ery", "er", 4),
        ("ance", "", 5),
        ("ence", "", 5),
        ("utions", "v", 3),
        ("ution", "v", 3),
        ("missions", "mit", 2),
        ("mission", "mit", 2),
        ("scription", "scrib", 2),
        ("izations", "", 4),
        ("ization", "", 4),
        ("ations", "", 4),
        ("ation", "", 4),
        ("ments", "", 4),
        ("ment", "", 4),
        ("ities", "", 4),
        ("ity", "", 4),
        ("ings", "", 3),
        ("ing", "", 3),
        ("ions", "", 4),
        ("ion", "", 4),
        ("ies", "y", 3),
        ("als", "", 5),
        ("al", "", 5),
        ("ed", "", 3),
        ("es", "", 3),
        ("ly", "", 4),
        ("s", "", 3),
    ];
    if !word.is_ascii() {
        return word.to_owned();
    }
    let word = IRREGULAR.iter().find(|(past, _)| *past == word).map_or(word, |(_, now)| now);
    let cut = ENDINGS.iter().find_map(|(ending, put, least)| {
        let base = word.strip_suffix(ending).filter(|b| b.len() >= *least)?;
        (!(*ending == "s" && base.ends_with('s'))).then(|| format!("{base}{put}"))
    });
    let mut out = cut.unwrap_or_else(|| word.to_owned());
    let last: Vec<char> = out.chars().rev().take(2).collect();
    if let [a, b] = last[..]
        && a == b
        && !"aeiou".contains(a)
        && out.len() > 4
    {
        out.pop();
    }
    if out.len() > 3 && out.ends_with('e') {
        out.pop();
    }
    out
}

/// Words of a file's name that say nothing of its rows.
const VAGUE_FILE: [&str; 30] = [
    "data", "dataset", "log", "logs", "list", "report", "reports", "export", "table", "sheet", "file",
    "final", "new", "copy", "sample", "test", "raw", "clean", "master", "all", "daily", "monthly", "weekly",
    "detail", "details", "summary", "history", "records", "record", "book",
];
const VAGUE_FILE_ZH: [&str; 22] = [
    "记录", "数据", "明细", "日报", "周报", "月报", "台账", "清单", "统计", "进展", "汇总", "列表", "信息",
    "报表", "流水", "总表", "表", "登记", "情况", "导出", "样例", "名单",
];

/// What a row of a file is called, going by the file's name, and the other words of the name.
pub fn row_nouns(filename: &str) -> (Vec<String>, Vec<String>) {
    let bare = filename.rsplit_once('.').map_or(filename, |(s, _)| s);
    let words = name_words(bare);
    let mut heads = Vec::new();
    let mut others = Vec::new();
    for word in words.split(' ').rev() {
        if word.chars().all(is_cjk) {
            let (mut head, mut rest) = chinese_nouns(word);
            heads.append(&mut head);
            others.append(&mut rest);
        } else if word.len() >= 3
            && word.chars().all(|c| c.is_ascii_alphabetic())
            && !VAGUE_FILE.contains(&word)
        {
            let singular = word.strip_suffix('s').unwrap_or(word).to_owned();
            if heads.is_empty() { heads.push(singular) } else { others.push(singular) }
        }
    }
    (heads, others)
}

fn chinese_nouns(word: &str) -> (Vec<String>, Vec<String>) {
    let mut rest = word;
    while let Some(cut) = VAGUE_FILE_ZH.iter().find_map(|v| rest.strip_suffix(v)) {
        rest = cut;
    }
    let chars: Vec<char> = rest.chars().collect();
    let from = |range: &[char]| range.iter().collect::<String>();
    let heads = (0..chars.len().saturating_sub(1)).map(|i| from(&chars[i..])).collect();
    let mut others = Vec::new();
    for end in 2..chars.len() {
        others.extend((0..=end - 2).map(|start| from(&chars[start..end])));
    }
    (heads, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for (a, b) in [
            ("cancelled", "cancellation"),
            ("nightly", "night"),
            ("departure", "departs"),
            ("delivery", "delivered"),
            ("insurance", "insured"),
            ("shipping", "ship"),
            ("suites", "suite"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        assert_ne!(stem("class"), stem("clas"));
        assert_ne!(stem("price"), stem("prize"));
    }

    #[test]
    fn a_file_name_says_what_a_row_is() {
        assert_eq!(row_nouns("hotel_bookings.csv"), (vec!["booking".into()], vec!["hotel".into()]));
        assert_eq!(row_nouns("call_log.csv").0, ["call"]);
        assert!(row_nouns("门店记录.csv").0.contains(&"门店".to_owned()));
        assert!(row_nouns("2024.csv").0.is_empty());
    }
}

//! The ways the values of a table are said: their names, parts of them, what was not done.

use std::collections::HashMap;

use super::Dictionary;
use crate::glossary::{ConceptRole, Glossary};
use crate::lex::{ColRef, Meaning};
use crate::names::{head, related, stem};
use crate::norm::{is_cjk, normal};
use crate::table::{Role, Table};

impl Dictionary {
    /// `高` is everywhere, `高优先级` and `优先级为高` are not.
    pub(super) fn add_common_value(&mut self, at: ColRef, value: &str, column: &str) {
        let plain = normal(value);
        let plain = plain.trim();
        let chinese = plain.chars().all(is_cjk) || column.chars().all(is_cjk);
        let forms: &[&str] =
            if chinese { &["VC", "CV", "C为V", "C是V"] } else { &["V C", "C V", "C is V"] };
        let noun = [" type", " kind", " category", " status", " class", "类型", "类别", "状态"]
            .iter()
            .find_map(|e| column.strip_suffix(e));
        if let Some(noun) = noun.filter(|n| !n.is_empty()) {
            // `new clients`, where a column is called `client type`.
            let phrase = if chinese { format!("{plain}{noun}") } else { format!("{plain} {noun}") };
            self.add(&phrase, Meaning::Value(at, value.to_owned(), 4));
        }
        if plain.chars().count() == 1 && plain.is_ascii() {
            self.add_letter(at, value, plain);
        }
        for form in forms {
            let phrase = form.replace('V', plain).replace('C', column);
            self.add(&phrase, Meaning::Value(at, value.to_owned(), 4));
        }
    }

    /// `A级`, `type O`: a letter alone is said with what it is.
    fn add_letter(&mut self, at: ColRef, value: &str, plain: &str) {
        const FORMS: [&str; 20] = [
            "V级",
            "V类",
            "V型",
            "V等",
            "V档",
            "V区",
            "V组",
            "V班",
            "grade V",
            "class V",
            "type V",
            "tier V",
            "level V",
            "category V",
            "group V",
            "zone V",
            "rank V",
            "V-rated",
            "V grade",
            "V-grade",
        ];
        for form in FORMS {
            self.add(&form.replace('V', plain), Meaning::Value(at, value.to_owned(), 4));
        }
    }

    /// What a row or a figure is called is no value: `退款` in a file of refunds.
    pub(super) fn names_rows(&self, phrase: &str) -> bool {
        let chars: Vec<char> = phrase.chars().collect();
        let entries = chars.first().and_then(|c| self.by_first.get(c)).map_or(&[][..], Vec::as_slice);
        entries.iter().any(|(p, m)| *p == chars && matches!(m, Meaning::RowNoun(_)))
    }

    pub(super) fn add_value(&mut self, at: ColRef, value: &str, categories: bool, glossary: &Glossary) {
        let plain = normal(value);
        let plain = plain.trim();
        let length = plain.chars().count();
        if length == 0 || length > 60 || plain.chars().all(|c| c.is_ascii_digit()) {
            return;
        }
        if length >= 2 || plain.chars().all(is_cjk) {
            self.add(plain, Meaning::Value(at, value.to_owned(), 4));
        } else {
            self.add_letter(at, value, plain);
        }
        // `tire` of `Tires`
        if let Some(bare) = plain.strip_suffix('s').filter(|b| b.len() >= 4 && !b.ends_with(['s', 'u', 'i']))
            && bare.bytes().all(|b| b.is_ascii_lowercase())
            && !glossary.is_common(bare)
        {
            self.add(bare, Meaning::Value(at, value.to_owned(), 3));
        }
        if let Some(bare) =
            plain.strip_suffix('中').filter(|b| b.chars().count() >= 2 && b.chars().all(is_cjk))
        {
            for form in ["在", "正在", "还在"] {
                self.add(&format!("{form}{bare}"), Meaning::Value(at, value.to_owned(), 3));
            }
        }
        for alias in glossary.value_aliases(plain) {
            if alias.chars().count() >= 2 || alias.chars().all(is_cjk) {
                self.add(alias, Meaning::Value(at, value.to_owned(), 3));
            }
        }
        for ending in ["地区", "大区", "区", "市", "省", "部", "部门", "店", "系列"] {
            if let Some(bare) = plain.strip_suffix(ending)
                && bare.chars().count() >= 2
            {
                self.add(bare, Meaning::Value(at, value.to_owned(), 3));
            }
        }
        // `入职` for `已入职`.
        if let Some(bare) = ["已经", "已", "正在"].iter().find_map(|b| plain.strip_prefix(b))
            && bare.chars().count() >= 2
            && !self.names_rows(bare)
        {
            self.add(bare, Meaning::Value(at, value.to_owned(), 3));
        }
        self.add_deed(at, value, plain, glossary);
        self.add_undone(at, value, plain);
        if plain.contains(' ') && plain.is_ascii() {
            self.add(&plain.replace(' ', "-"), Meaning::Value(at, value.to_owned(), 4));
        } else if plain.contains('-') && plain.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
            self.add(&plain.replace('-', " "), Meaning::Value(at, value.to_owned(), 4));
        }
        if categories && plain.is_ascii() {
            self.add_value_words(at, value, plain, glossary);
        }
    }

    /// `保外` where a flag is called 是否保内, `out-of-network` of `In Network`, `没来` of 是否到场: those that are not.
    pub(super) fn add_opposite(&mut self, at: ColRef, column: &crate::table::Column, name: &str) {
        let no = column.values.iter().find(|v| {
            matches!(v.to_lowercase().as_str(), "否" | "n" | "no" | "false" | "0" | "无" | "未" | "没有")
        });
        let Some(no) = no else { return };
        let mut said: Vec<String> = Vec::new();
        said.extend(name.strip_suffix('内').map(|of| format!("{of}外")));
        if let Some(of) = name.strip_prefix("in ") {
            said.extend([format!("out of {of}"), format!("out-of-{}", of.replace(' ', "-"))]);
        }
        if name.starts_with('到') || ["出席", "签到", "赴约"].contains(&name) {
            said.extend(["没来", "没到", "未到", "缺席", "爽约"].map(str::to_owned));
        }
        // `备用金没到账` of 备用金到账
        let chars: Vec<char> = name.chars().collect();
        if chars.len() >= 4 && chars.iter().all(|c| is_cjk(*c)) {
            let (about, done) = chars.split_at(chars.len() - 2);
            let (about, done): (String, String) = (about.iter().collect(), done.iter().collect());
            said.extend(["没", "未", "没有", "还没", "还没有"].map(|not| format!("{about}{not}{done}")));
        }
        if name == "成交" {
            said.push("流拍".to_owned());
        }
        for phrase in said {
            self.add(&phrase, Meaning::Value(at, no.clone(), 4));
        }
    }

    /// `complete` for `Completed`: the verb of what became of a row, which by itself says nothing.
    fn add_deed(&mut self, at: ColRef, value: &str, plain: &str, glossary: &Glossary) {
        if plain.len() < 6 || !plain.ends_with("ed") || !plain.bytes().all(|b| b.is_ascii_lowercase()) {
            return;
        }
        let root = stem(plain);
        let same = |(s, w): &&(String, String)| *s == root && w != plain && w.len() >= 4;
        for (_, word) in glossary.stop_stems.iter().filter(same) {
            self.add(word, Meaning::Value(at, value.to_owned(), 3));
        }
    }

    /// `没开始` for `未开始`, `没批` for `待审批`, `没交费` for `未缴`.
    fn add_undone(&mut self, at: ColRef, value: &str, plain: &str) {
        let Some(bare) = plain.strip_prefix('未').or_else(|| plain.strip_prefix('待')) else { return };
        let mut done: Vec<String> = vec![bare.to_owned()];
        let pay = ["缴", "付", "交", "支付", "付款", "缴费", "交费", "缴纳", "回款"];
        if pay.contains(&bare) {
            done.extend(pay.iter().map(|p| (*p).to_owned()));
            for owed in ["欠费", "欠款", "欠缴", "拖欠"] {
                self.add(owed, Meaning::Value(at, value.to_owned(), 3));
            }
        } else {
            done.extend(bare.chars().last().filter(|_| bare.chars().count() >= 2).map(String::from));
        }
        for form in ["没", "没有", "还没", "还没有", "尚未", "未"] {
            for done in &done {
                self.add(&format!("{form}{done}"), Meaning::Value(at, value.to_owned(), 3));
            }
        }
    }

    /// `Paid` for `Paid Ads`, `won` for `Closed Won`; no last word that is a common noun.
    fn add_value_words(&mut self, at: ColRef, value: &str, plain: &str, glossary: &Glossary) {
        let words: Vec<&str> = plain.split([' ', '-', '&', '/']).filter(|w| !w.is_empty()).collect();
        let Some((last, before)) = words.split_last().filter(|(_, b)| !b.is_empty()) else { return };
        for word in before.first().iter().filter(|w| w.len() >= 4) {
            self.add(word, Meaning::Value(at, value.to_owned(), 2));
        }
        let concept = |w: &str| glossary.concepts.iter().any(|c| c.names.iter().any(|n| n == w));
        if last.len() >= 3
            && !last.ends_with('s')
            && !glossary.is_common(last)
            && !concept(last)
            && !self.names_rows(last)
        {
            self.add(last, Meaning::Value(at, value.to_owned(), 2));
        }
    }

    pub(super) fn begins_with_value(&self, name: &str) -> bool {
        let Some(bare) = ["费用", "费", "金额", "数量", "率", " rate", "客户", "用户", "员工", "订单"]
            .iter()
            .find_map(|e| name.strip_suffix(e))
        else {
            return false;
        };
        let chars: Vec<char> = bare.chars().collect();
        let entries = chars.first().and_then(|c| self.by_first.get(c)).map_or(&[][..], Vec::as_slice);
        entries.iter().any(|(p, m)| *p == chars && matches!(m, Meaning::Value(..)))
    }

    /// Values by the stem of the word that names them.
    pub(super) fn value_stems(&self) -> HashMap<String, Meaning> {
        let mut out: HashMap<String, Meaning> = HashMap::new();
        for (phrase, meaning) in self.by_first.values().flatten() {
            if let Meaning::Value(_, _, 3..) = meaning
                && phrase.len() >= 4
                && phrase.iter().all(char::is_ascii_alphabetic)
            {
                let word: String = phrase.iter().collect();
                out.entry(stem(&word)).or_insert_with(|| meaning.clone());
            }
        }
        out
    }

    /// A word of the vocabulary that no column stands for, but that is another form of a value or of a figure's name:
    /// `rejects` of `Rejected`, `attendance` of `attended`.
    pub(super) fn same_as_named(
        &self,
        name: &str,
        role: ConceptRole,
        stems: &HashMap<String, Meaning>,
        tables: &[Table],
    ) -> Option<Meaning> {
        if name.len() < 5 || !name.bytes().all(|b| b.is_ascii_lowercase()) {
            return None;
        }
        if let Some(value) = stems.get(&stem(name)).filter(|_| role != ConceptRole::Entity) {
            return Some(value.clone());
        }
        if !matches!(role, ConceptRole::Measure | ConceptRole::Flag) {
            return None;
        }
        let mut found = None;
        for (t, table) in tables.iter().enumerate() {
            for (c, column) in table.columns.iter().enumerate().filter(|(_, c)| c.role == Role::Measure) {
                // `visits` are no `visit fee`, `refunds` are a `refund amount`, scrap is counted in `scrap units`.
                const COUNTED: [&str; 8] =
                    ["units", "pieces", "items", "parts", "cases", "qty", "quantity", "hours"];
                let last = head(&column.full);
                let counts = last.is_some_and(|w| COUNTED.contains(&w));
                let mut words = column.full.split(' ').filter(|w| counts || last == Some(*w));
                if words.any(|w| w.len() >= 5 && related(name, w)) {
                    if found.is_some() {
                        return None;
                    }
                    found = Some(Meaning::Column(ColRef { table: t, column: c }, 2));
                }
            }
        }
        found
    }

    /// The values that hold an unknown Chinese word, all of one column: `程序` of `自营小程序`.
    pub fn within_values(&self, word: &str) -> Vec<Meaning> {
        let chars: Vec<char> = word.chars().collect();
        if chars.len() < 2 || !chars.iter().all(|c| is_cjk(*c)) {
            return Vec::new();
        }
        let holds = |p: &[char]| p.len() > chars.len() && p.windows(chars.len()).any(|w| w == chars);
        let mut out: Vec<Meaning> = Vec::new();
        for (phrase, meaning) in self.by_first.values().flatten() {
            if let Meaning::Value(at, value, 4) = meaning
                && holds(phrase)
            {
                let same = |m: &Meaning| matches!(m, Meaning::Value(c, _, _) if c == at);
                if !out.iter().all(same) {
                    return Vec::new();
                }
                let part = Meaning::Value(*at, value.clone(), 2);
                if !out.contains(&part) {
                    out.push(part);
                }
            }
        }
        out
    }

    /// `期末` of `期末考试`, where there is `期中考试` besides: what tells values with the same ending apart.
    pub(super) fn add_distinctive_parts(&mut self, tables: &[Table]) {
        for (t, table) in tables.iter().enumerate() {
            for (c, column) in table.columns.iter().enumerate() {
                let few = column.values_complete && (2..=30).contains(&column.distinct);
                if column.role != Role::Dimension || !few {
                    continue;
                }
                let at = ColRef { table: t, column: c };
                for value in &column.values {
                    let others = column.values.iter().filter(|v| *v != value);
                    let part = others.filter_map(|v| apart(value, v)).min_by_key(|p| p.chars().count());
                    if let Some(part) = part.filter(|p| !self.means_something(p)) {
                        self.add(&part, Meaning::Value(at, value.clone(), 3));
                    }
                }
            }
        }
    }

    /// `保养` of `常规保养`: the first or last two characters, where only one value of the column has them.
    pub(super) fn add_halves(&mut self, tables: &[Table]) {
        for (t, table) in tables.iter().enumerate() {
            for (c, column) in table.columns.iter().enumerate() {
                let few = column.values_complete && (2..=30).contains(&column.distinct);
                if column.role != Role::Dimension || !few {
                    continue;
                }
                for value in &column.values {
                    let chars: Vec<char> = value.chars().collect();
                    if chars.len() < 4 || !chars.iter().all(|c| is_cjk(*c)) {
                        continue;
                    }
                    for half in [&chars[..2], &chars[chars.len() - 2..]] {
                        let half: String = half.iter().collect();
                        let alone = column.values.iter().filter(|v| v.contains(&half)).count() == 1;
                        if alone && !self.means_something(&half) {
                            let at = ColRef { table: t, column: c };
                            self.add(&half, Meaning::Value(at, value.clone(), 2));
                        }
                    }
                }
            }
        }
    }

    /// `店里`, `我们店`: all of it, where no column tells shops apart.
    pub(super) fn add_places(&mut self, tables: &[Table]) {
        let told = |id: &str| tables.iter().any(|t| t.columns.iter().any(|c| c.has_concept(id)));
        const WHOLE: [&str; 40] = [
            "车队",
            "健身房",
            "修理厂",
            "修车厂",
            "驾校",
            "食堂",
            "花店",
            "超市",
            "工厂",
            "学校",
            "医院",
            "药店",
            "药房",
            "酒店",
            "民宿",
            "影院",
            "电影院",
            "律所",
            "律师事务所",
            "幼儿园",
            "餐厅",
            "饭店",
            "奶茶店",
            "咖啡店",
            "便利店",
            "书店",
            "图书馆",
            "诊所",
            "门诊部",
            "供电所",
            "水厂",
            "电厂",
            "农场",
            "果园",
            "养殖场",
            "培训班",
            "物业",
            "菜市场",
            "批发市场",
            "宠物店",
        ];
        for whole in WHOLE {
            if !self.means_something(whole) {
                self.add(whole, Meaning::Stop);
            }
        }
        if told("store") {
            return;
        }
        for place in ["店", "厂", "校", "院", "馆", "园", "所"] {
            for form in ["X里", "X内", "我们X里", "咱们X里", "我们X", "咱们X", "本X", "咱X", "我X"]
            {
                let phrase = form.replace('X', place);
                if !self.means_something(&phrase) {
                    self.add(&phrase, Meaning::Stop);
                }
            }
        }
    }

    pub(super) fn means_something(&self, phrase: &str) -> bool {
        let chars: Vec<char> = phrase.chars().collect();
        let entries = chars.first().and_then(|c| self.by_first.get(c)).map_or(&[][..], Vec::as_slice);
        entries.iter().any(|(p, _)| *p == chars)
    }
}

/// What is left of a Chinese value without the ending of two or more characters it shares with another.
fn apart(value: &str, other: &str) -> Option<String> {
    let (a, b): (Vec<char>, Vec<char>) = (value.chars().collect(), other.chars().collect());
    let shared = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let rest = &a[..a.len() - shared];
    (shared >= 2 && rest.len() >= 2 && rest.len() <= 6 && a.iter().all(|c| is_cjk(*c)))
        .then(|| rest.iter().collect())
}

//! Words, numbers and names of questions in both languages.

use super::*;
use crate::testing::{glossary, sales, staff};

static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(|| Dictionary::new(&glossary(), &[sales(), staff()]));

fn read(question: &str) -> Lexed {
    lex(question, &DICTIONARY)
}

fn unknown(question: &str) -> Vec<String> {
    read(question).unknown
}

#[test]
fn known_questions_leave_nothing_over() {
    for question in [
        "各地区的销售额是多少？",
        "2024年华东的总销售额",
        "哪个产品卖得最好",
        "What is the average salary by department?",
        "top5 products by revenue in 2024",
        "Which department has the highest attrition rate?",
    ] {
        assert!(unknown(question).is_empty(), "{question}: {:?}", unknown(question));
    }
}

#[test]
fn what_is_not_known_is_kept() {
    assert_eq!(unknown("revenue of Atlantis"), ["atlantis"]);
    assert_eq!(unknown("亚特兰蒂斯的销售额"), ["亚特兰蒂斯"]);
}

#[test]
fn values_are_found_in_both_languages() {
    let has = |q: &str, value: &str| {
        read(q)
            .mentions
            .iter()
            .flat_map(|m| &m.meanings)
            .any(|m| matches!(m, Meaning::Value(_, v, _) if v == value))
    };
    assert!(has("华东的销售额", "华东"));
    assert!(has("revenue of east china", "华东"));
    assert!(has("女性员工", "Female"));
}

#[test]
fn slips_of_the_pen_are_mended_and_said() {
    let lexed = read("total revenue by departmnet");
    assert_eq!(lexed.mended, [("departmnet".to_owned(), "department".to_owned())]);
    assert!(lexed.unknown.is_empty());
}

#[test]
fn numbers_have_units() {
    let number = |q: &str| {
        read(q).mentions.iter().flat_map(|m| m.meanings.clone()).find_map(|m| match m {
            Meaning::Number(n) | Meaning::Percentile(n) => Some(n),
            _ => None,
        })
    };
    assert_eq!(number("销售额超过100万"), Some(1e6));
    assert_eq!(number("over 1.5k"), Some(1500.0));
    assert_eq!(number("over 12,500"), Some(12500.0));
    assert_eq!(number("boats over 15 m"), Some(15.0));
    assert_eq!(number("over $15 m"), Some(15e6));
    assert_eq!(number("over 15m"), Some(15e6));
    assert_eq!(number("前三名产品"), Some(3.0));
    assert_eq!(number("top three"), Some(3.0));
    assert_eq!(number("p90 of price"), Some(0.9));
    assert_eq!(number("销售额的90分位数"), Some(0.9));
}

#[test]
fn no_phrase_begins_inside_a_word() {
    assert!(read("stop").mentions.iter().all(|m| m.text != "top"));
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_panic_and_without_overlap(text in "\\PC{0,80}") {
        let lexed = read(&text);
        for pair in lexed.mentions.windows(2) {
            proptest::prop_assert!(pair[0].end <= pair[1].start);
        }
    }
}

#[test]
fn units_and_short_forms_name_columns() {
    use ba_protocol::file::{ColumnProfile, TableProfile};
    let column = |name: &str, kind: &str, nulls: u64| ColumnProfile {
        name: name.into(),
        kind: kind.into(),
        distinct: 600,
        nulls,
        ..ColumnProfile::default()
    };
    let columns = vec![
        column("Job #", "VARCHAR", 0),
        column("vol_hours", "DOUBLE", 0),
        column("Weight (kg)", "DOUBLE", 0),
        column("cust_class", "VARCHAR", 9),
    ];
    let profile = TableProfile { rows: 640, columns, ..TableProfile::default() };
    let glossary = glossary();
    let table = crate::table::Table::new("upload_001", "jobs.csv", &profile, &glossary);
    let dictionary = Dictionary::new(&glossary, &[table]);
    let names = |question: &str, column: usize| {
        let named = |m: &Meaning| matches!(m, Meaning::Column(at, _) if at.column == column);
        lex(question, &dictionary).mentions.iter().any(|m| m.meanings.iter().any(named))
    };
    assert!(names("total hours", 1) && names("volunteer hours per job", 1));
    assert!(names("kg per job", 2) && names("how many kilos", 2) && !names("jobs over 500 kg", 2));
    assert!(names("jobs by customer class", 3));
    let missing = |question: &str| {
        let word = Meaning::Word(Word::Missing);
        lex(question, &dictionary).mentions.iter().any(|m| m.meanings.contains(&word))
    };
    for question in
        ["jobs with no customer class", "customer class not recorded", "we don't know the customer class"]
    {
        assert!(missing(question), "{question}");
    }
    assert!(!missing("jobs by customer class") && !missing("no weight over 30 kg"));
}

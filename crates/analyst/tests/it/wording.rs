//! Classes of English wording about columns: units as nouns, short headers, class words, cells without a value, headers
//! with marks, totals over all groups.

use crate::small::{ask, bench};
use crate::support::Bench;

fn pickings() -> Bench {
    let mut text = String::from(
        "Ticket #,Pick Date,Plot,Type,Picker Class,Weight (kg),cull_kg,vol_hours,volunteers,days_to_press,fee_pct,fee_gbp,Rain?,Assignee\n",
    );
    for at in 0..24 {
        let (plot, kind) = (["North", "South"][at % 2], ["Apple", "Pear", "Plum"][at % 3]);
        let class = ["Day Team", "Night Team"][at / 12];
        let rain = if at % 4 == 0 { "yes" } else { "no" };
        let who = if at < 5 { "" } else { ["ana", "bo"][at % 2] };
        let row = format!(
            "{},2024-03-{:02},{plot},{kind},{class},{},1,{},2,{},10,{},{rain},{who}\n",
            100 + at,
            1 + at,
            10 + at,
            0.5 * at as f64,
            1 + at % 3,
            5 * (at + 1),
        );
        text.push_str(&row);
    }
    bench("pickings", &text)
}

fn holds(bench: &mut Bench, asked: &[&str], figure: &str) {
    for asked in asked {
        let said = ask(bench, asked);
        assert!(said.contains(figure), "{asked}: {said}");
    }
}

#[test]
fn a_unit_names_the_figure_measured_in_it() {
    let mut bench = pickings();
    // 10..=33 added up.
    holds(&mut bench, &["total kg?", "how many kilos did we pick", "total weight", "kg overall"], "**516**");
    holds(&mut bench, &["kg by plot", "weight by plot in kg"], "(264)");
}

#[test]
fn short_headers_are_said_in_full() {
    let mut bench = pickings();
    holds(&mut bench, &["total volunteer hours", "volunteer hours altogether"], "**138**");
    holds(&mut bench, &["average pressing time", "average time to press", "mean days to press"], "**2**");
}

#[test]
fn a_class_word_belongs_to_the_column() {
    let mut bench = pickings();
    holds(&mut bench, &["total weight by fruit type"], "**Plum** (180)");
    holds(&mut bench, &["total kg by plot name"], "(264)");
    let said = ask(&mut bench, "total weight by rural type");
    assert!(!said.contains("516"), "{said}");
}

#[test]
fn a_fee_is_an_amount_unless_a_percentage_is_said() {
    let mut bench = pickings();
    holds(&mut bench, &["total fees", "sum of the fee", "how much were the fees in total"], "**1,500**");
    holds(&mut bench, &["average fee percentage", "average fee rate"], "**10**");
}

#[test]
fn cells_without_a_value_are_told_in_many_ways() {
    let mut bench = pickings();
    let asked = [
        "how many tickets have no assignee",
        "how many tickets with no assignee listed",
        "how many tickets where the assignee is blank",
        "how many tickets have an empty assignee",
        "unassigned tickets - how many",
        "how many tickets aren't linked to any assignee",
        "how many tickets have nobody in assignee",
        "for how many tickets don't we know the assignee?",
        "how many tickets where assignee was not recorded",
    ];
    holds(&mut bench, &asked, "**5**");
}

#[test]
fn marks_in_headers_do_not_matter() {
    let mut bench = pickings();
    holds(
        &mut bench,
        &["how many tickets with rain", "how many tickets were there when rain = yes"],
        "**6**",
    );
    holds(&mut bench, &["how many tickets are there", "number of tickets in the file"], "**24**");
}

#[test]
fn a_total_across_all_groups_is_one_figure() {
    let mut bench = pickings();
    holds(
        &mut bench,
        &["total weight across all plots", "total kg across plots", "weight for all the plots together"],
        "**516**",
    );
    holds(&mut bench, &["compare total weight across plots"], "(264)");
}

#[test]
fn stuff_is_what_the_bulk_column_tells_and_its_price_is_not() {
    let mut text = String::from("Load No,Collected,Farm,Litres,Fat %,Reject Reason,Price/L\n");
    for at in 0..20 {
        let why = ["", "Too warm", "", "Dirty"][at % 4];
        text.push_str(&format!(
            "L{at},2024-05-{:02},{},100,4,{why},0.5\n",
            1 + at,
            ["Hill", "Brook"][at % 2]
        ));
    }
    let mut bench = bench("tankers", &text);
    holds(
        &mut bench,
        &["how many litres of milk did we collect", "total litres of milk", "how much cargo in total"],
        "**2,000**",
    );
    holds(&mut bench, &["how many loads were rejected over dirty"], "**5**");
    holds(&mut bench, &["average fat percentage"], "**4**");
    holds(&mut bench, &["average price per litre"], "**0.5**");
    for asked in
        ["what did the milk cost us", "how much did a litre of milk cost to make", "how much water was used"]
    {
        let said = ask(&mut bench, asked);
        assert!(!said.contains("2,000"), "{asked}: {said}");
    }
}

//! Names said by several words or by one character, opposites of flags, times told by another time, straight lines.

use std::fmt::Write as _;

use crate::small::{ask, bench};
use crate::support::{Bench, answer};

/// Two years of claims, one a month, each ten more than the one before.
fn claims() -> Bench {
    let mut text = "Claim No,Collected,Claim Date,Country,In Network,Style,Price/Case (£),Contract Price ($),scc_thousand,Hours Out,Paid ($),ordered by\n".to_owned();
    for i in 0..20 {
        let (year, month) = (2023 + i / 12, i % 12 + 1);
        let country = if i % 2 == 0 { "France" } else { "Italy" };
        let inside = if i % 4 == 0 { "No" } else { "Yes" };
        let style = ["Tires", "Brakes", "Red"][i % 3];
        let late =
            if month < 12 { format!("{year}-{:02}-05", month + 1) } else { format!("{}-01-05", year + 1) };
        let who = if i < 13 { "Rita" } else { "Ines" };
        let paid = 100 + 10 * i;
        writeln!(
            text,
            "C{i},{late},{year}-{month:02}-15,{country},{inside},{style},{},{},{i},{},{paid},{who}",
            10 + i,
            1000 + i,
            i % 5
        )
        .unwrap();
    }
    bench("claims", &text)
}

fn orders() -> Bench {
    let mut text = "单号,日期,班级,课程,门店,是否保内,备用金到账,订单数,消费金额(元),宝宝姓名\n".to_owned();
    for i in 0..24 {
        let (year, month) = (2023 + i / 12, i % 12 + 1);
        let (class, course) = (["大班", "小班"][i % 2], ["音乐", "美术", "体能"][i % 3]);
        let (inside, paid) = (if i % 3 == 0 { "否" } else { "是" }, if i % 6 == 0 { "否" } else { "是" });
        writeln!(
            text,
            "D{i},{year}-{month:02}-10,{class},{course},{}店,{inside},{paid},{},{},宝{}",
            ["东", "西"][i % 2],
            i + 1,
            100 * (i + 1),
            i % 7
        )
        .unwrap();
    }
    bench("对账", &text)
}

#[test]
fn a_straight_line_has_no_seasons() {
    let mut bench = claims();
    let said = ask(
        &mut bench,
        "Using a straight-line trend on monthly Paid, what would you forecast for September 2024?",
    );
    assert!(said.contains("2024-09") && said.contains("**300**"), "{said}");
    let said = ask(&mut bench, "If paid follows a linear trend, how much should we expect in October 2024?");
    assert!(said.contains("2024-10") && said.contains("**310**"), "{said}");
    // By the day of collection, which may reach a month further.
    let said = ask(&mut orders(), "按月消费金额的线性趋势往后推，2025年1月大概是多少？");
    assert!(said.contains("**2,500**"), "{said}");
}

#[test]
fn a_time_may_be_told_by_another() {
    let mut bench = claims();
    let said = ask(
        &mut bench,
        "By what percent did Q1 2024 paid grow over the same quarter of 2023, by claim date?",
    );
    assert!(said.contains("2024-Q1") && said.contains("2023-Q1"), "{said}");
    let earlier = ["total paid in June 2024 by claim date".to_owned()];
    let said = answer(&bench.ask(&earlier, "and the month before that?").report.content);
    assert!(said.contains("**260**"), "{said}");
    let said = ask(&mut bench, "total paid in February 2024, by collection date");
    assert!(said.contains("**220**"), "{said}");
}

#[test]
fn columns_go_by_several_words() {
    let mut bench = claims();
    assert!(ask(&mut bench, "total contract value").contains("**20,190**"));
    assert!(ask(&mut bench, "Median somatic cell count?").contains("**9.5**"));
    assert!(ask(&mut bench, "average price per case for Italian ones?").contains("**20**"));
    assert!(ask(&mut bench, "how many claims are tire?").contains("**7**"));
    assert!(ask(&mut bench, "90th percentile of paid per claim").contains("**271**"));
    assert!(ask(&mut bench, "who ordered the most?").contains("**Rita**"));
}

#[test]
fn a_flag_has_an_opposite() {
    let mut bench = claims();
    assert!(ask(&mut bench, "how many out-of-network claims?").contains("**5**"));
    assert!(ask(&mut bench, "how many claims, In Network = No").contains("**5**"));
    assert!(ask(&mut bench, "total paid, tires excluded").contains("**2,570**"));
    let mut bench = orders();
    assert!(ask(&mut bench, "保外的有多少条记录").contains("**8**"));
    assert!(ask(&mut bench, "备用金没到账的有多少条记录").contains("**4**"));
}

#[test]
fn one_character_names_a_column() {
    let mut bench = orders();
    assert!(ask(&mut bench, "各班的消费金额").contains("**小班**"));
    assert!(ask(&mut bench, "哪门课的消费金额最高").contains("**体能**"));
    assert!(ask(&mut bench, "一共有多少个宝宝").contains("**7**"));
    assert!(ask(&mut bench, "2023年一共多少单").contains("**78**"));
}

#[test]
fn two_values_are_told_apart() {
    let said = ask(&mut orders(), "大班的消费金额比小班变化了百分之多少");
    assert!(said.contains("+8.33%") && said.contains("-7.69%"), "{said}");
    assert!(ask(&mut claims(), "How many claims are from France or Italy?").contains("**20**"));
}

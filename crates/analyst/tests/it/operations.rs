//! Operations over time, rows and groups: each must be part of the answer, or there is none.

use crate::small::{ask, bench};
use crate::support::{Bench, answer};

fn gifts() -> Bench {
    bench(
        "gifts",
        "gift_id,gift_date,donor_id,state,amount,matched_amount\nG1,2022-03-05,D1,Ohio,100,0\nG2,2022-07-09,D2,Utah,50,10\nG3,2023-01-20,D1,Ohio,200,0\nG4,2023-07-02,D3,Ohio,40,20\nG5,2023-08-11,D2,Utah,60,0\nG6,2024-01-15,D4,Utah,500,0\nG7,2024-03-08,D1,Ohio,30,30\nG8,2024-07-21,D5,Ohio,80,0\nG9,2024-08-02,D3,Utah,70,0\n",
    )
}

fn shop() -> Bench {
    bench(
        "门店销售",
        "销售日期,小票号,门店,会员号,年龄,销售额\n2023-07-03,T1,东店,M1,20,100\n2023-08-05,T2,西店,M2,31,100\n2024-06-09,T3,东店,M1,20,50\n2024-07-11,T4,西店,M3,44,150\n2024-08-21,T5,东店,M4,52,130\n",
    )
}

#[test]
fn times_listed_together_are_added_up() {
    assert!(ask(&mut gifts(), "amount in July and August 2023 in total").contains("**100**"));
    assert!(ask(&mut gifts(), "Total amount in July and August 2023").contains("**100**"));
    let said = ask(&mut shop(), "2024年7月和8月合计销售额同比增长率是多少");
    assert!(said.contains("280") && said.contains("+40%"), "{said}");
    let said = answer(&gifts().ask(&[], "amount in January, March and July 2024").report.content);
    assert!(said.contains("2024-01 / 2024-03 / 2024-07"), "{said}");
}

#[test]
fn a_period_is_compared_with_its_own_past() {
    let mut bench = gifts();
    let to_date = "Year to date, by what percentage is the amount up on the same period last year?";
    // 2023-01-01 to 2023-08-02 against 2024-01-01 to 2024-08-02.
    assert!(ask(&mut bench, to_date).contains("680") && ask(&mut bench, to_date).contains("240"));
    let before = ask(&mut bench, "How did the amount in 2023 compare with the year before?");
    assert!(before.contains("**300** in 2023, 150 in 2022"), "{before}");
    assert!(ask(&mut shop(), "2024年6月到8月销售额同比").contains("+65%"));
}

#[test]
fn a_time_may_be_the_part_of_a_share() {
    assert!(ask(&mut gifts(), "What share of the 2024 amount came in January 2024?").contains("**73.53%**"));
    assert!(ask(&mut gifts(), "what percentage of the total amount came in 2022").contains("**13.27%**"));
}

#[test]
fn the_largest_row_is_no_group() {
    let said = ask(&mut gifts(), "Which donor gave the largest gift?");
    assert!(said.contains("**D4**") && said.contains("**500**"), "{said}");
    let said = ask(&mut shop(), "最大和最小的销售额分别是多少");
    assert!(said.contains("**150**") && said.contains("**50**"), "{said}");
    let said = ask(&mut gifts(), "smallest and largest amount?");
    assert!(said.contains("**500**") && said.contains("**30**"), "{said}");
}

#[test]
fn newcomers_are_counted_once() {
    let mut bench = gifts();
    assert!(ask(&mut bench, "how many new donors in 2024?").contains("**2**"));
    let full = bench.ask(&[], "Take the year of each donor's first gift: how many donors each year?");
    let full = full.report.content;
    assert!(full.contains("| 2022 | 2 |") && full.contains("| 2023 | 1 |"), "{full}");
    assert!(ask(&mut shop(), "2024年新增会员有多少").contains("**2**"));
}

#[test]
fn a_follow_up_keeps_the_year() {
    let mut bench = gifts();
    let earlier = ["amount in the first half of 2023".to_owned()];
    let said = answer(&bench.ask(&earlier, "And in the second half?").report.content);
    assert!(said.contains("**100**") && said.contains("2023-H2"), "{said}");
}

#[test]
fn a_mean_per_period_is_of_its_sums() {
    assert!(ask(&mut gifts(), "On average how many gifts a year do we get?").contains("**3**"));
    assert!(ask(&mut gifts(), "how much amount do we get a year?").contains("**376.67**"));
    assert!(ask(&mut gifts(), "median gift amount overall").contains("**70**"));
}

fn works() -> Bench {
    bench(
        "time_entries",
        "entry_id,work_date,lawyer,office,billable,hours,discount_pct,late_fee\nE1,2024-01-03,Tran,Leeds,yes,5,10,0\nE2,2024-01-04,Tran,Leeds,no,1,0,15\nE3,2024-02-05,Kemp,York,yes,3,,0\nE4,2024-02-06,Kemp,York,yes,1,20,5\n",
    )
}

#[test]
fn a_flag_beside_a_figure_narrows_it() {
    let mut bench = works();
    assert!(ask(&mut bench, "how many billable hours do we have in total?").contains("**9**"));
    assert!(ask(&mut bench, "What percentage of hours is billable?").contains("**90%**"));
    let both = ask(&mut bench, "How many entries are billable, and what share is that?");
    assert!(both.contains("3 of 4") && both.contains("**75%**"), "{both}");
}

#[test]
fn having_some_of_a_figure_is_a_condition() {
    let mut bench = works();
    assert!(ask(&mut bench, "How many entries had a late fee?").contains("**2**"));
    assert!(ask(&mut bench, "how many entries have a discount pct above 5%").contains("**2**"));
    assert!(ask(&mut bench, "How many hours were worked by lawyers in Leeds?").contains("**6**"));
    let mut shop = shop();
    assert!(ask(&mut shop, "31岁以上（不含31岁）的销售额一共多少").contains("**280**"));
    assert!(ask(&mut shop, "东店和西店一共卖了多少销售额").contains("**530**"));
    assert!(ask(&mut shop, "单笔销售额最高的是哪一单").contains("T4"));
}

#[test]
fn groups_are_counted_by_how_often_they_come_up() {
    let mut bench = gifts();
    assert!(ask(&mut bench, "How many donors gave more than 2 times?").starts_with("**1** "));
    let half = ask(&mut bench, "how many donors make up half of the amount?");
    assert!(half.contains("top **2** of 5"), "{half}");
    assert!(ask(&mut bench, "the two donors with the highest amount").contains("**D1** (330)"));
}

#[test]
fn a_figure_of_the_described_table_is_not_multiplied_by_a_join() {
    let folder = std::env::temp_dir().join(format!("ba-analyst-join-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let parties = folder.join("parties.csv");
    let dishes = folder.join("dishes.csv");
    std::fs::write(&parties, "party_no,area,guests\nP1,Garden,4\nP2,Hall,2\nP3,Hall,6\n").unwrap();
    std::fs::write(
        &dishes,
        "dish_no,party_no,dish,price\n1,P1,Soup,5\n2,P1,Fish,9\n3,P2,Soup,5\n4,P3,Soup,5\n",
    )
    .unwrap();
    let mut bench = Bench::new();
    bench.load(&[parties.display().to_string(), dishes.display().to_string()]);
    let said = ask(&mut bench, "How many guests had soup in the garden?");
    assert!(!said.contains("**8**"), "{said}");
    assert!(ask(&mut bench, "sum of price by area").contains("**Garden** (14)"));
    assert!(ask(&mut bench, "how many guests in the Hall?").contains("**8**"));
    std::fs::remove_dir_all(folder).unwrap_or_default();
}

#[test]
fn a_figure_may_be_defined_in_the_question() {
    let mut bench = bench(
        "运营日报",
        "日期,线路,发车班次,准点班次,票款收入(元),成本(元)\n2024-01-01,1路,10,9,100,60\n2024-01-02,1路,10,8,120,70\n2024-01-01,2路,20,10,200,150\n",
    );
    assert!(ask(&mut bench, "哪条线路准点率最差？准点率=准点班次÷发车班次").contains("**2路**"));
    assert!(ask(&mut bench, "毛利一共多少，毛利就是票款收入减成本").contains("**140**"));
    assert!(ask(&mut bench, "what is 发车班次 times 成本 in total?").contains("4,300"));
}

//! Words that could change a figure are understood, or there is no figure.

use crate::bad_input::table;
use crate::small::{ask, bench};
use crate::support::{Bench, answer};

fn tasks() -> Bench {
    let text = "任务编号,负责人,计划工时,实际工时,优先级,状态\nT1,陈静,5,8,高,已完成\nT2,陈静,6,4,中,未开始\nT3,刘洋,9,9,高,已延期\nT4,刘洋,7,10,低,已完成\n";
    bench("tasks", text)
}

#[test]
fn a_negation_is_never_lost() {
    let mut bench = tasks();
    assert!(ask(&mut bench, "未完成的任务有多少").contains("**2**"));
    assert!(ask(&mut bench, "没开始的任务有多少").contains("**1**"));
    assert!(!ask(&mut bench, "没有交付的任务有多少").contains("**"));
}

#[test]
fn one_unknown_character_is_enough_to_refuse() {
    let mut bench = tasks();
    assert!(!ask(&mut bench, "各险种的实际工时").contains("**"));
}

#[test]
fn a_common_word_is_a_value_only_beside_its_column() {
    let mut bench = tasks();
    assert!(ask(&mut bench, "高优先级任务的实际工时合计").contains("**17**"));
    assert!(ask(&mut bench, "实际工时最高的负责人").contains("**刘洋**"));
}

#[test]
fn columns_are_compared_and_averages_are_no_bounds() {
    let mut bench = tasks();
    assert!(ask(&mut bench, "实际工时超过计划工时的任务有多少").contains("**2**"));
    assert!(!ask(&mut bench, "how many tasks have 实际工时 above average?").contains("**"));
}

#[test]
fn rates_of_values_and_figures_per_unit() {
    let mut bench = tasks();
    assert!(ask(&mut bench, "完成率是多少").contains("**50%**"));
    assert!(ask(&mut bench, "实际工时占计划工时的比例").contains("**114.81%**"));
    assert!(!ask(&mut bench, "实际工时 per mile").contains("**"));
}

// What the page offers with the sample data.
#[test]
fn to_show_a_chart_is_no_column() {
    let mut bench = tasks();
    assert!(ask(&mut bench, "各负责人的实际工时是多少？用图表展示").contains("**刘洋**"));
}

fn trips() -> Bench {
    let text = "trip_ref,dep_date,driver,dist_km,freight_charge_eur,punctuality\nT1,2024-01-03,Ortiz,100,250,on time\nT2,2024-01-09,Ortiz,1200,900,late\nT3,2024-02-01,Nguyen,300,410,on time\nT4,2024-02-11,Petrov,80,120,on time\n";
    let (folder, bench) = table("haulage", text);
    std::fs::remove_dir_all(folder).unwrap_or_default();
    bench
}

#[test]
fn a_verb_is_passed_over_and_said_so() {
    let mut bench = trips();
    let report = bench.ask(&[], "How many kilometres did Ortiz trundle?").report.content;
    assert!(answer(&report).contains("**1,300**"), "{report}");
    assert!(report.contains("“trundle” was not understood"), "{report}");
    assert!(!ask(&mut bench, "How many trips did Ortiz reject?").contains("**"));
    assert!(!ask(&mut bench, "How many trips did Ortiz not trundle?").contains("**"));
}

#[test]
fn units_and_money_name_their_column() {
    let mut bench = trips();
    assert!(ask(&mut bench, "How many trips were longer than 250 km?").contains("**2**"));
    assert!(ask(&mut bench, "How much did we take in January 2024?").contains("**1,150**"));
    assert!(ask(&mut bench, "What do we charge per km?").contains("**1**"));
    assert!(!ask(&mut bench, "How many tonnes did we carry?").contains("**"));
}

#[test]
fn a_rate_is_of_something_or_nothing() {
    let mut bench = trips();
    assert!(ask(&mut bench, "What is the on-time rate?").contains("**75%**"));
    assert!(!ask(&mut bench, "What is the breakage rate?").contains("**"));
}

#[test]
fn what_happened_is_meant_and_not_what_was_planned() {
    let mut bench = bench(
        "生产日报",
        "日期,车间,计划产量(米),实际产量(米)\n2024-01-01,一车间,100,90\n2024-01-02,一车间,100,95\n2024-01-01,二车间,80,70\n",
    );
    assert!(ask(&mut bench, "总产量是多少").contains("**255**"));
    assert!(ask(&mut bench, "计划产量一共多少").contains("**280**"));
}

#[test]
fn a_group_is_called_by_its_name_unless_numbers_are_asked_for() {
    let mut bench = bench(
        "leaders",
        "leader_id,leader_name,week,orders\nL1,Ann,1,10\nL2,Bob,1,30\nL1,Ann,2,15\nL2,Bob,2,5\nL3,Cid,2,50\nL3,Cid,1,1\n",
    );
    assert!(ask(&mut bench, "which leader had the most orders?").contains("**Cid**"));
    assert!(ask(&mut bench, "which leader id had the most orders?").contains("**L3**"));
    let who = ask(&mut bench, "who had the most orders by leader?");
    assert!(who.contains("**Cid**") && !who.contains("Cid · Cid"), "{who}");
}

#[test]
fn where_each_row_is_one_thing_sold_its_price_is_what_came_in() {
    let mut bench = bench(
        "car_sales",
        "Stock #,Model,Sale Price ($),Sale Date,Lot,Warranty ($)\nU1,Escape,10000,2024-01-03,Main St,500\nU2,F-150,30000,2024-01-09,Main St,\nU3,F-150,20000,2024-02-11,Airport Rd,\n",
    );
    assert!(ask(&mut bench, "how many cars did we sell in January 2024?").contains("**2**"));
    assert!(ask(&mut bench, "sales revenue by lot").contains("40,000"));
    assert!(ask(&mut bench, "average sale price").contains("**20,000**"));
    assert!(ask(&mut bench, "number of sales for Airport Rd").contains("**1**"));
}

//! Classes of questions Chinese users ask about schools, housing and workshops: marks, people, homes, debts, kinds.

use crate::small::{ask, bench};
use crate::support::Bench;

fn marks() -> Bench {
    let mut text = String::from("学号,姓名,班级,科目,考试名称,分数,是否缺考\n");
    let people =
        [("S01", "林浩", "一班"), ("S02", "朱桐", "一班"), ("S03", "董晨", "二班"), ("S04", "黄馨", "二班")];
    for (at, (id, name, class)) in people.iter().enumerate() {
        for (subject, base) in [("数学", 50), ("语文", 70)] {
            for (exam, more) in [("期中考试", 0), ("期末考试", 5)] {
                let missed = if at == 0 { "是" } else { "否" };
                let mark = base + more + 10 * at + 1;
                text.push_str(&format!("{id},{name},{class},{subject},{exam},{mark},{missed}\n"));
            }
        }
    }
    bench("成绩", &text)
}

fn fees() -> Bench {
    bench(
        "收费明细",
        "账期,楼栋,房号,应收金额,实收金额,欠费金额,是否欠费,缴费日期\n2024-01,1号楼,1-101,100,100,0,否,2024-01-08\n2024-02,1号楼,1-101,100,0,100,是,\n2024-03,1号楼,1-101,100,0,100,是,\n2024-01,1号楼,1-102,100,100,0,否,2024-01-09\n2024-02,1号楼,1-102,100,100,0,否,2024-02-09\n2024-03,1号楼,1-102,100,100,0,否,2024-05-11\n2024-01,2号楼,2-101,150,0,150,是,\n",
    )
}

fn workshop() -> Bench {
    bench(
        "维修工单",
        "工单号,进厂日期,维修类型,是否保险理赔,工时费,配件费,总金额\nG1,2024-01-02,常规保养,否,10,20,30\nG2,2024-02-02,常规保养,否,10,20,30\nG3,2024-03-02,机电维修,是,50,50,100\nG4,2024-05-02,钣金喷漆,是,100,40,140\n",
    )
}

#[test]
fn marks_bound_the_only_column_of_marks() {
    let mut bench = marks();
    assert!(ask(&mut bench, "期末数学考了70分及以上的有多少人？").contains("**2**"));
    assert!(ask(&mut bench, "期末语文不足80分的有多少人次").contains("**1**"));
    assert!(ask(&mut bench, "80分以下人次最多的是哪个科目？").contains("**数学**"));
    assert!(ask(&mut bench, "期中数学低于70分的学生有多少").contains("**2**"));
    assert!(ask(&mut bench, "期末数学70分以上的比例").contains("**50%**"));
    assert!(ask(&mut bench, "期中考试语文的最高分数").contains("**101**"));
}

#[test]
fn a_part_of_a_value_is_never_lost() {
    let mut bench = marks();
    assert!(ask(&mut bench, "期末语文平均分").contains("期末考试"));
    let mut bench = workshop();
    assert!(ask(&mut bench, "保养有多少单").contains("**2**"));
    assert!(ask(&mut bench, "保养的单子占多少比例？").contains("**50%**"));
}

#[test]
fn people_are_counted_once_and_called_by_name() {
    let mut bench = marks();
    let each = bench.ask(&[], "每个班各有多少学生").report.content;
    assert!(each.contains("| 一班 | 2 |") && each.contains("| 二班 | 2 |"), "{each}");
    assert!(ask(&mut bench, "哪个班的平均分最高").contains("**二班**"));
    assert!(ask(&mut bench, "有多少人缺考").contains("**1**"));
    assert!(ask(&mut bench, "缺考了多少人次").contains("**4**"));
    assert!(ask(&mut bench, "总分前两名的学生是谁").contains("黄馨"));
    let each = bench.ask(&[], "各有多少人？按班级").report.content;
    assert!(each.contains("| 一班 | 2 |"), "{each}");
    assert!(ask(&mut bench, "期末考试一共多少人").contains("**4**"));
}

#[test]
fn debts_are_added_up_and_homes_counted_once() {
    let mut bench = fees();
    assert!(ask(&mut bench, "哪栋楼欠费金额最多").contains("**1号楼**（200）"));
    assert!(ask(&mut bench, "有多少户欠过费？按房号算").contains("**2**"));
    assert!(ask(&mut bench, "有多少户欠费").contains("**2**"));
    assert!(ask(&mut bench, "一共欠费多少钱").contains("**350**"));
    assert!(ask(&mut bench, "1号楼收了多少钱").contains("**400**"));
    let each = bench.ask(&[], "各楼栋欠费户数").report.content;
    assert!(each.contains("| 1号楼 | 1 |"), "{each}");
    assert!(ask(&mut bench, "整体收缴率是多少？就是实收金额除以应收金额").contains("**53.33%**"));
}

#[test]
fn months_said_once_make_a_range_over_the_date_all_rows_have() {
    let mut bench = fees();
    assert!(ask(&mut bench, "今年1到2月一共应收多少钱").contains("**550**"));
    let mut bench = workshop();
    assert!(ask(&mut bench, "1-3月的总金额").contains("**160**"));
    assert!(ask(&mut bench, "2024年2至5月的总金额").contains("**270**"));
    assert!(ask(&mut bench, "店里总共收了多少钱？").contains("**300**"));
    assert!(!ask(&mut bench, "我们店的净利润是多少？").contains("**"));
}

#[test]
fn rows_and_columns_go_by_short_and_everyday_names() {
    let mut dairy = bench(
        "milk_tests",
        "record_id,cow_id,test_date,milk_kg,donated_kg\nR1,C1,2024-01-05,20,0\nR2,C2,2024-01-06,25,3.5\nR3,C1,2024-02-05,30,14\n",
    );
    assert!(ask(&mut dairy, "How many different cows were tested?").contains("**2**"));
    assert!(ask(&mut dairy, "How many kg were donated in 2024?").contains("**17.5**"));
    let said = ask(&mut dairy, "Can you break milk down by cow?");
    assert!(said.contains("**C1** (50)"), "{said}");
    let mut cars = bench(
        "二手车台账",
        "车源编号,收车日期,品牌,收车价(万元),成交价(万元)\nC1,2024-01-05,本田,8,9\nC2,2024-01-06,丰田,12,13\nC3,2024-02-06,丰田,15,17\n",
    );
    assert!(ask(&mut cars, "收车价在10万到20万之间的车有多少台").contains("**2**"));
    let mut sun = bench("光伏日发电", "日期,电站,发电量(kWh)\n2024-01-05,东站,100\n2024-01-06,西站,200\n");
    assert!(ask(&mut sun, "总共发了多少电？").contains("**300**"));
}

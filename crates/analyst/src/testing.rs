//! Tables for the unit tests of this crate.

use ba_protocol::file::{ColumnProfile, TableProfile, TopValue};
use serde_json::json;

use crate::glossary::Glossary;
use crate::table::Table;

fn column(name: &str, kind: &str, distinct: u64, top: &[&str]) -> ColumnProfile {
    let top = top.iter().map(|v| TopValue { value: (*v).into(), count: 10 }).collect();
    ColumnProfile { name: name.into(), kind: kind.into(), distinct, top, ..ColumnProfile::default() }
}

fn dated(name: &str) -> ColumnProfile {
    ColumnProfile {
        min: Some(json!("2023-01-01")),
        max: Some(json!("2024-12-31")),
        ..column(name, "DATE", 700, &[])
    }
}

/// A Chinese sales table.
pub fn sales() -> Table {
    let columns = vec![
        column("订单号", "VARCHAR", 5000, &[]),
        dated("订单日期"),
        column("地区", "VARCHAR", 5, &["华东", "华南", "华北", "华中", "西南"]),
        column("产品类别", "VARCHAR", 3, &["电子产品", "服装", "食品"]),
        column("产品", "VARCHAR", 4, &["手机", "T恤", "坚果", "耳机"]),
        column("客户ID", "VARCHAR", 800, &[]),
        column("单价", "DOUBLE", 40, &[]),
        column("数量", "BIGINT", 9, &[]),
        column("销售额", "DOUBLE", 3000, &[]),
        column("成本", "DOUBLE", 3000, &[]),
        column("利润", "DOUBLE", 3000, &[]),
        column("是否退货", "VARCHAR", 2, &["是", "否"]),
    ];
    let profile = TableProfile { name: "upload_001".into(), rows: 5000, columns, ..TableProfile::default() };
    Table::new("upload_001", "retail.csv", &profile, &glossary())
}

/// An English staff table.
pub fn staff() -> Table {
    let columns = vec![
        column("employee_id", "VARCHAR", 300, &[]),
        column("name", "VARCHAR", 300, &[]),
        column("department", "VARCHAR", 4, &["Engineering", "Sales", "Finance", "Support"]),
        column("gender", "VARCHAR", 2, &["Male", "Female"]),
        column("age", "BIGINT", 40, &[]),
        column("annual_salary", "DOUBLE", 280, &[]),
        dated("hire_date"),
        column("attrition", "VARCHAR", 2, &["Yes", "No"]),
    ];
    let profile = TableProfile { name: "upload_002".into(), rows: 300, columns, ..TableProfile::default() };
    Table::new("upload_002", "hr.csv", &profile, &glossary())
}

pub fn glossary() -> Glossary {
    Glossary::built_in().unwrap()
}

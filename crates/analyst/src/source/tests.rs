//! Schemas and facts as the tools write them, made into tables.

use super::*;
use crate::table::{DateForm, Kind, Role};

fn grid(text: &str) -> Grid {
    crate::observe::grid(&format!("<tool_result name=\"query_database\">\n[c] x\n{text}\n</tool_result>"))
        .unwrap()
}

fn shop() -> Grid {
    grid(
        "table,rows,about,column,type,key,comment\norders,5,销售订单,id,INTEGER,PK,\norders,5,销售订单,sold,TEXT,,\norders,5,销售订单,je,REAL,,金额（元）\norders,5,销售订单,photo,BLOB,,\nstock,,,n,INTEGER,,",
    )
}

#[test]
fn a_schema_is_read_table_by_table() {
    let found = described(&shop());
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].rows, found[0].columns.len(), found[1].rows), (Some(5), 4, None));
    let cut = Grid { cut: true, ..shop() };
    assert_eq!(described(&cut).len(), 1, "a table that may not be whole is left out");
    assert!(described(&grid("a\n1")).is_empty());
    assert!(relevance(&found[0], "订单金额合计") > relevance(&found[1], "订单金额合计"));
}

#[test]
fn what_a_sqlite_column_holds_counts_and_not_its_type() {
    let glossary = Glossary::built_in().unwrap();
    let shop_db = Connection { name: "shop".into(), dialect: Dialect::Sqlite };
    let orders = &described(&shop())[0];
    let sql = facts_sql(orders, Dialect::Sqlite);
    assert!(!sql.contains("photo") && sql.contains("count(date(\"sold\")) AS k1"), "{sql}");
    let facts = |k1: u32| {
        grid(&format!(
            "n,f0,d0,a0,b0,q0,k0,f1,d1,a1,b1,q1,k1,f2,d2,a2,b2,q2,k2\n5,5,5,1,5,5,5,5,4,2024-01-03,2024-03-01,0,{k1},4,3,1.5,9,4,4"
        ))
    };
    let read = |k1| table(&shop_db, orders, Some(&facts(k1)), Lang::Zh, &glossary);
    let all = read(5);
    assert_eq!(all.columns[1].kind, Kind::Date(DateForm::Native));
    assert_eq!((all.columns[2].role, all.columns[2].name.as_str()), (Role::Measure, "je"));
    assert!(all.columns[2].words.contains("金额"), "{}", all.columns[2].words);
    assert_eq!((all.rows, all.columns[2].nulls, all.rows_called.as_str()), (5, 1, "销售订单"));
    assert_eq!(read(4).columns[1].kind, Kind::Text, "one that is no date makes them text");
}

#[test]
fn types_of_every_engine_are_known() {
    for (declared, dialect, class) in [
        ("numeric(20,4)", Dialect::Postgres, Class::Number),
        ("timestamp with time zone", Dialect::Postgres, Class::Timestamp),
        ("interval", Dialect::Postgres, Class::Other),
        ("order_status", Dialect::Postgres, Class::Text),
        ("text[]", Dialect::Postgres, Class::Other),
        ("bigint unsigned", Dialect::MySql, Class::Integer),
        ("tinyint(1)", Dialect::MySql, Class::Integer),
        ("enum('int','b')", Dialect::MySql, Class::Text),
        ("datetime(3)", Dialect::MySql, Class::Timestamp),
        ("mediumint(9)", Dialect::MySql, Class::Integer),
        ("", Dialect::Sqlite, Class::Text),
    ] {
        assert_eq!(class_of(declared, dialect), class, "{declared}");
    }
}

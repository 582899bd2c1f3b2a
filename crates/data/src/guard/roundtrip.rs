//! Ordinary analytics in every dialect passes the guard and means the same after it: what is sent, checked again, is itself.

use super::{Dialect, check};

const EVERYWHERE: &[&str] = &[
    "SELECT region, sum(amount) AS s, count(DISTINCT id), avg(price) FROM sales WHERE amount BETWEEN 1 AND 9 GROUP BY region HAVING sum(amount) > 10 ORDER BY s DESC, region LIMIT 10",
    "SELECT a.x, b.y FROM a LEFT JOIN b ON a.id = b.id INNER JOIN c ON c.id = b.id CROSS JOIN d WHERE a.x IN (1, 2, 3) AND b.y NOT IN (SELECT y FROM e)",
    "WITH t AS (SELECT id, row_number() OVER (PARTITION BY region ORDER BY amount DESC) AS n FROM sales) SELECT * FROM t WHERE n <= 3",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT * FROM r",
    "SELECT CASE WHEN amount > 10 THEN 'big' WHEN amount IS NULL THEN '' ELSE 'small' END AS size, coalesce(a, b, 0), nullif(a, 0) FROM t",
    "SELECT sum(amount) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW), lag(amount, 1) OVER (ORDER BY day), rank() OVER w FROM t WINDOW w AS (ORDER BY amount)",
    "SELECT * FROM a UNION ALL SELECT * FROM b EXCEPT SELECT * FROM c",
    "SELECT count(*) FROM t WHERE name LIKE '%销售%' AND NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id) OR (a = 1 AND b <> 2)",
    "SELECT upper(lower(trim(name))), replace(name, 'a', 'b'), substr(name, 1, 3), length(name), round(1.5, 1), abs(-1), - -x, -(-x) FROM t",
    "SELECT 'it''s', '', ' -- no comment', '/* nor this */', 'a;b', '”“', '\u{1F600}' FROM t",
    "SELECT x FROM t WHERE a = :a AND b IN (:ids) AND c NOT IN (:ids) AND d > :least",
    "SELECT CAST(a AS INTEGER), CAST(b AS DECIMAL(10,2)), CAST(c AS DATE) FROM t LIMIT 5 OFFSET 10",
    "SELECT x, (SELECT max(y) FROM u WHERE u.x = t.x) AS m FROM (SELECT DISTINCT x FROM t) AS t",
    "SELECT \"地区\", \"金额\" FROM \"销售明细\" AS b WHERE b.\"金额\" >= 1e3 AND a % 2 = 1",
];

/// ClickHouse knows such names in quotes only.
const WIDE: &[&str] = &[
    "SELECT 地区, 金额 FROM 销售明细 AS 表 WHERE 表.金额 >= 1e3 AND a % 2 = 1",
    "SELECT x FROM t WHERE d > :最小",
];

const POSTGRES: &[&str] = &[
    "SELECT date_trunc('month', at)::date AS m, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount), corr(a, b), stddev_samp(a), regr_slope(a, b) FROM t GROUP BY 1",
    "SELECT sum(a) FILTER (WHERE b), string_agg(x, ',' ORDER BY x), array_agg(DISTINCT x) FROM t GROUP BY GROUPING SETS ((a), (b), ())",
    "SELECT info->'a'->>'b', info #>> '{x,y}', info @> '{\"k\": 1}', jsonb_array_length(info->'l'), tags[1:2], ARRAY[1,2] || 3 FROM t WHERE info ? 'k'",
    "SELECT DISTINCT ON (region) * FROM t ORDER BY region, at DESC NULLS LAST FETCH FIRST 3 ROWS ONLY",
    "SELECT at AT TIME ZONE 'Asia/Shanghai', now() - INTERVAL '7 days', extract(dow FROM at), to_char(at, 'YYYY-MM'), age(at) FROM t",
    "SELECT d::date, count(s.id) FROM generate_series('2024-01-01'::date, '2024-12-01', '1 month') AS d LEFT JOIN LATERAL (SELECT id FROM s WHERE s.day = d) AS s ON true GROUP BY 1",
    "SELECT regexp_replace(name, '\\d+', ''), name ~* 'a.b', name ILIKE '%x%', name SIMILAR TO '(a|b)%', split_part(a, '-', 2), position('a' IN b), overlay(a PLACING 'x' FROM 2) FROM t",
    "SELECT E'tab\\there', $$it's$$, U&'\\9500', B'101', x.* FROM unnest(ARRAY['a','b']) WITH ORDINALITY AS x(v, n)",
    "SELECT a IS DISTINCT FROM b, a::numeric(10,2), \"Odd \"\"Name\"\"\", pg_catalog.count(*) FROM \"Schema\".\"T\" TABLESAMPLE BERNOULLI (10)",
    "SELECT width_bucket(a, 0, 100, 10), ntile(4) OVER (ORDER BY a), (a).b, row_to_json(t), to_jsonb(t) FROM t WHERE (a, b) IN ((1, 2)) AND a = ANY(:ids)",
    "SELECT '\\''', 'a\\', 'b' FROM t",
    "EXPLAIN SELECT 1",
    "VALUES (1, 'a'), (2, 'b')",
];

const MYSQL: &[&str] = &[
    "SELECT DATE_FORMAT(`at`, '%Y-%m') AS m, GROUP_CONCAT(DISTINCT a ORDER BY b SEPARATOR ', '), IFNULL(a, 0), IF(a > 1, 'y', 'n') FROM `sales` GROUP BY 1 WITH ROLLUP",
    "SELECT DATE_ADD(d, INTERVAL 1 DAY), DATE_SUB(NOW(), INTERVAL 7 DAY), TIMESTAMPDIFF(MONTH, a, b), YEAR(d), WEEKDAY(d), STR_TO_DATE(s, '%d/%m/%Y') FROM t",
    "SELECT info->'$.a', info->>'$.b', JSON_EXTRACT(info, '$.c[0]'), JSON_LENGTH(info), a <=> b, a DIV 2, a XOR b, x REGEXP '^[0-9]+\\\\.' FROM t",
    "SELECT \"it's\", 'a\\'b', 'tab\\t', 'wild\\%', 'back\\\\', X'4142' FROM t LIMIT 2, 5",
    "SELECT CONVERT(a USING utf8mb4), CAST(b AS UNSIGNED), CAST(c AS CHAR), STD(a), VAR_POP(a), @@session.sql_mode FROM t",
    "SHOW TABLES",
    "SHOW CREATE TABLE `t`",
    "SELECT * FROM t USE INDEX (i) WHERE a = 1",
];

const SQLITE: &[&str] = &[
    "SELECT strftime('%Y-%m', at) AS m, total(amount), group_concat(name, ';'), julianday(b) - julianday(a), iif(a > 1, 'y', 'n') FROM t GROUP BY 1",
    "SELECT json_extract(info, '$.a'), info ->> 'b', e.value FROM t, json_each(t.info, '$.l') AS e WHERE typeof(a) = 'text' AND b GLOB 'a*'",
    "SELECT [odd name], `tick`, \"quote\"\"d\" FROM t WHERE a == 1 AND b IS NOT NULL ORDER BY c COLLATE NOCASE",
    "SELECT printf('%.2f', a), instr(a, 'b'), date('now', '-7 days'), CAST(a AS REAL), a || b FROM t",
];

const SPARK: &[&str] = &[
    "SELECT date_trunc('month', at) AS m, percentile_approx(amount, 0.5), count_if(ok), collect_set(region), date_format(at, 'yyyy-MM') FROM sales GROUP BY 1",
    "SELECT transform(tags, x -> upper(x)), filter(ids, i -> i > 1), tags[0], map('a', 1)['a'], named_struct('a', 1).a, size(tags) FROM `销售明细`",
    "SELECT region, explode(tags) FROM sales",
    "SELECT datediff(b, a), add_months(a, 1), current_date() - INTERVAL '7' DAY, CAST(x AS STRING), try_divide(a, b), a <=> b FROM default.t",
    "SELECT 'it\\'s', \"double 'quoted'\", 'tab\\t', 'back\\\\slash', '100\\%', 'two''s' FROM t",
    "SELECT * FROM t WHERE name RLIKE '^a.*' AND b IN (SELECT b FROM u) ORDER BY 1 NULLS LAST LIMIT 5",
    "SELECT sum(x) FILTER (WHERE y > 1), median(x), stddev_samp(x) FROM t GROUP BY GROUPING SETS ((a), (b))",
    "SELECT id FROM range(3)",
];

const TRINO: &[&str] = &[
    "SELECT date_trunc('month', at) AS m, approx_percentile(amount, 0.5), count_if(ok), array_agg(DISTINCT x ORDER BY x), date_format(at, '%Y-%m') FROM hive.sales.orders GROUP BY 1",
    "SELECT transform(tags, x -> upper(x)), tags[1], element_at(m, 'a'), cardinality(tags), ARRAY[1, 2] FROM \"销售明细\"",
    "SELECT date_diff('day', a, b), at AT TIME ZONE 'Asia/Shanghai', now() - INTERVAL '7' DAY, CAST(x AS VARCHAR), try_cast(x AS bigint) FROM t",
    "SELECT x, n FROM t CROSS JOIN UNNEST(tags) WITH ORDINALITY AS u (x, n)",
    "SELECT sum(x) FILTER (WHERE y > 1), stddev_samp(x), max_by(a, b), json_extract_scalar(j, '$.a') FROM t GROUP BY GROUPING SETS ((a), (b), ())",
    "SELECT 'a\\', 'b' FROM t FETCH FIRST 3 ROWS ONLY",
];

const CLICKHOUSE: &[&str] = &[
    "SELECT toStartOfMonth(at) AS m, sumIf(amount, ok = 1), quantile(0.95)(amount), uniqExact(user), topK(3)(region), argMax(a, b) FROM t FINAL PREWHERE day > '2024-01-01' WHERE a = 1 GROUP BY m ORDER BY m LIMIT 3 BY m",
    "SELECT arrayMap(x -> x * 2, [1, 2]), arrayJoin(tags), JSONExtractString(info, 'a'), dateDiff('day', a, b), formatDateTime(at, '%Y-%m'), toDecimal64(a, 2), if(a > 1, 'y', 'n'), multiIf(a = 1, 'x', 'y') FROM t",
    "SELECT number FROM numbers(10)",
    "SELECT countIf(a > 1) / count() AS share, groupArray(x), countDistinct(y), toYYYYMM(at), lagInFrame(a) OVER (ORDER BY b), 'a\\'b', 'c:\\\\d' FROM db.t SAMPLE 0.1",
];

#[test]
fn what_is_sent_means_what_was_asked() {
    let mut refused = Vec::new();
    for (dialect, own) in [
        (Dialect::Postgres, POSTGRES),
        (Dialect::MySql, MYSQL),
        (Dialect::Sqlite, SQLITE),
        (Dialect::ClickHouse, CLICKHOUSE),
        (Dialect::Spark, SPARK),
        (Dialect::Trino, TRINO),
    ] {
        let wide = if matches!(dialect, Dialect::ClickHouse | Dialect::Spark) { &[] } else { WIDE };
        for sql in EVERYWHERE.iter().chain(wide).chain(own) {
            // A double quote opens a text in MySQL and Spark.
            let sql = if matches!(dialect, Dialect::MySql | Dialect::Spark) && !own.contains(sql) {
                sql.replace('"', "`")
            } else {
                (*sql).to_owned()
            };
            let first = match check(&sql, dialect) {
                Ok(first) => first,
                Err(why) => {
                    refused.push(format!("{dialect:?}: {sql}\n   {why}"));
                    continue;
                }
            };
            let again = check(first.sql(), dialect);
            assert_eq!(again.as_ref(), Ok(&first), "{dialect:?}: {sql}");
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// A literal is sent as the characters it means, however it was written.
#[test]
fn literals_keep_their_value() {
    for (dialect, given, sent) in [
        (
            Dialect::Postgres,
            "SELECT 'it''s', E'a\\nb', $x$q'$x$, U&'\\9500'",
            "SELECT 'it''s', 'a\nb', 'q''', '销'",
        ),
        (Dialect::Postgres, "SELECT '\\''', 'a\\'", "SELECT '\\''', 'a\\'"),
        (Dialect::Postgres, "SELECT '''''', '\\\\'", "SELECT '''''', '\\\\'"),
        (Dialect::MySql, "SELECT 'a\\'b', \"c\"\"d'e\", '\\%\\n\\q'", "SELECT 'a''b', 'c\"d''e', '\\\\%\nq'"),
        (Dialect::MySql, "SELECT '\\\\', 'x'", "SELECT '\\\\', 'x'"),
        (Dialect::Sqlite, "SELECT 'a\\', 'b'", "SELECT 'a\\', 'b'"),
        (Dialect::ClickHouse, "SELECT 'a\\'b', 'd+\\d'", "SELECT 'a''b', 'd+\\\\d'"),
        (Dialect::Spark, "SELECT 'a''b', \"c'd\", 'e\\'f\\\\'", "SELECT 'a\\'b', 'c\\'d', 'e\\'f\\\\'"),
        (Dialect::Trino, "SELECT 'a''b\\'", "SELECT 'a''b\\'"),
    ] {
        assert_eq!(check(given, dialect).unwrap().sql(), sent, "{dialect:?}: {given}");
    }
}

#[test]
fn a_refused_function_comes_with_its_nearest() {
    let why = check("SELECT pg_sleep(2)", Dialect::Postgres).unwrap_err().to_string();
    assert!(why.contains("the function pg_sleep is not among those that are allowed here"), "{why}");
    let why = check("SELECT sterftime('%Y', d) FROM t", Dialect::Sqlite).unwrap_err().to_string();
    assert!(why.contains("the nearest are strftime"), "{why}");
    assert!(super::check_with("SELECT sales.margin(1)", Dialect::Postgres, &["sales.margin".into()]).is_ok());
    assert!(check("SELECT sales.count(1)", Dialect::Postgres).is_err(), "a schema of one's own may shadow");
}

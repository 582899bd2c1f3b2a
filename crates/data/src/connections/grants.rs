//! What a MySQL account may do, and which servers only pretend to have READ ONLY transactions. Pure: reads what the server
//! said of itself.

/// Engines that speak MySQL's protocol and accept a READ ONLY transaction without keeping to it, or know none.
const PRETENDERS: &[(&str, &str)] =
    &[("tidb", "TiDB"), ("doris", "Doris"), ("starrocks", "StarRocks"), ("oceanbase", "OceanBase")];

/// Privileges with which nothing can be changed.
const HARMLESS: &[&str] = &[
    "SELECT",
    "USAGE",
    "SHOW VIEW",
    "SHOW DATABASES",
    "PROCESS",
    "SELECT_PRIV",
    "SHOW_VIEW_PRIV",
    "USAGE_PRIV",
];

/// The engine's name, when its transactions are no wall: by the address, or by what the server says of itself.
pub(super) fn pretender(scheme: &str, about: &[String]) -> Option<&'static str> {
    let told = |word: &str| {
        scheme.eq_ignore_ascii_case(word) || about.iter().any(|text| text.to_lowercase().contains(word))
    };
    PRETENDERS.iter().find(|(word, _)| told(word)).map(|(_, name)| *name)
}

/// A grant that lets an account do with the whole server what it likes.
pub(super) fn is_mighty(grant: &str) -> bool {
    let upper = grant.to_uppercase();
    let Some((privileges, _)) = upper.split_once(" ON *.*") else { return false };
    privileges.contains("ALL PRIVILEGES")
        || privileges.trim_start_matches("GRANT ").split(',').any(|p| matches!(p.trim(), "FILE" | "SUPER"))
}

/// `Err` names the first privilege that is more than reading. What is not understood counts as more.
pub(super) fn only_reads(grants: &[String]) -> Result<(), String> {
    if grants.is_empty() {
        return Err("grants that the server does not tell".to_owned());
    }
    grants
        .iter()
        .flat_map(|grant| privileges(grant))
        .find(|p| !HARMLESS.contains(&p.as_str()))
        .map_or(Ok(()), Err)
}

/// `GRANT SELECT (a, b), INSERT ON d.* TO u WITH GRANT OPTION` → SELECT, INSERT, GRANT OPTION. Doris lists
/// `internal.d: Select_priv,Load_priv` instead.
fn privileges(grant: &str) -> Vec<String> {
    let upper = grant.trim().to_uppercase();
    let Some(rest) = upper.strip_prefix("GRANT ") else {
        let words = upper.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        return words.filter(|w| w.ends_with("_PRIV")).map(str::to_owned).collect();
    };
    let mut found = Vec::new();
    match rest.split_once(" ON ") {
        Some((list, _)) => found.extend(without_columns(list).split(',').map(|p| p.trim().to_owned())),
        // A role, whose privileges are not told here.
        None => found.push(format!("the role {}", rest.split(" TO ").next().unwrap_or_default())),
    }
    if upper.contains("WITH GRANT OPTION") {
        found.push("GRANT OPTION".to_owned());
    }
    found
}

fn without_columns(list: &str) -> String {
    let mut depth = 0;
    list.chars()
        .filter(|c| {
            depth += i32::from(*c == '(');
            let keep = depth == 0;
            depth -= i32::from(*c == ')');
            keep
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mighty_accounts_are_recognised() {
        assert!(is_mighty("GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION"));
        assert!(is_mighty("GRANT SELECT, FILE ON *.* TO `x`@`%`"));
        assert!(!is_mighty("GRANT USAGE ON *.* TO `x`@`%`"));
        assert!(!is_mighty("GRANT ALL PRIVILEGES ON `d`.* TO `x`@`%`"));
    }

    #[test]
    fn an_account_only_reads_when_every_grant_is_harmless() {
        let check = |grants: &[&str]| only_reads(&grants.iter().map(|g| (*g).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            check(&[
                "GRANT USAGE ON *.* TO `x`@`%` IDENTIFIED BY PASSWORD '*AB'",
                "GRANT SELECT, SHOW VIEW ON `d`.* TO `x`@`%`"
            ]),
            Ok(())
        );
        assert_eq!(check(&["GRANT SELECT (`a`, `insert`) ON `d`.`t` TO 'x'@'%'"]), Ok(()));
        // Doris: one row of lists; StarRocks: ON ALL TABLES.
        assert_eq!(
            check(&["'x'@'%'", "Yes", "internal.shop: Select_priv; internal.mysql: Select_priv"]),
            Ok(())
        );
        assert_eq!(check(&["GRANT SELECT ON ALL TABLES IN DATABASE shop TO USER 'x'@'%'"]), Ok(()));
        for (grant, named) in [
            ("GRANT SELECT, INSERT ON `d`.* TO 'x'@'%'", "INSERT"),
            ("GRANT ALL PRIVILEGES ON `d`.* TO 'x'@'%'", "ALL PRIVILEGES"),
            ("GRANT SELECT ON `d`.* TO 'x'@'%' WITH GRANT OPTION", "GRANT OPTION"),
            ("GRANT SELECT (`a`), UPDATE (`b`) ON `d`.`t` TO 'x'@'%'", "UPDATE"),
            ("GRANT EXECUTE ON `d`.* TO 'x'@'%'", "EXECUTE"),
            ("GRANT `writer`@`%` TO `x`@`%`", "the role `WRITER`@`%`"),
            ("internal.shop: Select_priv,Load_priv", "LOAD_PRIV"),
            ("Admin_priv", "ADMIN_PRIV"),
        ] {
            assert_eq!(check(&["GRANT USAGE ON *.* TO 'x'@'%'", grant]), Err(named.to_owned()), "{grant}");
        }
        assert!(check(&[]).is_err());
    }

    #[test]
    fn servers_that_only_pretend_are_known_by_address_or_by_their_words() {
        let about = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        assert_eq!(pretender("mysql", &about(&["8.0.11-TiDB-v7.5.0", "TiDB Server"])), Some("TiDB"));
        assert_eq!(pretender("mysql", &about(&["5.7.99", "Doris version doris-2.1.0"])), Some("Doris"));
        assert_eq!(pretender("starrocks", &[]), Some("StarRocks"));
        assert_eq!(pretender("mysql", &about(&["10.11.6-MariaDB", "Debian 12"])), None);
    }
}

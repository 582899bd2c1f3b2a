//! Reads the text that is about to be sent the way a server's own lexer does, and knows only what every server of the
//! dialect reads alike. Where a character could open a comment, another kind of string or an operator of one's own, it says
//! so; it never tries to understand the statement.

use super::Dialect;
use super::dialect::Escapes;

/// Operators that a statement may hold, besides the common ones.
const COMMON: &[&str] =
    &["=", "<>", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "||", "&", "|", "<<", ">>", "~"];
const POSTGRES: &[&str] = &[
    "::", "->", "->>", "#>", "#>>", "#-", "#", "@>", "<@", "?", "?|", "?&", "&&", "~*", "!~", "!~*", "~~",
    "!~~", "~~*", "!~~*", "@@", "@?", "^", "^@", "<->", "<#>", "<=>", "=>", ":", "|/", "||/", "@", "&<",
    "&>", "-|-", "<<|", "|>>", "&<|", "|&>", "<%", "%>", "!!",
];
const MYSQL: &[&str] = &["<=>", "->", "->>", "&&", "^", "!", ":", "?", "@", "@@"];
const SQLITE: &[&str] = &["==", "->", "->>", ":", "?", "@", "$"];
const CLICKHOUSE: &[&str] = &["==", "->", "::", "?", ":", "=>", "<=>"];
const SPARK: &[&str] = &["==", "->", "::", ":", "=>", "<=>", "^", "!"];
const TRINO: &[&str] = &["->", ":", "=>"];
const MSSQL: &[&str] = &["!<", "!>", "^", ":"];
/// SQL Server needs no sign between two statements: any of these words, where no quotes stand around it, begins another one.
const MSSQL_STATEMENTS: &[&str] = &[
    "alter",
    "backup",
    "begin",
    "break",
    "bulk",
    "checkpoint",
    "close",
    "commit",
    "continue",
    "create",
    "dbcc",
    "deallocate",
    "declare",
    "delete",
    "deny",
    "disable",
    "drop",
    "dump",
    "enable",
    "exec",
    "execute",
    "goto",
    "grant",
    "if",
    "insert",
    "kill",
    "load",
    "merge",
    "move",
    "open",
    "print",
    "raiserror",
    "readtext",
    "receive",
    "reconfigure",
    "restore",
    "return",
    "revert",
    "revoke",
    "rollback",
    "save",
    "send",
    "set",
    "setuser",
    "shutdown",
    "throw",
    "truncate",
    "update",
    "updatetext",
    "use",
    "waitfor",
    "while",
    "writetext",
];

/// Whether a server reads the text as we do; otherwise the part that it might not.
pub(super) fn verify(sql: &str, dialect: Dialect) -> Result<(), String> {
    let chars: Vec<char> = sql.chars().collect();
    let mut lexer = Lexer { chars: &chars, at: 0, dialect };
    while lexer.at < chars.len() {
        lexer.token()?;
    }
    Ok(())
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
    dialect: Dialect,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn token(&mut self) -> Result<(), String> {
        let Some(c) = self.peek(0) else { return Ok(()) };
        match c {
            ' ' | '\n' | '\t' | '\r' | '(' | ')' | ',' | '[' | ']' if !self.is_bracket_name(c) => {
                self.at += 1
            }
            '\'' => self.quoted('\'', self.dialect.escapes())?,
            '"' | '`' => self.name(c)?,
            '[' => self.name(']')?,
            '.' if !self.peek(1).is_some_and(|d| d.is_ascii_digit()) => self.at += 1,
            '.' | '0'..='9' => self.number()?,
            '$' => self.dollar()?,
            c if is_word(c) => self.word()?,
            _ => self.operator()?,
        }
        Ok(())
    }

    fn is_bracket_name(&self, c: char) -> bool {
        c == '[' && matches!(self.dialect, Dialect::Sqlite | Dialect::MsSql)
    }

    fn name(&mut self, close: char) -> Result<(), String> {
        let fits = match (close, self.dialect) {
            // In MySQL a double quote opens a string or a name, as the server's mode says.
            ('"', dialect) => !dialect.has_double_quoted_texts(),
            ('`', dialect) => !matches!(dialect, Dialect::Postgres | Dialect::Trino | Dialect::MsSql),
            _ => true,
        };
        if !fits {
            return Err(format!("a name or text in {close}"));
        }
        let start = self.at;
        self.quoted(close, Escapes::Doubled)?;
        if close == ']' && self.peek(0) == Some(']') {
            return Err("a name with a bracket".to_owned());
        }
        if self.dialect.escapes() != Escapes::Doubled && self.chars[start..self.at].contains(&'\\') {
            return Err("a name with a backslash".to_owned());
        }
        Ok(())
    }

    /// From its quote to the one that ends it: a quote inside is doubled. Where backslashes escape they come in pairs, so
    /// that none of them can hide a quote, whether or not the server's mode lets them.
    fn quoted(&mut self, close: char, escapes: Escapes) -> Result<(), String> {
        self.at += 1;
        loop {
            let c = self.peek(0).ok_or("a text without its end")?;
            self.at += 1;
            if c == '\0' {
                return Err("a text with the character 0".to_owned());
            }
            if escapes != Escapes::Doubled && c == '\\' {
                let quote = escapes == Escapes::Backslash && self.peek(0) == Some(close);
                if self.peek(0) != Some('\\') && !quote {
                    return Err("a text with a backslash before another character".to_owned());
                }
                self.at += 1;
            } else if c == close {
                if self.peek(0) == Some(close) && close != ']' && escapes != Escapes::Backslash {
                    self.at += 1;
                    continue;
                }
                return match self.peek(0) {
                    Some('\'' | '"' | '`') => Err("two texts without a space between them".to_owned()),
                    Some(c) if is_word(c) => Err("a text and a word without a space between them".to_owned()),
                    _ => Ok(()),
                };
            }
        }
    }

    fn word(&mut self) -> Result<(), String> {
        let start = self.at;
        while self.peek(0).is_some_and(|c| is_word(c) || c == '$') {
            self.at += 1;
        }
        let word: String = self.chars[start..self.at].iter().collect();
        if self.dialect == Dialect::MsSql && MSSQL_STATEMENTS.contains(&word.to_lowercase().as_str()) {
            return Err(format!("the word {word}, which begins another statement,"));
        }
        match self.peek(0) {
            Some('\'' | '"' | '`') => {}
            _ => return Ok(()),
        }
        let known = match self.dialect {
            Dialect::Postgres => word == "B",
            Dialect::MySql => word == "X",
            Dialect::MsSql => word == "N" && self.peek(0) == Some('\''),
            _ => false,
        };
        if known { Ok(()) } else { Err(format!("a text that begins with {word}")) }
    }

    fn number(&mut self) -> Result<(), String> {
        let start = self.at;
        let digits = |this: &mut Self| {
            while this.peek(0).is_some_and(|c| c.is_ascii_digit()) {
                this.at += 1;
            }
        };
        digits(self);
        if self.peek(0) == Some('.') {
            self.at += 1;
            digits(self);
        }
        if matches!(self.peek(0), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.peek(1), Some('+' | '-')));
            if self.peek(1 + sign).is_some_and(|c| c.is_ascii_digit()) {
                self.at += 1 + sign;
                digits(self);
            }
        }
        match self.peek(0) {
            Some(c) if is_word(c) || matches!(c, '$' | '\'' | '"' | '`' | '\\') => {
                let number: String = self.chars[start..=self.at].iter().collect();
                Err(format!("the number {number}"))
            }
            _ => Ok(()),
        }
    }

    /// A parameter: `$name` or `$1`, with no other sign of money behind it.
    fn dollar(&mut self) -> Result<(), String> {
        self.at += 1;
        let start = self.at;
        while self.peek(0).is_some_and(is_word) {
            self.at += 1;
        }
        match (self.at > start, self.peek(0)) {
            (true, Some('$' | '\'' | '"' | '`')) | (false, _) => Err("a text between $".to_owned()),
            _ => Ok(()),
        }
    }

    /// The longest run of operator characters, as servers read it.
    fn operator(&mut self) -> Result<(), String> {
        let start = self.at;
        while self.peek(0).is_some_and(|c| "+-*/<>=~!@#%^&|?:".contains(c)) {
            self.at += 1;
        }
        if self.at == start {
            let odd: String = self.chars[start..].iter().take(1).collect();
            return Err(format!("the character {}", odd.escape_debug()));
        }
        let run: String = self.chars[start..self.at].iter().collect();
        let own = match self.dialect {
            Dialect::Postgres => POSTGRES,
            Dialect::MySql => MYSQL,
            Dialect::Sqlite => SQLITE,
            Dialect::ClickHouse | Dialect::DuckDb => CLICKHOUSE,
            Dialect::Spark => SPARK,
            Dialect::Trino => TRINO,
            Dialect::MsSql => MSSQL,
        };
        if !COMMON.contains(&run.as_str()) && !own.contains(&run.as_str()) {
            return Err(format!("the operator {run}"));
        }
        // `U&'…'` opens another kind of text.
        if run.ends_with('&') && matches!(self.peek(0), Some('\'' | '"')) {
            return Err("a text that begins with &".to_owned());
        }
        Ok(())
    }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_lexers_could_read_in_two_ways_is_refused() {
        for (dialect, sql) in [
            (Dialect::Postgres, "SELECT U&\"pg\\005fsleep\"(2)"),
            (Dialect::Postgres, "SELECT 1 -/* ' */, pg_sleep(1) --'"),
            (Dialect::Postgres, "SELECT $a$ x $a$"),
            (Dialect::Postgres, "SELECT E'a\\'b'"),
            (Dialect::Postgres, "SELECT 1 -- x"),
            (Dialect::Postgres, "SELECT 1; SELECT 2"),
            (Dialect::Postgres, "SELECT 'a'\"b\""),
            (Dialect::Postgres, "SELECT a\u{a0}b"),
            (Dialect::MySql, "SELECT 'a\\' , sleep(5) , '"),
            (Dialect::MySql, "SELECT \"a\""),
            (Dialect::MySql, "SELECT 1 # x"),
            (Dialect::MySql, "SELECT 1 /*!50000 x */"),
            (Dialect::MySql, "SELECT @a := 1"),
            (Dialect::MySql, "SELECT 0x41"),
            (Dialect::Sqlite, "SELECT :a::b(') , ATTACH '"),
            (Dialect::Sqlite, "SELECT $a::b(')"),
            (Dialect::ClickHouse, "SELECT {a:String}"),
            (Dialect::ClickHouse, "SELECT `a\\`b`"),
            (Dialect::Spark, "SELECT 'a''b'"),
            (Dialect::Spark, "SELECT \"a\""),
            (Dialect::Spark, "SELECT 'a\\u0027b'"),
            (Dialect::Spark, "SELECT r'a'"),
            (Dialect::Trino, "SELECT `a`"),
            (Dialect::Trino, "SELECT U&'\\0027'"),
            (Dialect::MsSql, "SELECT 1 AS a SHUTDOWN"),
            (Dialect::MsSql, "SELECT a FROM t Kill"),
            (Dialect::MsSql, "SELECT @x"),
            (Dialect::MsSql, "SELECT a FROM #t"),
            (Dialect::MsSql, "SELECT [a]]b]"),
            (Dialect::MsSql, "SELECT `a`"),
        ] {
            assert!(verify(sql, dialect).is_err(), "{dialect:?}: {sql}");
        }
        for (dialect, sql) in [
            (
                Dialect::Postgres,
                "SELECT a -> 'b' #>> '{x,y}', x::INT[], a[1:2], -1.5e3, '\\d+' FROM \"T\" WHERE n = :n OR n > $1",
            ),
            (
                Dialect::MySql,
                "SELECT `a`, 'it''s \\\\d', @@session.sql_mode, X'4142' FROM t WHERE a <=> NULL",
            ),
            (Dialect::Sqlite, "SELECT [a b], \"c\", `d` FROM t WHERE x == :y"),
            (Dialect::ClickHouse, "SELECT arrayMap(x -> x + 1, [1, 2])"),
            (Dialect::Spark, "SELECT `a b`, 'it\\'s \\\\', transform(a, x -> x + 1)[0] FROM t"),
            (Dialect::MsSql, "SELECT [a b], \"c\", [kill], N'it''s \\ 销售' FROM t WHERE n = :n AND a <> 1"),
            (Dialect::Trino, "SELECT \"a b\", 'it''s \\', transform(ARRAY[1], x -> x + 1)"),
        ] {
            assert_eq!(verify(sql, dialect), Ok(()), "{dialect:?}: {sql}");
        }
    }
}

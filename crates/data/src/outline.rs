//! The names a source file defines, by a real parser for each language (SPEC X2). Broken code gives what still parses;
//! an unknown language gives nothing. Never runs the code.

use tree_sitter::{Node, Parser};

/// Longer sources are cut: a synopsis names at most a few dozen.
const MAX_SOURCE: usize = 1 << 20;
const MAX_NAMES: usize = 500;
const MAX_DEPTH: usize = 12;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    pub functions: Vec<String>,
    /// Classes and their like: structs, interfaces, enums, traits; tables and views in SQL.
    pub classes: Vec<String>,
}

/// What each grammar calls the things a synopsis lists.
struct Grammar {
    language: tree_sitter::Language,
    functions: &'static [&'static str],
    classes: &'static [&'static str],
    /// Nodes to look into.
    open: &'static [&'static str],
}

/// Functions and classes of `source`, in the order in which they stand.
pub fn outline(language: &str, source: &str) -> Outline {
    let source = ba_protocol::text::prefix(source, MAX_SOURCE);
    if language == "sql" {
        return sql(source);
    }
    let Some(grammar) = grammar(language) else { return Outline::default() };
    let mut parser = Parser::new();
    if parser.set_language(&grammar.language).is_err() {
        return Outline::default();
    }
    let Some(tree) = parser.parse(source, None) else { return Outline::default() };
    let mut found = Outline::default();
    walk(tree.root_node(), source, &grammar, 0, &mut found);
    found
}

fn grammar(language: &str) -> Option<Grammar> {
    Some(match language {
        "python" => Grammar {
            language: tree_sitter_python::LANGUAGE.into(),
            functions: &["function_definition"],
            classes: &["class_definition"],
            open: &["module", "decorated_definition", "if_statement", "block", "try_statement", "ERROR"],
        },
        // JSX included; what JavaScript has and TypeScript has not, a synopsis does not list.
        "javascript" => Grammar { language: tree_sitter_typescript::LANGUAGE_TSX.into(), ..ecmascript() },
        "typescript" => ecmascript(),
        "java" => Grammar {
            language: tree_sitter_java::LANGUAGE.into(),
            functions: &["method_declaration"],
            classes: &[
                "class_declaration",
                "interface_declaration",
                "enum_declaration",
                "record_declaration",
            ],
            open: &[
                "program",
                "class_body",
                "interface_body",
                "enum_body",
                "enum_body_declarations",
                "ERROR",
            ],
        },
        "go" => Grammar {
            language: tree_sitter_go::LANGUAGE.into(),
            functions: &["function_declaration", "method_declaration"],
            classes: &["type_spec"],
            open: &["source_file", "type_declaration", "ERROR"],
        },
        "rust" => Grammar {
            language: tree_sitter_rust::LANGUAGE.into(),
            functions: &["function_item"],
            classes: &["struct_item", "enum_item", "trait_item", "union_item"],
            open: &["source_file", "impl_item", "mod_item", "declaration_list", "ERROR"],
        },
        _ => return None,
    })
}

fn ecmascript() -> Grammar {
    Grammar {
        language: tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        functions: &["function_declaration", "generator_function_declaration"],
        classes: &[
            "class_declaration",
            "abstract_class_declaration",
            "interface_declaration",
            "enum_declaration",
        ],
        open: &["program", "export_statement", "lexical_declaration", "variable_declaration", "ERROR"],
    }
}

fn walk(node: Node<'_>, source: &str, grammar: &Grammar, depth: usize, found: &mut Outline) {
    if depth > MAX_DEPTH {
        return;
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        if found.functions.len() + found.classes.len() >= MAX_NAMES {
            return;
        }
        let kind = child.kind();
        if grammar.functions.contains(&kind) {
            found.functions.extend(name(child, source));
        } else if grammar.classes.contains(&kind) {
            found.classes.extend(name(child, source));
            // Python's methods stay with their class; Java has no functions but methods.
            let body = child.child_by_field_name("body").filter(|b| b.kind() != "block");
            if let Some(body) = body.filter(|b| grammar.open.contains(&b.kind())) {
                walk(body, source, grammar, depth + 1, found);
            }
        } else if kind == "variable_declarator" {
            let value = child.child_by_field_name("value").map(|v| v.kind());
            if matches!(value, Some("arrow_function" | "function_expression" | "function")) {
                found.functions.extend(name(child, source));
            }
        } else if grammar.open.contains(&kind) {
            walk(child, source, grammar, depth + 1, found);
        }
    }
}

fn name(node: Node<'_>, source: &str) -> Option<String> {
    let name = node.child_by_field_name("name")?;
    source.get(name.byte_range()).map(|text| ba_protocol::text::shorten(text, 80))
}

fn sql(source: &str) -> Outline {
    use sqlparser::ast::Statement;
    use sqlparser::dialect::GenericDialect;
    let parsed = sqlparser::parser::Parser::new(&GenericDialect {})
        .with_recursion_limit(50)
        .try_with_sql(source)
        .and_then(|mut p| p.parse_statements());
    let mut found = Outline::default();
    for statement in parsed.unwrap_or_default() {
        match statement {
            Statement::CreateTable(table) => found.classes.push(table.name.to_string()),
            Statement::CreateView(view) => found.classes.push(view.name.to_string()),
            Statement::CreateFunction(function) => found.functions.push(function.name.to_string()),
            Statement::CreateProcedure { name, .. } => found.functions.push(name.to_string()),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(language: &str, source: &str) -> (String, String) {
        let found = outline(language, source);
        (found.functions.join(" "), found.classes.join(" "))
    }

    // SPEC X2: python, js, ts, java, go, rust, sql.
    #[test]
    fn every_language_of_the_specification_is_parsed() {
        let cases = [
            (
                "python",
                "import os\n@x\ndef load(a):\n  def inner(): pass\nasync def go(): ...\nclass M:\n  def fit(self): pass\n",
                "load go",
                "M",
            ),
            (
                "javascript",
                "function a(){}\nexport const b = async (x) => x;\nconst n = 3;\nclass C { m(){} }\n",
                "a b",
                "C",
            ),
            (
                "typescript",
                "export function a(x: number): string { return '' }\ninterface I { x: number }\nexport class C<T> {}\n",
                "a",
                "I C",
            ),
            ("java", "public class A { int f(int x) { return x; } interface B {} }", "f", "A B"),
            ("go", "package p\ntype T struct{}\nfunc (t T) M() {}\nfunc F() {}\n", "M F", "T"),
            (
                "rust",
                "struct S; impl S { fn new() -> S { S } }\nfn main() {}\nenum E { A }\n",
                "new main",
                "S E",
            ),
            ("sql", "CREATE TABLE t (a int); CREATE VIEW v AS SELECT 1; SELECT 2;", "", "t v"),
        ];
        for (language, source, functions, classes) in cases {
            assert_eq!(names(language, source), (functions.to_owned(), classes.to_owned()), "{language}");
        }
    }

    #[test]
    fn broken_and_hostile_code_gives_what_it_can() {
        assert_eq!(names("python", "def ok():\n  pass\ndef broken(:\n").0.split(' ').next(), Some("ok"));
        assert_eq!(outline("cobol", "whatever"), Outline::default());
        let deep = "(".repeat(100_000);
        assert_eq!(outline("javascript", &deep), Outline::default());
        assert!(outline("python", &"def f(): pass\n".repeat(5000)).functions.len() <= MAX_NAMES);
    }
}

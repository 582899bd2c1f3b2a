//! Reads a question for a second opinion on a language model's answer (SPEC V6): the one statement that computes its
//! headline figure. Runs nothing, and says nothing where the reading took a guess.

use ba_protocol::Upload;
use ba_protocol::file::{IngestStatus, NoteLevel};

use crate::analyst::{MAX_TABLES, OfflineAnalyst};
use crate::norm::Lang;
use crate::observe::Grid;
use crate::plan::{self, label};
use crate::question::{Group, Intent, Question};
use crate::scope::Scope;
use crate::table::Table;
use crate::turn::Turn;
use crate::values;

/// The files of a conversation and what was asked about them.
pub struct Asked<'a> {
    pub files: &'a [Upload],
    pub earlier: &'a [String],
    pub question: &'a str,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Opinion {
    /// The question's words are to be looked for among the tables' values first, with this statement.
    Look(String),
    Compute(Headline),
    /// No reading is sure enough.
    None,
}

/// The statement whose first row holds the headline figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    pub sql: String,
    /// What the figure is.
    pub name: String,
    pub value_column: usize,
    pub of: HeadlineOf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadlineOf {
    /// The only figure that was asked for.
    Whole,
    /// The group that was asked for, named in the first column.
    Best,
    /// The first of all groups that were asked for, named in the first column.
    FirstGroup,
}

impl OfflineAnalyst {
    /// What this analyst would compute; `values` is what its look among the values found.
    pub fn opinion(&self, asked: &Asked<'_>, values: Option<&Grid>) -> Opinion {
        let mut tables = self.profiled(asked.files);
        if tables.is_empty() || self.names_database(asked.question) {
            return Opinion::None;
        }
        let turn =
            Turn { question: asked.question.to_owned(), earlier: asked.earlier.to_vec(), ..Turn::default() };
        match values {
            Some(found) => values::learn(&mut tables, found),
            None => {
                let unknown = self.understand(&turn, &tables).unknown.clone();
                if let Some(sql) = values::lookup(self.glossary(), &tables, None, &turn, &unknown) {
                    return Opinion::Look(sql);
                }
            }
        }
        let read = self.understand(&turn, &tables);
        let Ok(question) = &read.question else { return Opinion::None };
        let doubtful = |table: &Table| table.cleaned.iter().any(|note| note.level == NoteLevel::Warn);
        // Every note is a choice the question left open, and a join a chance to count rows twice.
        if !question.notes.is_empty() || !question.joins.is_empty() || doubtful(&tables[question.table]) {
            return Opinion::None;
        }
        self.headline(&tables, question, Lang::of(asked.question)).map_or(Opinion::None, Opinion::Compute)
    }

    fn headline(&self, tables: &[Table], question: &Question, lang: Lang) -> Option<Headline> {
        let (value_column, of) = match &question.intent {
            Intent::Value if question.measures.len() == 1 => (0, HeadlineOf::Whole),
            Intent::ShareOf { .. } => (2, HeadlineOf::Whole),
            Intent::ExtremeRow { .. } if question.limit.is_none_or(|l| l == 1) => (0, HeadlineOf::Whole),
            Intent::Breakdown | Intent::Rank
                if matches!(question.groups[..], [Group::By(_)]) && question.having.is_none() =>
            {
                let best = question.intent == Intent::Rank && question.limit == Some(1);
                (1, if best { HeadlineOf::Best } else { HeadlineOf::FirstGroup })
            }
            _ => return None,
        };
        let scope = Scope { glossary: self.glossary(), tables, in_scope: vec![question.table] };
        let name = label::measure(&scope, question.measures.first()?, lang);
        let query = plan::plan(&scope, question, lang).into_iter().find(|q| q.id == "main")?;
        Some(Headline { sql: query.sql, name, value_column, of })
    }

    /// The tables of the newest files, from their stored profiles.
    fn profiled(&self, files: &[Upload]) -> Vec<Table> {
        let mut all = Vec::new();
        for file in files.iter().filter(|f| f.status == IngestStatus::Ready) {
            let Some(profile) = &file.profile else { continue };
            for table in &profile.tables {
                let mut read = Table::new(file.file_id.as_str(), &file.filename, table, self.glossary());
                if profile.tables.len() == 1 {
                    // SPEC T7: the id always names the table.
                    read.sql_name = file.file_id.to_string();
                } else if let Some(sheet) = &table.sheet {
                    read.rows_called.clone_from(sheet);
                    read.filename = format!("{} · {sheet}", file.filename);
                }
                all.push(read);
            }
        }
        all.split_off(all.len().saturating_sub(MAX_TABLES))
    }
}

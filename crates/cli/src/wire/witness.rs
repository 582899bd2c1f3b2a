//! The offline analyst as the witness of a language model's answers (SPEC V6): it reads the same question over the stored
//! profiles, off the async threads, and computes the headline figure with one or two queries of the uploads.

use std::sync::Arc;

use async_trait::async_trait;
use ba_agent::proof::Group;
use ba_agent::{Body, Registry, Testimony, Tool, ToolContext, Witness, WitnessCase};
use ba_analyst::OfflineAnalyst;
use ba_analyst::observe::Grid;
use ba_analyst::opinion::{Asked, Headline, HeadlineOf, Opinion};
use ba_protocol::Upload;
use ba_store::Store;
use serde_json::{Value, json};

/// Rows a look among the values may find.
const LOOKED_UP: usize = 600;
const TOOL: &str = "query_database";

pub struct Analyst {
    analyst: Arc<OfflineAnalyst>,
    store: Store,
    database: Arc<dyn Tool>,
}

impl Analyst {
    /// `None` without a tool that queries uploads.
    pub fn new(analyst: OfflineAnalyst, store: Store, registry: &Registry) -> Option<Self> {
        Some(Self { analyst: Arc::new(analyst), store, database: registry.get(TOOL)?.clone() })
    }

    /// What the analyst makes of a question. Reading takes milliseconds of computing, so it leaves the async threads.
    async fn opinion(&self, case: &WitnessCase, files: &Arc<Vec<Upload>>, values: Option<Grid>) -> Opinion {
        let (analyst, case, files) = (self.analyst.clone(), case.clone(), files.clone());
        let read = move || {
            let asked = Asked { files: &files, earlier: &case.earlier, question: &case.question };
            analyst.opinion(&asked, values.as_ref())
        };
        tokio::task::spawn_blocking(read).await.unwrap_or(Opinion::None)
    }

    async fn query(&self, case: &WitnessCase, sql: &str, max_rows: usize) -> Option<Grid> {
        let context = ToolContext::new(
            case.owner.clone(),
            case.conversation_id.clone(),
            case.run_id.clone(),
            "witness",
        );
        let Value::Object(arguments) = json!({"query": sql, "max_rows": max_rows}) else { return None };
        let output = self.database.call(&context, arguments).await.ok()?;
        let Body::Table { columns, rows, .. } = output.body else { return None };
        let cell = |value: Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        };
        Some(Grid {
            names: columns.into_iter().map(|c| c.name).collect(),
            rows: rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect(),
            cut: false,
        })
    }
}

#[async_trait]
impl Witness for Analyst {
    async fn testify(&self, case: WitnessCase) -> Option<Testimony> {
        let files = Arc::new(self.store.uploads(&case.conversation_id).await.ok()?);
        if files.is_empty() {
            return None;
        }
        let headline = match self.opinion(&case, &files, None).await {
            Opinion::Compute(headline) => headline,
            Opinion::None => return None,
            Opinion::Look(sql) => {
                let values = self.query(&case, &sql, LOOKED_UP).await?;
                match self.opinion(&case, &files, Some(values)).await {
                    Opinion::Compute(headline) => headline,
                    Opinion::None | Opinion::Look(_) => return None,
                }
            }
        };
        let grid = self.query(&case, &headline.sql, 10).await?;
        testimony(headline, &grid)
    }
}

fn testimony(headline: Headline, grid: &Grid) -> Option<Testimony> {
    let value = grid.number(0, headline.value_column)?;
    let label = || grid.cell(0, 0).map(str::to_owned);
    let group = match headline.of {
        HeadlineOf::Whole => None,
        HeadlineOf::Best => Some(Group { label: label()?, asked_for: true }),
        HeadlineOf::FirstGroup => Some(Group { label: label()?, asked_for: false }),
    };
    Some(Testimony { value, query: headline.sql, name: headline.name, group })
}

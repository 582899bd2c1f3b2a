//! Where the web tools may go (SPEC H7): to addresses that the user gave, a search returned, or a page read before links
//! to. Others wait for the person's consent. What a model made up from the conversation's data is refused in any case,
//! and so is a search for it. Asks the store; sends nothing itself.

mod known;
mod leak;

use ba_agent::ToolError;
use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use ba_agent::tool::ToolContext;
use ba_protocol::{ConversationId, ToolErrorType, ToolFailure};
use ba_store::Store;

use self::known::{addresses_in, bare_addresses_in, normal};
use self::leak::Leaks;

/// Conversations whose addresses are remembered here; older ones are read from their history.
const REMEMBERED: usize = 256;
/// Addresses of one conversation.
const MOST_ADDRESSES: usize = 5_000;

/// A conversation, and the addresses that were seen in it.
type Seen = (ConversationId, HashSet<String>);

/// Which addresses are known, and what may not leave.
#[derive(Clone)]
pub struct Addresses {
    store: Store,
    /// `[web] open = true`: any address may be read.
    open: bool,
    seen: Arc<Mutex<VecDeque<Seen>>>,
}

/// What a conversation has said so far.
struct Said {
    /// By the person.
    people: String,
    /// By web tools: text whose links may be followed.
    web: Vec<String>,
    /// By all other tools: the conversation's data.
    data: Vec<String>,
}

impl Addresses {
    pub fn new(store: Store, open: bool) -> Self {
        Self { store, open, seen: Arc::default() }
    }

    /// A search returned these, or a page that was read links to them.
    pub(crate) fn remember(&self, ctx: &ToolContext, text: &str) {
        let Ok(mut seen) = self.seen.lock() else { return };
        let at = seen.iter().position(|(id, _)| *id == ctx.conversation_id);
        let mut entry = at
            .and_then(|at| seen.remove(at))
            .unwrap_or_else(|| (ctx.conversation_id.clone(), HashSet::new()));
        for address in addresses_in(text) {
            if entry.1.len() < MOST_ADDRESSES {
                entry.1.insert(address);
            }
        }
        seen.push_back(entry);
        if seen.len() > REMEMBERED {
            seen.pop_front();
        }
    }

    /// Whether the address may be asked for.
    pub(crate) async fn may_read(&self, ctx: &ToolContext, given: &str) -> Result<(), ToolError> {
        // What is no address at all is the fetcher's to explain.
        let Some(wanted) = normal(given) else { return Ok(()) };
        if self.has_seen(ctx, &wanted) {
            return Ok(());
        }
        let said = self.said(ctx).await?;
        let given_by_people =
            addresses_in(&said.people).chain(bare_addresses_in(&said.people)).any(|a| a == wanted);
        if given_by_people || said.web.iter().any(|text| addresses_in(text).any(|a| a == wanted)) {
            return Ok(());
        }
        if let Some(value) = Leaks::of(&said.data, &said.people).in_address(given) {
            return Err(refused(
                "ADDRESS_HOLDS_DATA",
                format!(
                    "the address holds data of this conversation ({value}); such an address is never asked for"
                ),
                "read an address that a search returned, or that the user gave",
            ));
        }
        if self.open || self.has_consent(ctx, given, &wanted).await? {
            return Ok(());
        }
        Err(refused(
            "ADDRESS_NOT_GIVEN",
            "this address was not given by the user, not returned by a search, and not linked from a page that was read".to_owned(),
            "search for it, or tell the user the address and why it should be read: they can send it in a message or allow it",
        ))
    }

    /// Whether the words may go to a search provider.
    pub(crate) async fn may_search(&self, ctx: &ToolContext, query: &str) -> Result<(), ToolError> {
        let said = self.said(ctx).await?;
        match Leaks::of(&said.data, &said.people).in_query(query) {
            None => Ok(()),
            Some(value) => Err(refused(
                "QUERY_HOLDS_DATA",
                format!("the query holds data of this conversation ({value}), which would leave this server"),
                "search for public words only: names of markets, products, places, rules",
            )),
        }
    }

    fn has_seen(&self, ctx: &ToolContext, wanted: &str) -> bool {
        let Ok(seen) = self.seen.lock() else { return false };
        seen.iter().any(|(id, known)| *id == ctx.conversation_id && known.contains(wanted))
    }

    async fn has_consent(&self, ctx: &ToolContext, given: &str, wanted: &str) -> Result<bool, ToolError> {
        let consents = self.store.consents(&ctx.conversation_id).await?;
        let host = url::Url::parse(given).ok().and_then(|u| u.host_str().map(str::to_lowercase));
        Ok(consents.iter().any(|c| host.as_deref() == Some(c) || normal(c).as_deref() == Some(wanted)))
    }

    /// Reads the conversation: its earlier rounds, this run's question and what its calls brought.
    async fn said(&self, ctx: &ToolContext) -> Result<Said, ToolError> {
        let rounds = self.store.turns(&ctx.conversation_id).await?;
        let mut said = Said { people: String::new(), web: Vec::new(), data: Vec::new() };
        let mut add = |tool: &str, text: String| match tool {
            "web_search" | "web_reader" => said.web.push(text),
            _ => said.data.push(text),
        };
        for round in &rounds {
            for (call, result) in round.steps.iter().flat_map(|s| s.tool_calls.iter().zip(&s.results)) {
                if result.success {
                    add(&call.tool_name, result.observation.clone());
                }
            }
        }
        for (tool, text) in &*ctx.shown {
            add(tool, text.clone());
        }
        if let Ok(run) = self.store.run(&ctx.owner, &ctx.run_id).await {
            said.people.push_str(&run.message);
        }
        for round in &rounds {
            said.people.push('\n');
            said.people.push_str(&round.user_message);
        }
        Ok(said)
    }
}

fn refused(code: &str, message: String, hint: &str) -> ToolError {
    ToolFailure::new(ToolErrorType::PermissionError, code, message).with_hint(hint).into()
}

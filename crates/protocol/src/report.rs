//! Who a document is for decides what it tells beside the answer.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReportFor {
    /// Everything: sources, code, the conversation's id.
    #[default]
    Owner,
    /// People with a share link: the question and the answer, its doubtful figures marked.
    Visitors,
    /// Those, and the statements and code behind the figures.
    VisitorsWithSources,
}

impl ReportFor {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Visitors => "visitors",
            Self::VisitorsWithSources => "visitors_with_sources",
        }
    }
}

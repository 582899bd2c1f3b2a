//! The words everything else speaks: ids, model output, messages, tool results, events and API bodies. No IO.

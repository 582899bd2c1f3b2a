//! Which addresses a request may go to. Decides purely; never resolves or connects.

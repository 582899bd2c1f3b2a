//! The HTTP face: routes, streaming, sign-in, the page.

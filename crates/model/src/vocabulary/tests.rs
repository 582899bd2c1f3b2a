//! Our tokens beside those of another implementation, id by id (SPEC M1).

use proptest::prelude::*;

use super::*;

/// Every text in tokens, by us and by the other.
fn same(text: &str) {
    for (ours, other) in [(&*CL100K, bpe_openai::cl100k_base()), (&*O200K, bpe_openai::o200k_base())] {
        let mut ids = Vec::new();
        ours.each_token(text, |token| ids.extend(ours.rank(token)));
        let expected = other.encode(text);
        assert!(ids == expected, "{} bytes: {:?}", text.len(), text.chars().take(200).collect::<String>());
        assert_eq!(ours.count(text), expected.len());
    }
}

#[test]
fn the_dictionaries_are_whole() {
    for (ours, other, tokens) in
        [(&*CL100K, bpe_openai::cl100k_base(), 100_256), (&*O200K, bpe_openai::o200k_base(), 199_998)]
    {
        assert_eq!((ours.starts.len() - 1, other.bpe.num_tokens()), (tokens, tokens));
        for rank in 0..tokens as u32 {
            assert_eq!(ours.token(rank), other.bpe.token_bytes(rank));
            assert_eq!(ours.rank(ours.token(rank)), Some(rank));
        }
    }
}

#[test]
fn real_texts_have_the_same_tokens() {
    for text in [
        include_str!("../../../../docs/prompts.md"),
        include_str!("../../../../docs/corpus.md"),
        include_str!("../../../../examples/hr_zh.csv"),
        include_str!("../../../../python/requirements.lock"),
        include_str!("../vocabulary.rs"),
        "",
        " ",
        "  \n\n  x\t\t \u{3000}\u{3000}销售额  同比\r\n\r\n 12345678.90%   ",
        "I'LL we've THEY'RE don't ça İstanbul ﬁ 👩‍👩‍👧‍👦 \u{0}\u{feff}",
    ] {
        same(text);
    }
}

#[test]
fn pieces_without_end_have_the_same_tokens() {
    for unit in ["a", "ab", "华东", " ", "\n", "9", "-=", "Zx", "\u{300}"] {
        same(&unit.repeat(3_000));
    }
}

proptest! {
    #[test]
    fn any_text_has_the_same_tokens(text in "\\PC{0,200}", spaced in "[ \\t\\r\\na-zA-Z0-9'./销售额é\u{300}\u{3000}]{0,300}") {
        same(&text);
        same(&spaced);
    }
}

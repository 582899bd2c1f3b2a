//! Turns asked again: which version counts, what the next one sees, what an archive keeps; and what people thought.

use ba_protocol::RunId;
use ba_store::{Limits, NewBoardItem, NewRun, Rating, StoreError};

use crate::harness::{Fresh, alice, bob, last_step, new_run, on_every_backend};

fn limits() -> Limits {
    Limits::default()
}

on_every_backend!(
    another_version_takes_the_turns_place,
    an_older_version_can_be_chosen_again,
    versions_travel_in_archives,
    feedback_is_kept_replaced_and_purged,
    usage_is_counted_from_what_is_stored,
    conversations_are_pinned_tagged_and_marked_while_answered,
    a_board_keeps_pieces_of_answers,
    what_administrators_do_is_written_down,
);

async fn answered(f: &Fresh, c: &ba_store::Conversation, message: &str, replaces: Option<&RunId>) -> RunId {
    let replaces = match replaces {
        Some(run) => Some(f.store.replaced(&c.id, run).await.unwrap()),
        None => None,
    };
    let new = NewRun { replaces, model: "test:one".into(), ..new_run(c, message) };
    f.store.admit(new.clone()).await.unwrap();
    let step = last_step(&c.id, &new.run_id, message, &format!("a {message}"));
    f.store.commit_step(&new.run_id, step).await.unwrap();
    new.run_id
}

async fn asked(f: &Fresh, c: &ba_store::Conversation) -> Vec<String> {
    f.store.turns(&c.id).await.unwrap().into_iter().map(|round| round.user_message).collect()
}

async fn another_version_takes_the_turns_place(f: Fresh) {
    let c = f.conversation().await;
    answered(&f, &c, "one", None).await;
    let two = answered(&f, &c, "two", None).await;
    answered(&f, &c, "three", None).await;
    assert_eq!(f.store.turn_versions(&c.id).await.unwrap(), vec![]);

    let turn = f.store.replaced(&c.id, &two).await.unwrap();
    let before = f.store.turns_before(&c.id, turn.base).await.unwrap();
    assert_eq!(before.iter().map(|r| r.user_message.as_str()).collect::<Vec<_>>(), ["one"]);
    let edited = answered(&f, &c, "two, edited", Some(&two)).await;
    assert_eq!(asked(&f, &c).await, ["one", "two, edited", "three"]);
    let third = answered(&f, &c, "two, again", Some(&edited)).await;
    assert_eq!(
        asked(&f, &c).await,
        ["one", "two, again", "three"],
        "a version of a version is of the same turn"
    );
    let versions = f.store.turn_versions(&c.id).await.unwrap();
    let seen: Vec<_> = versions.iter().map(|v| (&v.run_id, &v.turn_id, v.superseded)).collect();
    assert_eq!(seen, [(&two, &two, true), (&edited, &two, true), (&third, &two, false)]);
    assert_eq!(f.store.turn_ids(&c.id).await.unwrap()[1], third);

    // A turn that is still being answered is not asked again, nor one of another conversation.
    let open = new_run(&c, "open");
    f.store.admit(open.clone()).await.unwrap();
    let refused = f.store.replaced(&c.id, &open.run_id).await.unwrap_err();
    assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
    let other = f.conversation().await;
    assert!(f.store.replaced(&other.id, &two).await.unwrap_err().is_not_found());
}

async fn an_older_version_can_be_chosen_again(f: Fresh) {
    let c = f.conversation().await;
    let one = answered(&f, &c, "one", None).await;
    let edited = answered(&f, &c, "one, edited", Some(&one)).await;
    answered(&f, &c, "two", None).await;
    assert!(f.store.choose_version(&bob(), &one).await.unwrap_err().is_not_found());
    let chosen = f.store.choose_version(&alice(), &one).await.unwrap();
    assert_eq!((&chosen.run_id, &chosen.turn_id), (&one, &one));
    assert_eq!(asked(&f, &c).await, ["one", "two"]);
    f.store.choose_version(&alice(), &edited).await.unwrap();
    assert_eq!(asked(&f, &c).await, ["one, edited", "two"]);
}

async fn versions_travel_in_archives(f: Fresh) {
    let c = f.conversation().await;
    let one = answered(&f, &c, "one", None).await;
    answered(&f, &c, "one, edited", Some(&one)).await;
    answered(&f, &c, "two", None).await;
    let archive = f.store.export(&alice(), &c.id, &[]).await.unwrap();
    let copy = f.store.import(&bob(), &archive).await.unwrap().conversation;
    assert_eq!(asked(&f, &copy).await, ["one, edited", "two"]);
    let versions = f.store.turn_versions(&copy.id).await.unwrap();
    assert_eq!(versions.iter().map(|v| v.superseded).collect::<Vec<_>>(), [true, false]);
    assert_eq!(versions[0].turn_id, versions[1].turn_id);
}

async fn feedback_is_kept_replaced_and_purged(f: Fresh) {
    let c = f.conversation().await;
    let run = answered(&f, &c, "one", None).await;
    assert!(f.store.set_feedback(&bob(), &run, Rating::Up, "").await.unwrap_err().is_not_found());
    f.store.set_feedback(&alice(), &run, Rating::Up, "").await.unwrap();
    f.store.set_feedback(&alice(), &run, Rating::Down, " wrong year ").await.unwrap();
    let kept = f.store.feedback(&c.id).await.unwrap();
    assert_eq!((kept.len(), kept[0].rating, kept[0].reason.as_str()), (1, Rating::Down, "wrong year"));
    let all = f.store.all_feedback().await.unwrap();
    assert_eq!(
        (all[0].question.as_str(), all[0].model.as_str(), &all[0].owner),
        ("one", "test:one", &alice())
    );
    f.store.delete(&alice(), &c.id).await.unwrap();
    assert_eq!(f.store.all_feedback().await.unwrap(), vec![], "of a deleted conversation nothing is told");
    f.store.purge(&c.id).await.unwrap();

    let c = f.conversation().await;
    let run = answered(&f, &c, "two", None).await;
    f.store.set_feedback(&alice(), &run, Rating::Up, "").await.unwrap();
    f.store.remove_feedback(&alice(), &run).await.unwrap();
    assert_eq!(f.store.feedback(&c.id).await.unwrap(), vec![]);
}

async fn usage_is_counted_from_what_is_stored(f: Fresh) {
    let c = f.conversation().await;
    answered(&f, &c, "one", None).await;
    answered(&f, &c, "two", None).await;
    f.store.admit(NewRun { model: "test:two".into(), ..new_run(&c, "open") }).await.unwrap();
    let found = f.store.usage_by_model(&alice()).await.unwrap();
    let seen: Vec<_> = found.iter().map(|of| (of.model.as_str(), of.runs, of.durations.len())).collect();
    assert_eq!(seen, [("test:one", 2, 2), ("test:two", 1, 0)]);
    assert_eq!(f.store.usage_by_model(&bob()).await.unwrap(), vec![]);
    assert_eq!(f.store.usage_by_owner().await.unwrap()[0].1, 3);
}

async fn conversations_are_pinned_tagged_and_marked_while_answered(f: Fresh) {
    let (old, new) = (f.conversation().await, f.conversation().await);
    let mark = async |pinned, tags: Option<&[&str]>| {
        let tags = tags.map(|tags| tags.iter().map(ToString::to_string).collect());
        f.store.mark_conversation(&alice(), &old.id, pinned, tags).await
    };
    mark(Some(true), Some(&["销售", "销售", " 2024 "])).await.unwrap();
    mark(None, None).await.unwrap();
    let marks = f.store.conversation_marks(&alice()).await.unwrap();
    assert_eq!(marks.len(), 1);
    assert_eq!(
        (marks[0].pinned, marks[0].running, marks[0].tags.as_slice()),
        (true, false, &["销售".to_owned(), "2024".to_owned()][..])
    );
    let listed = f.store.conversations(&alice(), None, 10, 0).await.unwrap();
    assert_eq!(listed[0].id, old.id, "pinned ones come first");
    assert_eq!(
        f.store.conversations(&alice(), Some("销售"), 10, 0).await.unwrap().len(),
        1,
        "found by its tag"
    );
    f.store.admit(new_run(&new, "open")).await.unwrap();
    mark(Some(false), Some(&[])).await.unwrap();
    let marks = f.store.conversation_marks(&alice()).await.unwrap();
    assert_eq!((marks.len(), &marks[0].id, marks[0].running), (1, &new.id, true));
    assert!(f.store.mark_conversation(&bob(), &old.id, Some(true), None).await.unwrap_err().is_not_found());
    assert!(matches!(mark(None, Some(&[&"x".repeat(31)])).await, Err(StoreError::Invalid(_))));
}

async fn a_board_keeps_pieces_of_answers(f: Fresh) {
    let c = f.conversation().await;
    let run = answered(&f, &c, "one", None).await;
    let piece =
        |run: &RunId| NewBoardItem { run_id: run.clone(), kind: "chart".into(), item: 0, title: "t".into() };
    assert!(f.store.board_add(&bob(), piece(&run)).await.unwrap_err().is_not_found());
    let kept = f.store.board_add(&alice(), piece(&run)).await.unwrap();
    assert_eq!(f.store.board_add(&alice(), piece(&run)).await.unwrap(), kept, "once");
    let again = answered(&f, &c, "one", Some(&run)).await;
    f.store.board_refresh(&alice(), &kept.id, &again).await.unwrap();
    assert_eq!(f.store.board(&alice()).await.unwrap()[0].run_id, again);
    assert!(f.store.board_remove(&bob(), &kept.id).await.unwrap_err().is_not_found());
    f.store.board_remove(&alice(), &kept.id).await.unwrap();
    assert_eq!(f.store.board(&alice()).await.unwrap(), vec![]);
    f.store.board_add(&alice(), piece(&again)).await.unwrap();
    f.store.delete(&alice(), &c.id).await.unwrap();
    f.store.purge(&c.id).await.unwrap();
    assert_eq!(f.store.board(&alice()).await.unwrap(), vec![]);
}

async fn what_administrators_do_is_written_down(f: Fresh) {
    f.store.audit("ana", "user.add", "bob").await.unwrap();
    f.store.audit("ana", "user.disable", "bob").await.unwrap();
    let log = f.store.audit_log(10).await.unwrap();
    let seen: Vec<_> =
        log.iter().map(|e| (e.actor.as_str(), e.action.as_str(), e.subject.as_str())).collect();
    assert_eq!(seen, [("ana", "user.disable", "bob"), ("ana", "user.add", "bob")]);
    assert_eq!(f.store.audit_log(1).await.unwrap().len(), 1);
}

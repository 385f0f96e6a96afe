//! Changes of messages, at both ends.

use super::support::{assert_changed, changed};

#[test]
fn a_message_goes_at_both_ends_with_the_calls_that_wait_for_it() {
    let before = "
        0 send 1 7 0
        0 isend 1 7 0 6 0
        0 isend 1 8 0 6 1
        0 waitall_of 0-1
        1 recv 0 7 0
        1 irecv 0 7 0 6 0
        1 compute 5
        1 wait_of 0
        1 recv 0 8 0
    ";
    let after = "
        0 isend 1 8 0 6 1
        0 waitall_of 1
        1 compute 5
        1 recv 0 8 0
    ";
    assert_changed("[[change]]\nkind = 'remove-messages'\nmax_bytes = 0\ntag = 7", 2, before, after);
}

#[test]
fn a_receiver_follows_the_sizes_that_its_sender_knows() {
    // The buffers are larger than the messages, and one tag serves for all of them.
    let before = "
        0 send 1 0 0
        0 send 1 0 100
        0 send 1 0 0
        1 recv 0 0 4096
        1 irecv 0 0 4096 6 3
        1 wait_of 3
        1 compute 1
        1 recv 0 0 4096
    ";
    let after = "
        0 send 1 0 100
        1 irecv 0 0 4096 6 3
        1 wait_of 3
        1 compute 1
    ";
    assert_changed("[[change]]\nkind = 'remove-messages'\nmax_bytes = 0", 2, before, after);
}

#[test]
fn a_region_of_the_sender_selects_what_is_received_anywhere() {
    let before = "
        0 region_begin foo
        0 send 1 0 0
        0 region_end foo
        0 send 1 0 0
        1 recv 0 0 0
        1 compute 1
        1 recv 0 0 0
    ";
    let after = "
        0 region_begin foo
        0 region_end foo
        0 send 1 0 0
        1 compute 1
        1 recv 0 0 0
    ";
    assert_changed("[[change]]\nkind = 'remove-messages'\nmax_bytes = 0\nregion = 'foo'", 2, before, after);
}

#[test]
fn a_receive_from_any_source_changes_with_the_message_that_it_was_matched_with() {
    let before = "
        0 irecv * * 100 6 0 any
        0 irecv * 3 100 6 1 any_source
        0 matched 1 1 3
        0 wait_of 1
        0 matched 0 2 3
        0 wait_of 0
        1 send 0 3 0
        2 send 0 3 0
    ";
    let after = "
        0 irecv * * 100 6 0 any
        0 matched 0 2 3
        0 wait_of 0
        2 send 0 3 0
    ";
    assert_changed("[[change]]\nkind = 'remove-messages'\nmax_bytes = 0\nranks = '1'", 3, before, after);
    let before = before.replace("send 0 3 0", "send 0 3 100");
    let after = before.replace("* 3 100", "* 3 200").replace("1 send 0 3 100", "1 send 0 3 200");
    let scale = "[[change]]\nkind = 'scale-messages'\nfactor = 2\nranks = '1'";
    assert_changed(scale, 3, &before, &after);
    assert_changed(&format!("{scale}\nmin_bytes = 1"), 3, &before, &after);
}

#[test]
fn probes_go_with_their_messages() {
    let before = "
        0 send 1 0 0
        0 send 1 0 9
        1 iprobe none 0 0 9
        1 probe 0 0 9
        1 recv 0 0 9
        1 iprobe found 0 0 9
        1 recv 0 0 9
    ";
    let after = "
        0 send 1 0 9
        1 iprobe none 0 0 9
        1 iprobe found 0 0 9
        1 recv 0 0 9
    ";
    assert_changed("[[change]]\nkind = 'remove-messages'\nmax_bytes = '0 B'", 2, before, after);
}

#[test]
fn a_side_of_a_sendrecv_goes_alone() {
    let before = "0 sendrecv 1 0 0 1 0 0\n1 sendrecv 0 0 0 0 0 0";
    let after = "0 sendrecv - - - 1 0 0\n1 sendrecv 0 0 0 - - -";
    assert_changed("[[change]]\nkind = 'remove-messages'\nmax_bytes = 0\nranks = '0'", 2, before, after);
    assert_changed("[[change]]\nkind = 'remove-messages'\nmax_bytes = 0\nto = '0-1'", 2, before, "");
}

#[test]
fn persistent_requests_stay_and_are_not_started() {
    let before = "
        0 send_init 1 0 0 0
        0 send_init 1 1 0 1
        0 start 0-1
        0 waitall_of 0-1
        0 request_free 0
        0 request_free 1
        1 recv_init 0 0 0 0
        1 start 0
        1 recv 0 1 0
        1 wait_of 0
        1 request_free 0
    ";
    let after = "
        0 send_init 1 0 0 0
        0 send_init 1 1 0 1
        0 start 1
        0 waitall_of 1
        0 request_free 0
        0 request_free 1
        1 recv_init 0 0 0 0
        1 recv 0 1 0
        1 request_free 0
    ";
    assert_changed("[[change]]\nkind = 'remove-messages'\nmax_bytes = 0\ntag = 0", 2, before, after);
}

#[test]
fn requests_without_a_number_are_told_apart_by_their_order() {
    let before = "
        0 isend 1 0 0
        0 isend 1 0 5
        0 wait 0 1 0
        0 compute 1
        0 wait 0 1 0
        1 irecv 0 0 5
        1 irecv 0 0 5
        1 waitall 2
    ";
    let after = "
        0 isend 1 0 5
        0 compute 1
        0 wait 0 1 0
        1 irecv 0 0 5
        1 waitall 1
    ";
    assert_changed("[[change]]\nkind = 'remove-messages'\nmax_bytes = 0", 2, before, after);
}

#[test]
fn a_communicator_is_named_by_its_members() {
    // Ranks number communicators as they like.
    let before = "
        0 comm_split 2 0 0,2
        0 comm_split 3 0 0-2
        0 on 2 send 2 0 8
        0 on 3 send 2 0 8
        0 send 2 0 8
        1 comm_split - 0
        1 comm_split 2 0 0-2
        2 comm_split 5 0 0,2
        2 comm_split 4 0 0-2
        2 on 5 recv 0 0 8
        2 on 4 recv 0 0 8
        2 recv 0 0 8
    ";
    let scaled = |lines: &[&str]| {
        let twice = |line: &str| format!("{} 16", line.trim_end_matches(" 8"));
        lines.iter().fold(before.to_owned(), |text, line| text.replace(line, &twice(line)))
    };
    let change = |name: &str| format!("[[change]]\nkind = 'scale-messages'\nfactor = 2\ncommunicator = '{name}'");
    for by_order in ["", "\nmin_bytes = 1"] {
        let change = |name: &str| change(name) + by_order;
        assert_changed(&change("0,2"), 3, before, &scaled(&["0 on 2 send 2 0 8", "2 on 5 recv 0 0 8"]));
        assert_changed(&change("0-2"), 3, before, &scaled(&["0 on 3 send 2 0 8", "2 on 4 recv 0 0 8"]));
        assert_changed(&change("world"), 3, before, &scaled(&["0 send 2 0 8", "2 recv 0 0 8"]));
    }
}

#[test]
fn annotations_go_with_their_calls() {
    let before = "0 called 1 2\n0 send 1 0 0\n0 called 3 4\n0 send 1 1 8\n1 recv 0 0 0\n1 recv 0 1 8";
    let after = "0 called 3 4\n0 send 1 1 8\n1 recv 0 1 8";
    assert_changed("[[change]]\nkind = 'remove-messages'\nmax_bytes = 0\ntag = 0", 2, before, after);
}

#[test]
fn sizes_are_multiplied_at_both_ends() {
    let before = "0 send 1 0 100\n0 isend 1 1 100 6 0\n0 wait_of 0\n1 recv 0 0 100\n1 recv 0 1 100";
    let after = "0 send 1 0 250\n0 isend 1 1 100 6 0\n0 wait_of 0\n1 recv 0 0 250\n1 recv 0 1 100";
    assert_changed("[[change]]\nkind = 'scale-messages'\nfactor = 2.5\ntag = 0", 2, before, after);
    assert_changed("[[change]]\nkind = 'scale-messages'\nfactor = 1", 2, before, before);
}

#[test]
fn messages_that_an_earlier_change_removed_cannot_be_changed() {
    let remove = "[[change]]\nkind = 'remove-messages'\nmax_bytes = 0\n";
    let scale = "[[change]]\nkind = 'scale-messages'\nfactor = 2\n";
    let error = changed(&[remove, scale].concat(), 2, "0 send 1 0 0\n1 recv 0 0 0").unwrap_err();
    assert!(error.starts_with("× no message is selected here") && error.contains("[changes.toml:5:8]"), "{error}");
}

#[test]
fn blocking_calls_become_non_blocking_ones() {
    let first = 1_u32 << 31;
    let before = "
        0 init
        0 send 1 0 10
        0 compute 1
        0 send 1 0 20
        0 ssend 1 1 30
        0 barrier
        0 finalize
        1 init
        1 compute 5
        1 recv 0 0 10
        1 recv 0 0 20
        1 compute 6
        1 region_end foo
        1 recv 0 1 30
        1 barrier
        1 compute 7
    ";
    let sends = format!(
        "
        0 init
        0 isend 1 0 10 6 {first}
        0 compute 1
        0 waitall_of {first}
        0 isend 1 0 20 6 {first}
        0 issend 1 1 30 6 {second}
        0 waitall_of {first}-{second}
        0 barrier
        0 finalize
        ",
        second = first + 1
    );
    let receives = format!(
        "
        1 init
        1 irecv 0 0 10 6 {first}
        1 compute 5
        1 waitall_of {first}
        1 irecv 0 0 20 6 {first}
        1 waitall_of {first}
        1 irecv 0 1 30 6 {first}
        1 compute 6
        1 region_end foo
        1 waitall_of {first}
        1 barrier
        1 compute 7
        "
    );
    let (senders, receivers) = before.split_at(before.find("1 init").unwrap());
    let change = "[[change]]\nkind = 'nonblocking'\n";
    assert_changed(change, 2, before, &(sends.clone() + &receives));
    assert_changed(&format!("{change}calls = 'sends'"), 2, before, &(sends + receivers));
    assert_changed(&format!("{change}calls = 'receives'"), 2, before, &(senders.to_owned() + &receives));
}

#[test]
fn a_collective_goes_or_changes_for_all_members_of_a_communicator() {
    let before = "
        0 barrier
        0 comm_split 2 0 0,2
        0 on 2 ibarrier 0
        0 on 2 allreduce 8 4
        0 wait_of 0
        1 barrier
        1 comm_split - 0
        2 barrier
        2 comm_split 3 0 0,2
        2 on 3 ibarrier 7
        2 on 3 allreduce 8 4
        2 waitall_of 7
    ";
    let without = |lines: &[&str]| lines.iter().fold(before.to_owned(), |text, line| text.replace(line, ""));
    let remove = "[[change]]\nkind = 'remove-messages'\ncollective = 'barrier'\n";
    let of_two = ["0 on 2 ibarrier 0", "0 wait_of 0", "2 on 3 ibarrier 7", "2 waitall_of 7"];
    let of_all = ["0 barrier", "1 barrier", "2 barrier"];
    assert_changed(&format!("{remove}ranks = '0,2'\ncommunicator = '0,2'"), 3, before, &without(&of_two));
    assert_changed(&format!("{remove}communicator = 'world'"), 3, before, &without(&of_all));
    assert_changed(remove, 3, before, &without(&[&of_two[..], &of_all].concat()));
    let scale = "[[change]]\nkind = 'scale-messages'\nfactor = 4\ncollective = 'allreduce'";
    assert_changed(scale, 3, before, &before.replace("allreduce 8 4", "allreduce 32 16"));
    insta::assert_snapshot!(changed(&format!("{remove}ranks = '0,2'"), 3, before).unwrap_err());
    let error = changed(&scale.replace("allreduce", "bcast"), 3, before).unwrap_err();
    assert!(error.starts_with("× no bcast is selected here") && error.contains("[changes.toml:4:14]"), "{error}");
}

//! Changes of the sizes of messages that follow each other: one survey serves them all.

use super::support::{assert_changed, changed};

/// Messages of all kinds, of which the changes below select some by their sizes, regions, tags and receivers.
const TRACE: &str = "
    0 send_init 1 9 100 4
    0 region_begin foo
    0 send 1 0 100
    0 isend 1 0 300 6 0
    0 region_end foo
    0 sendrecv 1 1 500 1 1 500
    0 start 4
    0 waitall_of 0,4
    1 recv_init 0 9 4096 2
    1 irecv * * 4096 6 1 any
    1 recv 0 0 4096
    1 matched 1 0 0
    1 wait_of 1
    1 sendrecv 0 1 500 0 1 500
    1 start 2
    1 wait_of 2
";

const SCALINGS: [&str; 5] = [
    "[[change]]\nkind = 'scale-messages'\nfactor = 2\nregion = 'foo'\n",
    "[[change]]\nkind = 'scale-messages'\nfactor = 3\nmin_bytes = 200\nmax_bytes = 500\n",
    "[[change]]\nkind = 'scale-messages'\nfactor = 0.5\ntag = 9\n",
    "[[change]]\nkind = 'scale-messages'\nfactor = 10\nmax_bytes = 50\n",
    "[[change]]\nkind = 'scale-messages'\nfactor = 7\nranks = '1'\nto = '0'\n",
];

/// The first message has 200 bytes after the first change, and so is the only one in the region that the second selects.
#[test]
fn a_change_selects_by_the_sizes_that_those_before_it_leave() {
    let before = "
        0 region_begin foo
        0 send 1 0 100
        0 send 1 0 300
        0 region_end foo
        1 recv 0 0 100
        1 recv 0 0 300
    ";
    let after = "
        0 region_begin foo
        0 send 1 0 600
        0 send 1 0 600
        0 region_end foo
        1 recv 0 0 600
        1 recv 0 0 600
    ";
    assert_changed(&SCALINGS[..2].concat(), 2, before, after);
}

/// Something between two changes has each survey the trace by itself.
#[test]
fn changes_do_together_what_they_do_one_by_one() {
    let apart = "[[change]]\nkind = 'remove-messages'\nmax_bytes = 0\ntag = 77\n";
    let extra = "0 send 1 77 0\n1 recv 0 77 0\n";
    for many in 1..=SCALINGS.len() {
        let together = changed(&SCALINGS[..many].concat(), 2, TRACE).unwrap();
        // Each removal in between takes out one message that only it selects.
        let removal = |number: usize| apart.replace("77", &(1000 + number).to_string());
        let one_by_one: String = SCALINGS[..many]
            .iter()
            .enumerate()
            .map(|(number, change)| format!("{change}{}", removal(number)))
            .collect();
        let text: String = (0..many).map(|number| extra.replace("77", &(1000 + number).to_string())).collect();
        assert_eq!(together, changed(&one_by_one, 2, &format!("{TRACE}{text}")).unwrap(), "{many}");
    }
}

#[test]
fn a_change_that_selects_nothing_is_named() {
    let nothing = "[[change]]\nkind = 'scale-messages'\nfactor = 2\nmin_bytes = 150\nmax_bytes = 160\n";
    let told = changed(&[SCALINGS[0], nothing, SCALINGS[2]].concat(), 2, TRACE).unwrap_err();
    assert!(told.contains("changes.toml:6") && told.contains("no message is selected here"), "{told}");
}

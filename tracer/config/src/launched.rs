//! The words by which the tracer reports to `titrace` whether any of the programs below it is traced.
//!
//! The tracer sends words, each in a datagram, to a socket named by an environment variable. There is no answer, and
//! without a receiver the words are lost.

/// The variable with the number of the process that `titrace` became, a slash, and more. It is also the abstract name
/// of the socket. It has another prefix than the settings, because it is not one.
pub const VARIABLE: &str = "_TITRACE_LAUNCHED";

/// Maximum length of a name: a socket's name has 108 bytes, including a terminating 0.
pub const NAME: usize = 107;

/// A process calls MPI where the tracer sees it, or the tracer has said why it cannot see it.
pub const SEEN: u8 = b's';
/// The tracer is loaded into the program that `titrace` became; the program's path follows.
pub const LOADED: u8 = b'l';
/// The program is about to become another by `exec`.
pub const LEFT: u8 = b'x';

/// The number of the process that a name begins with.
pub fn process(name: &[u8]) -> Option<u32> {
    let digits = name.split(|&byte| byte == b'/').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_begins_with_a_process() {
        assert_eq!(process(b"17/titrace-5"), Some(17));
        assert_eq!([process(b""), process(b"x/1"), process(b"/1")], [None; 3]);
    }
}

//! What readers of foreign formats share: the time and computation before a call, and names of functions and regions.

use titr_common::event::{Annotation, Event, Span};
use titr_common::trace::{LocatedEvents, Location};
use titr_common::units::{Instructions, Nanoseconds};

/// The calls of one thread in time.
#[derive(Default)]
pub(crate) struct CallTimes {
    /// The end of the last call.
    returned: Nanoseconds,
}

impl CallTimes {
    /// The calls of a thread that begins at this time.
    pub(crate) fn since(returned: Nanoseconds) -> Self {
        Self { returned }
    }

    /// Appends the computation since the last call and the time of this one. The event of the call has to follow.
    ///
    /// The computation is `counted` where the trace has a counter of instructions; otherwise, it is the time that passed,
    /// a nanosecond for an instruction.
    pub(crate) fn call(
        &mut self,
        events: &mut LocatedEvents,
        location: Location,
        span: Span,
        counted: Option<Instructions>,
    ) {
        let (volume, span) = self.next(span, counted);
        if volume.0 > 0.0 {
            events.push(Event::Compute(volume), location);
        }
        events.push(Event::Annotation(Annotation::Call(span)), location);
    }

    /// The computation since the last call, and the time of this one, as [`call`](Self::call) appends them.
    #[inline]
    pub(crate) fn next(&mut self, span: Span, counted: Option<Instructions>) -> (Instructions, Span) {
        let begin = span.begin.max(self.returned);
        let end = span.end.max(begin);
        let volume = counted.unwrap_or(Instructions((begin.0 - self.returned.0) as f64));
        self.returned = end;
        (volume, Span { begin, end })
    }
}

/// Whether a function of MPI, named without `MPI_`, neither communicates nor waits. Its time is computation, and a trace
/// lacks nothing without its event. Of a function that is not known, neither is.
pub(crate) fn is_local(function: &str) -> bool {
    /// What the names begin with.
    const LOCAL: &str = "abort add_error_ address aint_ alloc_mem attr_ buffer_attach cart_coords cart_get cart_map cart_rank \
        cart_shift cartdim_get close_port comm_free dims_create dist_graph_neighbors errhandler_ error_ finalized free_mem \
        get_address get_count get_elements get_library_version get_processor_name get_version graph_get graph_map \
        graph_neighbors graphdims_get group_ info_ initialized io_test is_thread_main keyval_ op_ open_port pack pcontrol \
        query_thread reduce_local register_datarep remove_error_ request_get_status status_ test_cancelled topo_test type_ \
        unpack wtick wtime";
    /// What follows the name of an object.
    const OF_AN_OBJECT: &str = "call_errhandler compare create_errhandler create_keyval delete_attr free_keyval get_ group \
        rank remote_ seek set_ shared_query size test_inter";
    /// Those of an object that ask other processes, or are of all members.
    const OF_ALL: [&str; 7] = [
        "comm_get_parent",
        "file_get_size",
        "file_seek_shared",
        "file_set_atomicity",
        "file_set_info",
        "file_set_size",
        "file_set_view",
    ];
    let name = function.to_ascii_lowercase();
    let begins = |name: &str, with: &str| with.split(' ').any(|beginning| name.starts_with(beginning));
    let mut objects = ["comm_", "win_", "file_"].into_iter().filter_map(|object| name.strip_prefix(object));
    begins(&name, LOCAL) || objects.any(|rest| begins(rest, OF_AN_OBJECT)) && !OF_ALL.contains(&name.as_str())
}

/// The longest name of a region, in characters.
const LONGEST_NAME: usize = 200;

/// The name of a region as one word, as titr's tracer writes it: a blank becomes `_`.
pub(crate) fn region_name(name: &str) -> Box<str> {
    let word = |letter: char| if letter.is_whitespace() || letter.is_control() { '_' } else { letter };
    let word: String = name.chars().take(LONGEST_NAME).map(word).collect();
    if word.is_empty() { "_".into() } else { word.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_region_is_one_word() {
        assert_eq!(&*region_name("int main(int, char**)"), "int_main(int,_char**)");
        assert_eq!((&*region_name(""), region_name(&"é".repeat(300)).chars().count()), ("_", LONGEST_NAME));
    }

    #[test]
    fn what_communicates_or_waits_or_is_unknown_is_not_local() {
        for name in ["Pack", "Type_commit", "Comm_rank", "COMM_GET_ATTR", "File_get_position", "Wtime", "Reduce_local"]
        {
            assert!(is_local(name), "{name}");
        }
        for name in [
            "Get",
            "Get_accumulate",
            "Cart_create",
            "Comm_get_parent",
            "File_set_view",
            "Ibarrier",
            "Graph_create",
            "x",
        ] {
            assert!(!is_local(name), "{name}");
        }
    }

    #[test]
    fn calls_do_not_overlap_even_where_the_clock_runs_backwards() {
        let (mut times, mut events) = (CallTimes::default(), LocatedEvents::default());
        for (begin, end) in [(5, 8), (7, 6), (9, 9)] {
            let span = Span { begin: Nanoseconds(begin), end: Nanoseconds(end) };
            times.call(&mut events, Location::default(), span, None);
        }
        let spans =
            |begin, end| Event::Annotation(Annotation::Call(Span { begin: Nanoseconds(begin), end: Nanoseconds(end) }));
        let expected = [
            Event::Compute(Instructions(5.0)),
            spans(5, 8),
            spans(8, 8),
            Event::Compute(Instructions(1.0)),
            spans(9, 9),
        ];
        assert_eq!(events.iter().map(|located| located.event.to_event()).collect::<Vec<_>>(), expected);
    }
}

//! The order in which the threads of a rank execute their events.
//!
//! A trace has the calls of a rank's threads in the order in which they returned. On another machine they return in
//! another order, which depends on messages and processors. A replay has to keep the dependences between threads: one
//! makes an object, and another uses it. An event therefore comes after
//!
//! * the last event of any thread that named the same request: one thread may wait for a message that another has sent;
//! * the event that made the communicator it uses; for a collective, also the last collective there; if it frees the
//!   communicator, every use of the communicator and of persistent requests set up on it. MPI makes the program
//!   responsible for that order (MPI 4.0 §6.14, §7.4.2), by means that leave no trace;
//! * the event that made the window it uses, and the last synchronisation there; if it synchronises or frees the
//!   window, every use of the window;
//! * the event that opened the file it uses; for a collective call, also the last collective call there; if it closes
//!   the file, every use of the file;
//! * all events, if it is `finalize` (§11.6.2).
//!
//! The program kept all of these, so they cannot be the cause of a deadlock.
//!
//! Requests, communicators, windows and files have the lowest number that was free, which depended on how the threads
//! interleaved. Here each gets a unique number.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Event, FileId, ObjectUse, RequestId, RequestUse, WinId};
use titr_common::program::OpenRequest;

/// The first of the numbers assigned here: those of a trace are smaller.
const FRESH: u32 = 1 << 31;

/// The position of an event in its rank: its thread, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The index of the thread in its rank.
    pub(super) thread: usize,
    /// The number of the event in its thread, from 1.
    pub(super) number: u64,
}

/// The requests, communicators, windows and files of a rank, as the events taken so far have left them.
#[derive(Default)]
pub(super) struct Order {
    /// How many each thread has.
    events: Vec<u64>,
    requests: FxHashMap<RequestId, KnownRequest>,
    communicators: FxHashMap<CommId, Known<CommId>>,
    windows: FxHashMap<WinId, Known<WinId>>,
    files: FxHashMap<FileId, Known<FileId>>,
    numbers: u32,
}

struct KnownRequest {
    id: RequestId,
    persistent: bool,
    /// Whether it has to be completed.
    active: bool,
    /// The communicator of a persistent request, by its number in the trace and here: to start the request uses it.
    comm: Option<(CommId, CommId)>,
    named: Step,
}

/// The last event of each thread that used something, in the order of the threads' first uses.
#[derive(Default)]
struct LastUses {
    steps: Vec<Step>,
    /// The place of each thread among the steps.
    places: FxHashMap<usize, usize>,
}

impl LastUses {
    fn note(&mut self, here: Step) {
        let place = *self.places.entry(here.thread).or_insert(self.steps.len());
        match self.steps.get_mut(place) {
            Some(step) => *step = here,
            None => self.steps.push(here),
        }
    }

    /// Moves all of them to the end of `after`.
    fn append_to(&mut self, after: &mut Vec<Step>) {
        after.append(&mut self.steps);
        self.places.clear();
    }
}

/// A communicator, a window or a file.
struct Known<I> {
    id: I,
    /// The event that made a communicator.
    made: Option<Step>,
    /// The last collective call on a communicator or file, or synchronisation of a window; at first, the event that made the
    /// window or opened the file.
    last: Option<Step>,
    /// The uses, of a window since `last`.
    uses: LastUses,
}

impl<I> Known<I> {
    fn new(id: I, made: Option<Step>, last: Option<Step>) -> Self {
        Self { id, made, last, uses: LastUses::default() }
    }

    /// What the trace calls `id`, which becomes the number used here. Without an event that made it, it keeps its number.
    fn named<'k>(known: &'k mut FxHashMap<I, Self>, id: &mut I) -> &'k mut Self
    where
        I: Copy + Eq + Hash,
    {
        let object = known.entry(*id).or_insert_with(|| Self::new(*id, None, None));
        *id = object.id;
        object
    }
}

impl Order {
    /// For a rank with these requests. They keep their numbers, and so do their communicators.
    pub(super) fn new(requests: impl Iterator<Item = OpenRequest>) -> Self {
        let named = Step { thread: 0, number: 0 };
        let mut this = Self::default();
        for OpenRequest { id, comm, is_persistent: persistent, is_active: active } in requests {
            let comm = comm.map(|comm| (comm, comm));
            this.communicators.extend(comm.map(|(comm, _)| (comm, Known::new(comm, None, None))));
            this.requests.insert(id, KnownRequest { id, persistent, active, comm, named });
        }
        this
    }

    /// Takes the current event of the main thread, when the first other thread appears. It has already had its effects
    /// on requests, and keeps the numbers of the trace.
    pub(super) fn take_current(&mut self, event: &Event) {
        let mut event = event.clone();
        let here = Step { thread: 0, number: 1 };
        event.requests(|id, _| {
            if let Some(request) = self.requests.get_mut(id) {
                request.named = here;
                request.use_communicator(&mut self.communicators, here);
            }
        });
        event.communicators(|id, use_| self.use_communicator(id, use_, here, &mut Vec::new()));
        self.use_windows_and_files(&mut event, here, &mut Vec::new());
        self.events.push(here.number);
    }

    /// Takes the next event of the trace, by `thread`. Replaces the numbers it names, and the unnamed requests it
    /// `asks` for, by the numbers used here, and returns the events that it comes after.
    pub(super) fn take(&mut self, thread: usize, event: &mut Event, asks: &mut [RequestId]) -> Vec<Step> {
        let mut after = Vec::new();
        if thread >= self.events.len() {
            self.events.resize(thread + 1, 0);
        }
        self.events[thread] += 1;
        let here = Step { thread, number: self.events[thread] };

        let mut comm = None;
        event.communicators(|id, use_| {
            let told = *id;
            self.use_communicator(id, use_, here, &mut after);
            comm = Some((told, *id));
        });
        asks.iter_mut().for_each(|id| self.name(id, RequestUse::Completes, None, here, &mut after));
        event.requests(|id, use_| self.name(id, use_, comm, here, &mut after));
        self.use_windows_and_files(event, here, &mut after);
        if let Event::Finalize = event {
            after.extend((0..).zip(&self.events).map(|(thread, &number)| Step { thread, number }));
        }
        after.retain(|step| step.thread != thread);
        after
    }

    /// The number here of a request that the trace calls `id`.
    pub(super) fn request(&self, id: RequestId) -> RequestId {
        self.requests.get(&id).map_or(id, |request| request.id)
    }

    /// Records that an event on `comm` names a request.
    fn name(
        &mut self,
        id: &mut RequestId,
        naming: RequestUse,
        comm: Option<(CommId, CommId)>,
        here: Step,
        after: &mut Vec<Step>,
    ) {
        if let RequestUse::Makes { persistent } = naming {
            let (new, comm) = (RequestId(self.number(id.0)), comm.filter(|_| persistent));
            let request = KnownRequest { id: new, persistent, active: !persistent, comm, named: here };
            self.requests.insert(std::mem::replace(id, request.id), request);
            return;
        }
        let Some(request) = self.requests.get_mut(id) else { return };
        after.push(std::mem::replace(&mut request.named, here));
        request.use_communicator(&mut self.communicators, here);
        match naming {
            RequestUse::Starts => request.active = true,
            RequestUse::Completes => request.active = false,
            RequestUse::Makes { .. } | RequestUse::Uses | RequestUse::Frees => {}
        }
        let gone = naming == RequestUse::Frees || naming == RequestUse::Completes && !request.persistent;
        let told = std::mem::replace(id, request.id);
        if gone {
            self.requests.remove(&told);
        }
    }

    /// The requests that have to be completed after the last event, by the numbers of the trace, in order.
    pub(super) fn outstanding(&self) -> Vec<RequestId> {
        let active = self.requests.iter().filter(|(_, request)| request.active);
        let mut ids: Vec<RequestId> = active.map(|(&id, _)| id).collect();
        ids.sort_unstable();
        ids
    }

    fn use_communicator(&mut self, id: &mut CommId, use_: ObjectUse, here: Step, after: &mut Vec<Step>) {
        let told = *id;
        if use_ == ObjectUse::Makes {
            *id = CommId(self.number(told.0));
            self.communicators.insert(told, Known::new(*id, Some(here), None));
            return;
        }
        let communicator = Known::named(&mut self.communicators, id);
        after.extend(communicator.made);
        match use_ {
            ObjectUse::Accesses | ObjectUse::Makes => {}
            ObjectUse::Orders => after.extend(communicator.last.replace(here)),
            ObjectUse::Frees => communicator.uses.append_to(after),
        }
        communicator.uses.note(here);
        if use_ == ObjectUse::Frees {
            self.communicators.remove(&told);
        }
    }

    fn use_windows_and_files(&mut self, event: &mut Event, here: Step, after: &mut Vec<Step>) {
        if let Event::OneSided(event) = event {
            let (id, use_) = event.window();
            self.use_window(id, use_, here, after);
        }
        if let Event::File(event) = event
            && let Some((id, use_)) = event.file()
        {
            self.use_file(id, use_, here, after);
        }
    }

    fn use_window(&mut self, id: &mut WinId, use_: ObjectUse, here: Step, after: &mut Vec<Step>) {
        let told = *id;
        if use_ == ObjectUse::Makes {
            *id = WinId(self.number(told.0));
            self.windows.insert(told, Known::new(*id, None, Some(here)));
            return;
        }
        let window = Known::named(&mut self.windows, id);
        after.extend(window.last);
        match use_ {
            ObjectUse::Makes => {}
            ObjectUse::Accesses => window.uses.note(here),
            ObjectUse::Orders => {
                window.uses.append_to(after);
                window.last = Some(here);
            }
            ObjectUse::Frees => {
                window.uses.append_to(after);
                self.windows.remove(&told);
            }
        }
    }

    fn use_file(&mut self, id: &mut FileId, use_: ObjectUse, here: Step, after: &mut Vec<Step>) {
        let told = *id;
        if use_ == ObjectUse::Makes {
            *id = FileId(self.number(told.0));
            self.files.insert(told, Known::new(*id, None, Some(here)));
            return;
        }
        let file = Known::named(&mut self.files, id);
        after.extend(file.last);
        match use_ {
            ObjectUse::Makes | ObjectUse::Accesses => {}
            ObjectUse::Orders => file.last = Some(here),
            ObjectUse::Frees => file.uses.append_to(after),
        }
        file.uses.note(here);
        if use_ == ObjectUse::Frees {
            self.files.remove(&told);
        }
    }

    /// The number of what the trace calls `told`, and is made now: that of the trace if it is the [current
    /// event](Self::take_current), before any other, that makes it.
    fn number(&mut self, told: u32) -> u32 {
        if self.events.is_empty() {
            return told;
        }
        self.numbers = (self.numbers + 1) % FRESH;
        FRESH | self.numbers
    }
}

impl KnownRequest {
    /// Records that an event names the request, which keeps its communicator in use.
    fn use_communicator(&self, communicators: &mut FxHashMap<CommId, Known<CommId>>, here: Step) {
        if let Some((told, id)) = self.comm
            && let Some(communicator) = communicators.get_mut(&told)
            && communicator.id == id
        {
            communicator.uses.note(here);
        }
    }
}

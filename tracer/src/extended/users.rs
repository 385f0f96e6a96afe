//! A synchronisation of the processes that use a window or a file before a collective call on it.
//!
//! Such a call waits for all of them inside the library, where background work does not advance, as a call that creates
//! a communicator does ([`super::meeting`]). Collective calls on a window or a file and those on the communicator that it
//! was made from need not have the same order on all members, so each window and file has a context.

use rustc_hash::FxHashMap;
use titr_wrappers::Call;
use titr_wrappers::argument::{Comm, File, Win};
use titr_wrappers::functions::io::Io::{self, *};
use titr_wrappers::functions::one_sided::OneSided::{self, *};
use titr_wrappers::pmpi;

use super::context::ContextKey;
use super::{Engine, Route};
use crate::ranks::Ranks;

/// What several processes have opened or made together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Object {
    Window(Win),
    File(File),
}

/// The windows and files of this rank, each with the context of its users and their ranks in the world.
pub(super) type Users = FxHashMap<Object, (ContextKey, Ranks)>;

impl Engine {
    /// Waits until all who use a window or a file are about to make this call, if it is collective.
    pub(crate) fn meet_users(&self, call: &Call<'_>) {
        let Some((object, is_last)) = collective_on(call) else { return };
        let (exchange, members) = {
            let mut state = self.state();
            let Some((context, members)) = state.users.get(&object).cloned() else { return };
            let exchange = state.contexts.begin(context);
            if is_last {
                // Once it is freed, another thread may get its handle for another one.
                state.users.remove(&object);
                state.contexts.free(context);
            }
            (exchange, members)
        };
        if let Some(exchange) = exchange {
            self.await_members(Route::In(exchange), &members);
        }
    }

    /// Agrees with the other users of a window or a file that a call has just made on a context: collective.
    pub(crate) fn share(&self, call: &Call<'_>) {
        if let Some((object, comm)) = made_by(call)
            && let Some(context) = self.agree(comm)
            && let Some(members) = pmpi::translate(self.abi, comm, self.abi.comm_world)
            && let Some(members) = Ranks::new(&members.local, self.size)
        {
            self.state().users.insert(object, (context, members));
        }
    }
}

/// The window or file that a call has made, and the communicator of those who have.
fn made_by(call: &Call<'_>) -> Option<(Object, Comm)> {
    Some(match call {
        Call::OneSided(MPI_Win_create(new)) => (Object::Window(new.win().get()), new.comm()),
        Call::OneSided(MPI_Win_allocate(new) | MPI_Win_allocate_shared(new)) => {
            (Object::Window(new.win().get()), new.comm())
        }
        Call::OneSided(MPI_Win_create_dynamic(_, comm, new)) => (Object::Window(new.get()), *comm),
        Call::Io(MPI_File_open(comm, .., new)) => (Object::File(new.get()), *comm),
        _ => return None,
    })
}

/// The window or file that all its users make this call on, and whether it is gone after that.
fn collective_on(call: &Call<'_>) -> Option<(Object, bool)> {
    match call {
        Call::OneSided(call) => on_window(call),
        Call::Io(MPI_File_close(file)) => Some((Object::File(file.get()), true)),
        Call::Io(call) => on_file(call).map(|file| (Object::File(file), false)),
        _ => None,
    }
}

fn on_window(call: &OneSided<'_>) -> Option<(Object, bool)> {
    match call {
        MPI_Win_free(win) => Some((Object::Window(win.get()), true)),
        MPI_Win_fence(_, win) => Some((Object::Window(*win), false)),
        _ => None,
    }
}

fn on_file(call: &Io<'_>) -> Option<File> {
    Some(match call {
        MPI_File_set_size(file, _)
        | MPI_File_preallocate(file, _)
        | MPI_File_set_view(file, ..)
        | MPI_File_seek_shared(file, ..)
        | MPI_File_sync(file)
        | MPI_File_read_all_end(file, ..)
        | MPI_File_read_at_all_end(file, ..)
        | MPI_File_read_ordered_end(file, ..)
        | MPI_File_write_all_end(file, ..)
        | MPI_File_write_at_all_end(file, ..)
        | MPI_File_write_ordered_end(file, ..) => *file,
        MPI_File_read_all(data, _)
        | MPI_File_read_ordered(data, _)
        | MPI_File_write_all(data, _)
        | MPI_File_write_ordered(data, _)
        | MPI_File_read_all_begin(data)
        | MPI_File_read_ordered_begin(data)
        | MPI_File_write_all_begin(data)
        | MPI_File_write_ordered_begin(data) => data.fh(),
        MPI_File_read_at_all(data, _)
        | MPI_File_write_at_all(data, _)
        | MPI_File_read_at_all_begin(data)
        | MPI_File_write_at_all_begin(data) => data.fh(),
        _ => return None,
    })
}

//! Every MPI function once, a file for each chapter of the MPI standard (4.0).
//!
//! A line `MPI_Isend, MPI_Isend_c (7): Send, Place<Request>` declares two functions that differ only in the width of
//! their counts (or in being `MPIX_`). They take seven arguments: a message to send, and the place of the request. They
//! communicate, unless `Local` comes after the number. Functions that are only passed on are, with their number of
//! arguments, in two lists, `local` and `communicates`: the two [`Effect`](crate::Effect)s. Functions under `written_out`
//! have arguments that are not words.

use crate::Function;

/// Defines the functions of a chapter: for each a `static` [`Function`] and the two exported symbols; `ALL`, the list of
/// them; and an enum with a variant for each line of functions whose arguments are read.
macro_rules! chapter {
    (
        $($(#[$doc:meta])* pub enum $chapter:ident<$c:lifetime> {
            $($typed:ident $(, $alike:ident)* ($arity:tt) $($effect:ident)?: $($argument:ty),*;)*
        })?
        $(local: $($local:ident($local_arity:tt)),*;)?
        $(communicates: $($other:ident($other_arity:tt)),*;)?
        $(written_out: $($special:ident),*;)?
    ) => {
        $(
            $(#[$doc])*
            #[allow(non_camel_case_types, reason = "spelled as MPI spells them")]
            #[allow(missing_docs, reason = "MPI documents them")]
            #[derive(Clone, Copy)]
            pub enum $chapter<$c> {
                $($typed($($argument),*),)*
            }
            $($crate::functions::typed!([$typed $($alike)*] [$($effect)?] $arity, $chapter<$c>::$typed($($argument),*));)*
        )?
        $($($crate::functions::define!($local_arity, $local, Local, |_| {}, $crate::functions::unread);)*)?
        $($($crate::functions::define!($other_arity, $other, Communicates, |_| {}, $crate::functions::unread);)*)?

        /// The functions of this chapter.
        pub static ALL: &[&$crate::Function] = &[
            $($(&$typed, $(&$alike,)*)*)?
            $($(&$local,)*)?
            $($(&$other,)*)?
            $($(&$special,)*)?
        ];
    };
}

/// Defines functions whose arguments are read into one variant.
macro_rules! typed {
    ([$name:ident $($alike:ident)+] $($rest:tt)*) => {
        $crate::functions::typed!([$name] $($rest)*);
        $crate::functions::typed!([$($alike)+] $($rest)*);
    };
    ([$name:ident] [] $($rest:tt)*) => { $crate::functions::typed!([$name] [Communicates] $($rest)*); };
    ([$name:ident] [$effect:ident] $arity:tt, $chapter:ident<$c:lifetime>::$variant:ident($($argument:ty),*)) => {
        $crate::functions::define!($arity, $name, $effect, {
            #[allow(clippy::extra_unused_lifetimes, reason = "not every argument has one")]
            fn types<$c>(_all: &mut Vec<&'static str>) {
                $(<$argument as $crate::argument::Argument<$c>>::types(_all);)*
            }
            types
        }, {
            #[allow(clippy::extra_unused_lifetimes, reason = "not every argument has one")]
            const fn words<$c>() -> usize {
                0 $(+ <$argument as $crate::argument::Argument<$c>>::WORDS)*
            }
            const { assert!(words() == $arity, "the arguments take as many words as the function") };

            /// Reads the arguments, each behind the ones before.
            #[allow(unused, reason = "a function may have no arguments")]
            fn decode<$c>(call: &$c $crate::argument::Arguments<$c>) -> $crate::Call<$c> {
                let mut at = 0;
                $crate::Call::$chapter($chapter::$variant($(
                    $crate::argument::read::<$argument>(call, &mut at)
                ),*))
            }
            decode
        });
    };
}

/// Defines the `static` of one function.
macro_rules! function {
    ($name:ident, $arity:expr, $effect:ident, $types:expr) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        #[allow(non_upper_case_globals, reason = "spelled as MPI spells it")]
        pub static $name: $crate::Function = $crate::Function::new(
            stringify!($name),
            concat!("P", stringify!($name), "\0"),
            $arity,
            $crate::Effect::$effect,
            $types,
        );
    };
}

/// Defines one function: the `static`, and the two symbols. Its arity determines the number of argument names.
macro_rules! define {
    (0, $($rest:tt)*) => { $crate::functions::define!([] $($rest)*); };
    (1, $($rest:tt)*) => { $crate::functions::define!([a] $($rest)*); };
    (2, $($rest:tt)*) => { $crate::functions::define!([a b] $($rest)*); };
    (3, $($rest:tt)*) => { $crate::functions::define!([a b c] $($rest)*); };
    (4, $($rest:tt)*) => { $crate::functions::define!([a b c d] $($rest)*); };
    (5, $($rest:tt)*) => { $crate::functions::define!([a b c d e] $($rest)*); };
    (6, $($rest:tt)*) => { $crate::functions::define!([a b c d e f] $($rest)*); };
    (7, $($rest:tt)*) => { $crate::functions::define!([a b c d e f g] $($rest)*); };
    (8, $($rest:tt)*) => { $crate::functions::define!([a b c d e f g h] $($rest)*); };
    (9, $($rest:tt)*) => { $crate::functions::define!([a b c d e f g h i] $($rest)*); };
    (10, $($rest:tt)*) => { $crate::functions::define!([a b c d e f g h i j] $($rest)*); };
    (11, $($rest:tt)*) => { $crate::functions::define!([a b c d e f g h i j k] $($rest)*); };
    (12, $($rest:tt)*) => { $crate::functions::define!([a b c d e f g h i j k l] $($rest)*); };
    (13, $($rest:tt)*) => { $crate::functions::define!([a b c d e f g h i j k l m] $($rest)*); };
    ([$($word:ident)*] $name:ident, $effect:ident, $types:expr, $decode:expr) => {
        $crate::functions::function!(
            $name,
            <[&str]>::len(&[$(stringify!($word)),*]),
            $effect,
            $types
        );

        const _: () = {
            const DECODE: $crate::call::Decode = $decode;

            extern "C-unwind" fn entered($($word: usize),*) -> usize {
                $crate::call::enter(&$name, DECODE, [$($word),*])
            }

            $crate::caller::exported!(stringify!($name), entered);
            $crate::caller::exported!(concat!("P", stringify!($name)), entered);
        };
    };
}

pub(crate) use {chapter, define, function, typed};

/// Leaves the arguments unread: they are only passed on.
fn unread<'c>(_: &'c crate::argument::Arguments<'c>) -> crate::Call<'c> {
    crate::Call::Other
}

pub mod collective;
pub mod communicator;
pub mod datatype;
pub mod environment;
mod extension;
pub(crate) mod external;
mod info;
pub mod io;
pub mod mark;
pub mod one_sided;
pub mod point_to_point;
pub mod process;
mod tools;
pub mod topology;

/// All intercepted MPI functions: all but conversions and those of [`environment::LEFT_ALONE`].
pub fn all() -> impl Iterator<Item = &'static Function> {
    let chapters = [
        point_to_point::ALL,
        datatype::ALL,
        collective::ALL,
        communicator::ALL,
        topology::ALL,
        environment::ALL,
        info::ALL,
        process::ALL,
        one_sided::ALL,
        external::ALL,
        io::ALL,
        tools::ALL,
        extension::ALL,
    ];
    chapters.into_iter().flatten().copied()
}

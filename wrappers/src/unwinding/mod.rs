//! The calls around an MPI call, found by rules that are read once.
//!
//! A compiler's unwinding tables define how to find the caller's registers from any instruction. An unwinder looks up
//! the instruction and interprets the entry, again for each frame of each walk. A program returns to few addresses,
//! regardless of the number of its MPI calls. An [`Unwinder`] therefore reads the tables once for each return address,
//! and stores the result as a [`Rule`]: the distance of the frame's end from the stack pointer or from the base
//! pointer, and the place where the frame has saved its caller's base pointer. A step along the stack then takes one
//! table look-up and one or two words of the stack.
//!
//! If the tables contain something that a rule cannot express, the system's unwinder walks the rest of the stack. This
//! applies to signal handlers, to code without tables, and to stacks that the system did not give the thread, such as
//! those of coroutines, whose bounds are unknown. It applies to all code on AArch64.
//!
//! The program and this library stay loaded. For rules of other objects, each walk first asks the dynamic linker once
//! whether any object has been loaded or unloaded since they were read. An object with a frame on the stack is not
//! unloaded.

mod rule;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

use rustc_hash::FxHashMap;

use self::rule::{Base, End, Registers, Rule};
use crate::caller::Caller;
use crate::loaded::Object;
use crate::stack;

/// Shows the calls around calls of one thread.
pub struct Unwinder {
    code: FxHashMap<usize, ReturnPlace>,
    /// The number of changes to the loaded objects when `code` was last known to be right.
    pub changes: u64,
    /// The thread's own stack, empty if it is unknown.
    stack: Range<usize>,
    /// The stack is the thread's.
    _thread: PhantomData<*const ()>,
}

/// The known facts about the code that a call returns to.
#[derive(Clone, Copy)]
struct ReturnPlace {
    rule: Reading,
    is_library: bool,
    /// Whether its object stays loaded for the lifetime of the process.
    stays: bool,
}

/// The result of reading the tables for an address.
#[derive(Clone, Copy)]
enum Reading {
    /// They have not been read: reading takes kilobytes of stack, which a stack that does not use rules may not have.
    Unread,
    Rule(Rule),
    /// The system's unwinder has to be asked.
    NoRule,
}

impl Default for Unwinder {
    fn default() -> Self {
        Self::new()
    }
}

impl Unwinder {
    /// An unwinder of the calling thread, which knows no code. To find the thread's stack takes more of the stack than
    /// walks do.
    pub fn new() -> Self {
        let stack = stack::bounds().unwrap_or_default();
        Self { code: FxHashMap::default(), changes: 0, stack, _thread: PhantomData }
    }

    /// Passes the caller to `visit`, then the calls around it, innermost first, until it has seen enough, each with
    /// whether its code belongs to the MPI library. The caller's function has not returned, and has made this thread's
    /// last MPI call. The outermost function returns to 0.
    pub fn walk(&mut self, caller: Caller, mut visit: impl FnMut(Caller, bool) -> ControlFlow<()>) {
        let mut walk = Walk { unwinder: self, is_checked: false };
        let mut shown = 0;
        if walk.by_rules(caller, |caller, is_library| {
            shown += 1;
            visit(caller, is_library)
        }) {
            return;
        }
        let mut place = 0;
        caller.stack(|caller| {
            place += 1;
            if place > shown { visit(caller, walk.code(caller.address).is_library) } else { ControlFlow::Continue(()) }
        });
    }

    /// The stack that `address` is on, up to its outermost end, if that is the thread's own.
    #[inline]
    fn own_stack(&self, address: usize) -> Option<Range<usize>> {
        self.stack.contains(&address).then_some(address..self.stack.end)
    }
}

struct Walk<'u> {
    unwinder: &'u mut Unwinder,
    /// Whether the walk has asked for changes to the loaded objects.
    is_checked: bool,
}

impl Walk<'_> {
    /// Walks the stack as far as rules lead; returns whether that is all that `visit` needs.
    fn by_rules(&mut self, caller: Caller, mut visit: impl FnMut(Caller, bool) -> ControlFlow<()>) -> bool {
        let Some(stack) = self.unwinder.own_stack(caller.frame) else { return false };
        let mut at = Registers { caller, base: None };
        loop {
            let code = self.code(at.caller.address);
            if visit(at.caller, code.is_library).is_break() {
                return true;
            }
            let Some(rule) = self.rule(code, at.caller.address) else { return false };
            if at.base.is_none() && rule.needs_base() {
                at.base = self.base_in(caller);
            }
            let Some(next) = at.around(rule, &stack) else { return false };
            at = next;
            if at.caller.address == 0 {
                let _ = visit(at.caller, false);
                return true;
            }
        }
    }

    /// The base pointer of the caller: this crate's and the tool's functions, which are within, have saved or kept it.
    #[inline(never)]
    fn base_in(&mut self, caller: Caller) -> Option<usize> {
        let mut at = Registers::now()?;
        let stack = self.unwinder.own_stack(at.caller.frame)?;
        while at.caller.frame < caller.frame {
            let code = self.code(at.caller.address);
            let rule = self.rule(code, at.caller.address)?;
            at = at.around(rule, &stack)?;
        }
        (at.caller == caller).then_some(at.base).flatten()
    }

    /// Looks up the code at an address that a frame of the stack returns to.
    #[inline]
    fn code(&mut self, address: usize) -> ReturnPlace {
        match self.unwinder.code.get(&address) {
            Some(code) if code.stays || self.is_checked => *code,
            _ => self.checked_code(address),
        }
    }

    #[inline(never)]
    fn checked_code(&mut self, address: usize) -> ReturnPlace {
        let Unwinder { code, changes, .. } = &mut *self.unwinder;
        if !self.is_checked {
            self.is_checked = true;
            let now = Object::changes();
            if now != *changes {
                code.retain(|_, code| code.stays);
                *changes = now;
            }
        }
        *code.entry(address).or_insert_with(|| ReturnPlace::at(address))
    }

    /// The rule of an address that a frame of the stack returns to.
    #[inline]
    fn rule(&mut self, code: ReturnPlace, address: usize) -> Option<Rule> {
        match code.rule {
            Reading::Rule(rule) => Some(rule),
            Reading::NoRule => None,
            Reading::Unread => self.read_rule(address),
        }
    }

    #[cold]
    #[inline(never)]
    fn read_rule(&mut self, address: usize) -> Option<Rule> {
        let object = Object::all().into_iter().find(|object| object.code.contains(address));
        // SAFETY: a frame of this stack returns into the object.
        let rule = object.and_then(|object| unsafe { Rule::of(&object, address) });
        if let Some(code) = self.unwinder.code.get_mut(&address) {
            code.rule = rule.map_or(Reading::NoRule, Reading::Rule);
        }
        rule
    }
}

impl ReturnPlace {
    /// Finds the object that has the address. Does not read the tables.
    #[cold]
    #[inline(never)]
    fn at(address: usize) -> Self {
        let own = Self::at as *const () as usize;
        let Some((place, object)) =
            Object::all().into_iter().enumerate().find(|(_, object)| object.code.contains(address))
        else {
            return Self { rule: Reading::NoRule, is_library: false, stays: false };
        };
        let name = object.name.to_string_lossy();
        Self {
            rule: Reading::Unread,
            // All files of an MPI library are called `libmpi…`.
            is_library: name.rsplit('/').next().is_some_and(|file| file.starts_with("libmpi")),
            stays: place == 0 || object.code.contains(own),
        }
    }
}

impl Registers {
    /// The registers of the function around, once the call that it is in has returned; `None` if a rule does not lead
    /// outwards on this stack.
    #[inline]
    fn around(self, rule: Rule, stack: &Range<usize>) -> Option<Self> {
        let word = |place: usize| {
            let is_word = place.is_multiple_of(size_of::<usize>()) && place >= stack.start;
            let is_below_end = place.checked_add(size_of::<usize>()).is_some_and(|end| end <= stack.end);
            // SAFETY: an aligned word of the thread's stack, outwards of a frame of a function that has not returned.
            (is_word && is_below_end).then(|| unsafe { (place as *const usize).read() })
        };
        let of_base = |offset: i32| self.base.map(|base| base.wrapping_add_signed(offset as isize));
        let end = match rule.end {
            End::FromStackPointer(offset) => self.caller.frame.wrapping_add_signed(offset as isize),
            End::FromBase(offset) => of_base(offset)?,
            End::InWord(offset) => word(of_base(offset)?)?,
        };
        if end <= self.caller.frame {
            return None;
        }
        let address = word(end.wrapping_sub(size_of::<usize>()))?;
        let base = match rule.base {
            Base::Kept => self.base,
            Base::FromEnd(offset) => Some(word(end.wrapping_add_signed(offset as isize))?),
            Base::InWord(offset) => Some(word(of_base(offset)?)?),
        };
        Some(Self { caller: Caller { address: if rule.is_outermost { 0 } else { address }, frame: end }, base })
    }
}

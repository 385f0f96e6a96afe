//! The step from a frame to the one around it, according to the unwinding tables (`.eh_frame`) for one address.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, Expression, FrameDescriptionEntry, NativeEndian,
    Operation, Pointer, Reader, Register, RegisterRule, UnwindContext, UnwindContextStorage, UnwindExpression,
    UnwindTableRow, X86_64,
};

use crate::caller::Caller;
use crate::loaded::Object;

/// The step from a frame to the one around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// The end of the frame, where the one around it begins (the tables' canonical frame address). The word before that
    /// is the return address of the function.
    pub(super) end: End,
    /// The base pointer of the function around.
    pub(super) base: Base,
    /// Whether the function has no caller, as the first one of a thread.
    pub(super) is_outermost: bool,
}

/// The end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At this distance from the stack pointer.
    FromStackPointer(i32),
    /// At this distance from the base pointer.
    FromBase(i32),
    /// At the address in the word at this distance from the base pointer, as in functions that have aligned their
    /// frames.
    InWord(i32),
}

/// The place of the caller's base pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The function has not changed it.
    Kept,
    /// In the word at this distance from the frame's end.
    FromEnd(i32),
    /// In the word at this distance from the function's own base pointer.
    InWord(i32),
}

/// The memory for reading a row: tables of x86-64 have rules for at most 17 registers.
struct Storage;

impl UnwindContextStorage<usize> for Storage {
    type Rules = [(Register, RegisterRule<usize>); 20];
    type Stack = Box<[UnwindTableRow<usize, Self>; 4]>;
}

type TableBytes = EndianSlice<'static, NativeEndian>;

impl Rule {
    /// Whether this rule needs the function's base pointer.
    #[inline]
    pub(super) fn needs_base(self) -> bool {
        !matches!(self.end, End::FromStackPointer(_)) || matches!(self.base, Base::InWord(_))
    }

    /// The rule of the function of `object` that a call returns to at `address`; `None` if the tables have none, or one that
    /// is of no such form.
    ///
    /// # Safety
    /// The object is loaded.
    pub(super) unsafe fn of(object: &Object, address: usize) -> Option<Self> {
        if cfg!(not(target_arch = "x86_64")) {
            return None;
        }
        // A call may be the last instruction of its function.
        let within = address as u64 - 1;
        // SAFETY: guaranteed by the caller; data read from these bytes does not leave this function.
        let mapped = |address: u64| unsafe { object.mapped_from(address as usize) };
        // SAFETY: as promised.
        let headers = unsafe { object.headers() };
        let index = headers.iter().find(|header| header.p_type == libc::PT_GNU_EH_FRAME)?;
        let index = object.base as u64 + index.p_vaddr;
        let bases = BaseAddresses::default().set_eh_frame_hdr(index);
        let index = EhFrameHdr::new(mapped(index)?, NativeEndian).parse(&bases, size_of::<usize>() as u8).ok()?;
        let Pointer::Direct(entries) = index.eh_frame_ptr() else { return None };
        let bases = bases.set_eh_frame(entries);
        let entries = EhFrame::new(mapped(entries)?, NativeEndian);
        let entry =
            index.table()?.fde_for_address(&entries, &bases, within, gimli::UnwindSection::cie_from_offset).ok()?;
        let mut context = UnwindContext::<usize, Storage>::new_in();
        let row = entry.unwind_info_for_address(&entries, &bases, &mut context, within).ok()?;
        Self::of_row(&entries, &entry, row)
    }

    fn of_row(
        entries: &EhFrame<TableBytes>,
        entry: &FrameDescriptionEntry<TableBytes>,
        row: &UnwindTableRow<usize, Storage>,
    ) -> Option<Self> {
        /// The place where a call leaves its return address.
        const RETURN_ADDRESS: i64 = -(size_of::<usize>() as i64);

        if entry.is_signal_trampoline() || entry.cie().return_address_register() != X86_64::RA {
            return None;
        }
        let saved_at = |expression: &UnwindExpression<usize>, result| {
            from_base(expression.get(entries).ok()?, entry.cie().encoding(), result)
        };
        let end = match row.cfa() {
            CfaRule::RegisterAndOffset { register: X86_64::RSP, offset } => {
                End::FromStackPointer(i32::try_from(*offset).ok()?)
            }
            CfaRule::RegisterAndOffset { register: X86_64::RBP, offset } => End::FromBase(i32::try_from(*offset).ok()?),
            CfaRule::RegisterAndOffset { .. } => return None,
            CfaRule::Expression(expression) => End::InWord(saved_at(expression, ExpressionResult::Value)?),
        };
        let base = match row.register(X86_64::RBP) {
            None | Some(RegisterRule::SameValue) => Base::Kept,
            Some(RegisterRule::Offset(offset)) => Base::FromEnd(i32::try_from(offset).ok()?),
            Some(RegisterRule::Expression(expression)) => Base::InWord(saved_at(&expression, ExpressionResult::Place)?),
            Some(_) => return None,
        };
        let is_outermost = match row.register(X86_64::RA) {
            Some(RegisterRule::Undefined) => true,
            Some(RegisterRule::Offset(RETURN_ADDRESS)) => false,
            _ => return None,
        };
        // The stack pointer of the caller is the frame's end by default.
        row.register(X86_64::RSP).is_none().then_some(Self { end, base, is_outermost })
    }
}

/// The result of an expression of the tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpressionResult {
    /// The value itself.
    Value,
    /// The place of the word that has the value.
    Place,
}

/// The distance from the base pointer of the word whose value an expression yields; `None` for other expressions.
fn from_base<R: Reader>(expression: Expression<R>, encoding: gimli::Encoding, result: ExpressionResult) -> Option<i32> {
    let mut operations = expression.operations(encoding);
    let Ok(Some(Operation::RegisterOffset { register: X86_64::RBP, offset, .. })) = operations.next() else {
        return None;
    };
    if result == ExpressionResult::Value {
        let Ok(Some(Operation::Deref { size: 8, space: false, .. })) = operations.next() else { return None };
    }
    matches!(operations.next(), Ok(None)).then(|| i32::try_from(offset).ok()).flatten()
}

/// The registers of a function that has called another, once that has returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers {
    /// The instruction and the stack pointer.
    pub(super) caller: Caller,
    /// The base pointer; `None` while it is the one of the walk's first function, which has not been looked for.
    pub(super) base: Option<usize>,
}

impl Registers {
    /// Reads the registers of the function that calls this one; `None` on AArch64.
    #[inline(always)]
    pub(super) fn now() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let mut words = [0; 3];
            note_registers(&mut words);
            let [address, frame, base] = words;
            Some(Self { caller: Caller { address, frame }, base: Some(base) })
        }
        #[cfg(not(target_arch = "x86_64"))]
        None
    }
}

/// Notes the address that this call returns to, the caller's stack pointer after it and the caller's base pointer.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "C" fn note_registers(words: &mut [usize; 3]) {
    std::arch::naked_asm!(
        "mov rax, qword ptr [rsp]",
        "mov qword ptr [rdi], rax",
        "lea rax, [rsp + 8]",
        "mov qword ptr [rdi + 8], rax",
        "mov qword ptr [rdi + 16], rbp",
        "ret",
    );
}

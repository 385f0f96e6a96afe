//! The transformation of a trace that names the places of its call sites.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use titr_common::event::{CallStack, CodePlace, Event, Mark, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::trace::manifest::{CodeModule, NamedCode, NamedFunction};
use titr_common::trace::{Located, LocatedEvents, Trace, TraceError, Transformation};

use super::code::is_mark;
use super::code::{Code, NoCode};

/// A transformation of traces that names the places of call sites, as far as names can be found.
#[derive(Default)]
pub(crate) struct CallSiteNames(Arc<Mutex<KnownNames>>);

/// All that was found of the modules of a trace.
#[derive(Default)]
struct KnownNames {
    /// The names that the trace itself has.
    kept: FxHashMap<CodeModule, BTreeMap<u64, Vec<NamedFunction>>>,
    codes: FxHashMap<CodeModule, Result<Code, NoCode>>,
    stacks: FxHashMap<(Arc<[CodeModule]>, CallStack), CallStack>,
    /// Modules with places that have no name although the file is the right one.
    silent: BTreeSet<String>,
}

impl CallSiteNames {
    /// Whether a trace has call sites whose names have to be looked up in files.
    pub(crate) fn has(trace: &Trace) -> bool {
        trace.manifest().is_some_and(|manifest| manifest.per_rank.iter().any(|entry| !entry.modules.is_empty()))
    }

    /// The reasons for places without a name in the part of the trace that was read: a sentence for each module.
    pub(crate) fn unnamed(&self) -> Vec<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let said = |path: &str, why: &NoCode| format!("call sites without names: those in {path}, as {why}");
        let closed = known.codes.iter().filter_map(|(module, code)| Some(said(&module.path, code.as_ref().err()?)));
        let silent = known.silent.iter().map(|path| said(path, &NoCode::Stripped));
        closed.chain(silent).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// The names of all call sites of a trace that can be found here, and a sentence for each module with places that have none.
pub(crate) fn look_up(trace: &Trace) -> Result<(Vec<NamedCode>, Vec<String>), TraceError> {
    let names = CallSiteNames::default();
    let mut found = BTreeMap::<(String, String), NamedCode>::new();
    let entries = trace.manifest().map(|manifest| manifest.per_rank.as_slice()).unwrap_or_default();
    let mut known = names.0.lock().unwrap_or_else(PoisonError::into_inner);
    for entry in entries.iter().filter(|entry| !entry.modules.is_empty()) {
        let mut stream = trace.stream(Rank(entry.rank))?;
        while let Some(event) = stream.next_event()? {
            let Event::Mark(Mark::CallStack(_, stack)) = event else { continue };
            for (nearest, place) in stack.iter().enumerate() {
                let CodePlace::Address { module, offset } = *place else { continue };
                let Some(module) = entry.modules.get(module as usize) else { continue };
                let key = (module.path.clone(), module.build_id.clone());
                let code =
                    found.entry(key).or_insert_with(|| NamedCode { module: module.clone(), places: BTreeMap::new() });
                if code.places.contains_key(&offset) {
                    continue;
                }
                let functions = known.functions(module, offset);
                if !functions.is_empty() {
                    code.places.insert(offset, functions);
                } else if nearest == 0 && known.codes.get(module).is_some_and(Result::is_ok) {
                    known.silent.insert(module.path.clone());
                }
            }
        }
    }
    drop(known);
    let named = found.into_values().filter(|code| !code.places.is_empty()).collect();
    Ok((named, names.unnamed()))
}

impl Transformation for CallSiteNames {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        if !Self::has(&trace) {
            return Ok(trace);
        }
        let entries = trace.manifest().map(|manifest| manifest.per_rank.as_slice()).unwrap_or_default();
        // Ranks have the same modules as a rule.
        let mut lists = FxHashMap::<&[CodeModule], Arc<[CodeModule]>>::default();
        let mut modules = FxHashMap::default();
        for entry in entries {
            let list = lists.entry(&entry.modules).or_insert_with(|| entry.modules.as_slice().into());
            modules.insert(entry.rank, Arc::clone(list));
        }
        if let (Some(manifest), Ok(mut known)) = (trace.manifest(), self.0.lock()) {
            for NamedCode { module, places } in &manifest.names {
                known.kept.entry(module.clone()).or_default().extend(places.clone());
            }
        }
        let known = Arc::clone(&self.0);
        Ok(trace.map_events(move |rank| {
            let modules: Arc<[CodeModule]> = modules.get(&rank.0).cloned().unwrap_or_default();
            let known = Arc::clone(&known);
            move |Located { event, location }: Located<'_>, changed: &mut LocatedEvents| {
                let event = match event {
                    EventRef::Event(Event::Mark(Mark::CallStack(site, stack))) => {
                        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                        Event::Mark(Mark::CallStack(*site, known.named(&modules, stack)))
                    }
                    EventRef::Event(_) | EventRef::Compute(_) | EventRef::Send(..) | EventRef::Recv(..) => {
                        event.to_event()
                    }
                };
                changed.push(event, location);
            }
        }))
    }
}

/// A place, as it is displayed.
struct FoundPlace {
    name: String,
    /// Whether its function only marks a region.
    is_mark: bool,
    /// The module, if it says nothing of the place.
    silent: Option<String>,
}

impl KnownNames {
    /// A stack with names. Functions that the compiler made part of others are places of their own, but the stack has no more
    /// places than it had.
    fn named(&mut self, modules: &Arc<[CodeModule]>, stack: &CallStack) -> CallStack {
        let key = (Arc::clone(modules), stack.clone());
        if let Some(known) = self.stacks.get(&key) {
            return known.clone();
        }
        let mut places: Vec<FoundPlace> = stack.iter().flat_map(|place| self.places(modules, place)).collect();
        // Frames further out belong to libraries that start a program or a thread, whose functions are of no interest.
        self.silent.extend(places.first().and_then(|place| place.silent.clone()));
        // The mark of a region was recorded with one more place, for the function that makes the call.
        let marks = places.iter().take_while(|place| place.is_mark).count();
        places.drain(..marks);
        places.truncate((stack.len() - marks.min(1)).max(1));
        let named: CallStack = places.into_iter().map(|place| CodePlace::Named(place.name.into())).collect();
        let named = if named.is_empty() { stack.clone() } else { named };
        self.stacks.insert(key, named.clone());
        named
    }

    /// The functions at an address of a module, from within to without: as the trace names them, or else as the file does.
    fn functions(&mut self, module: &CodeModule, offset: u64) -> Vec<NamedFunction> {
        if let Some(functions) = self.kept.get(module).and_then(|places| places.get(&offset)) {
            return functions.clone();
        }
        let code = self.codes.entry(module.clone()).or_insert_with(|| Code::open(module));
        code.as_ref().map_or(Vec::new(), |code| code.functions(offset))
    }

    /// A place, or several if the compiler has made functions a part of others.
    fn places(&mut self, modules: &[CodeModule], place: &CodePlace) -> Vec<FoundPlace> {
        let found = |name: String| FoundPlace { is_mark: false, name, silent: None };
        let (module, offset) = match place {
            CodePlace::Named(name) => return vec![found(name.to_string())],
            CodePlace::Address { module, offset } => (modules.get(*module as usize), *offset),
        };
        let Some(module) = module else { return vec![found(place.to_string())] };
        let file = Path::new(&module.path).file_name().unwrap_or_default().to_string_lossy();
        let address = format!("{file}+{offset:#x}");
        let functions = self.functions(module, offset);
        if functions.is_empty() {
            let silent = self.codes.get(module).is_some_and(Result::is_ok).then(|| module.path.clone());
            return vec![FoundPlace { silent, ..found(address) }];
        }
        let named = |NamedFunction { name, line }: NamedFunction| {
            let at = line.map_or_else(|| address.clone(), |(file, line)| format!("{file}:{line}"));
            FoundPlace { is_mark: is_mark(&name), ..found(format!("{name} ({at})")) }
        };
        functions.into_iter().map(named).collect()
    }
}

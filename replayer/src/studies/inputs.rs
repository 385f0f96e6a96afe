//! The inputs of a study: its platforms, traces and hypotheses, each read once, and the points that they allow.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use titr_analyses::apply_machine_changes;
use titr_common::event::Rank;
use titr_common::input::{self, WRITTEN_BY_HAND, WRITTEN_BY_PROGRAM};
use titr_common::trace::{Trace, TraceError};
use titr_document::{Checked, Mistake};
use titr_hypotheses::{Hypotheses, HypothesesError};
use titr_network::properties::DeviceGraph;
use titr_network::topology::LinkId;
use titr_platform::{Platform, PlatformError, Policy};
use titr_simulation::Simulation;
use titr_simulation::parallel::Jobs;

use crate::call_sites::CallSiteNames;
use crate::studies::axis::{AxisKey, Setting};
use crate::studies::error::StudyError;
use crate::studies::expression::{Measure, Names};
use crate::studies::sampling::Settings;
use crate::studies::study::{BEGINNING, Study, in_words, overrides};

/// A study with its inputs. All points were checked.
pub(crate) struct Inputs {
    pub(crate) study: Study,
    /// The text of each platform, by its name in the study.
    platforms: BTreeMap<String, String>,
    traces: BTreeMap<String, Trace>,
    /// The hypotheses of each file, with the text of the file.
    hypotheses: BTreeMap<String, (Hypotheses, String)>,
    points: Vec<Settings>,
    /// The files that platforms name, such as profiles.
    further: BTreeSet<PathBuf>,
}

/// The value of the axis `what-if` that changes nothing.
const NO_HYPOTHESES: &str = "none";

/// The machine and the program of a point.
pub(crate) struct PreparedPoint<'a> {
    pub(crate) platform: Platform,
    pub(crate) trace: &'a Trace,
    hypotheses: Option<&'a Hypotheses>,
    /// The cost of the machine, if the study has prices.
    pub(crate) cost: Option<f64>,
}

/// The names that expressions may use at a point.
struct PointNames<'a> {
    settings: &'a [Setting],
    ranks: u32,
    /// The machine; `None` before it is built.
    platform: Option<&'a Platform>,
    /// The study, if expressions may name the cost: prices may not.
    priced: Option<&'a Study>,
}

impl PointNames<'_> {
    /// The price of the machine, as a whole or the sum of its parts; `None` if the study has no prices.
    fn cost(&self, study: &Study) -> Checked<Option<f64>> {
        let whole = self.settings.iter().find_map(|setting| setting.price);
        let names = PointNames { priced: None, ..*self };
        let of_parts = || study.cost.as_ref().map(|cost| cost.of(&names, &study.source)).transpose();
        whole.map_or_else(of_parts, |price| Ok(Some(price)))
    }
}

impl Inputs {
    /// Reads the inputs of a study and checks all of its points.
    ///
    /// # Errors
    /// If an input cannot be read, a point has no platform or no room for its ranks, or there is no point.
    pub(crate) fn read(study: Study, jobs: Jobs) -> Result<Self, StudyError> {
        let mut this = Self {
            study,
            platforms: BTreeMap::new(),
            traces: BTreeMap::new(),
            hypotheses: BTreeMap::new(),
            points: Vec::new(),
            further: BTreeSet::new(),
        };
        this.points = this.study.points();
        for setting in this.used(&AxisKey::Platform) {
            let wrong = |error: PlatformError| this.study.source.mistake(setting.place.clone(), error.to_string());
            let text = Platform::text(&this.platform_file(&setting)).map_err(wrong)?;
            this.platforms.insert(setting.shown, text);
        }
        for setting in this.used(&AxisKey::WhatIf).into_iter().filter(|setting| setting.shown != NO_HYPOTHESES) {
            let text = this.hypotheses_text(&setting)?;
            let hypotheses =
                Hypotheses::parse(&this.study.file(&setting), text.clone()).map_err(HypothesesError::from)?;
            this.hypotheses.insert(setting.shown, (hypotheses, text));
        }
        for setting in this.used(&AxisKey::Trace) {
            let wrong = |error: TraceError| this.study.source.mistake(setting.place.clone(), error.to_string());
            let trace = titr_formats::input::open(&[this.study.file(&setting)]).map_err(wrong)?.kept();
            this.traces.insert(setting.shown, trace);
        }
        this.keep_possible(jobs)?;
        Ok(this)
    }

    /// The values of an axis that points have, each once.
    fn used(&self, key: &AxisKey) -> Vec<Setting> {
        let Some(axis) = self.study.axis(key) else { return Vec::new() };
        let mut settings: Vec<Setting> = self.points.iter().filter_map(|point| point.get(axis).cloned()).collect();
        settings.sort_by(|one, other| one.shown.cmp(&other.shown));
        settings.dedup_by(|one, other| one.shown == other.shown);
        settings
    }

    /// The file of a platform, or the platform itself if it is one line.
    pub(crate) fn platform_file(&self, setting: &Setting) -> PathBuf {
        let file = self.study.file(setting);
        if Platform::is_line(&setting.shown) && !file.exists() { PathBuf::from(&setting.shown) } else { file }
    }

    fn hypotheses_text(&self, setting: &Setting) -> Result<String, StudyError> {
        let path = self.study.file(setting);
        let unreadable = |error| format!("cannot read the hypotheses {}: {error}", path.display());
        let place = setting.place.clone();
        Ok(input::read_text(&path, WRITTEN_BY_HAND)
            .map_err(|error| self.study.source.mistake(place, unreadable(error)))?)
    }

    /// Keeps the points that meet all constraints, and checks each of them.
    fn keep_possible(&mut self, jobs: Jobs) -> Result<(), StudyError> {
        let mut kept = Vec::new();
        for settings in std::mem::take(&mut self.points) {
            let names = self.names(&settings, None);
            let simple = self.study.constraints.iter().filter(|constraint| !constraint.condition.has_measure());
            let meets = simple.map(|constraint| self.study.meets(constraint, &names));
            if meets.collect::<Result<Vec<_>, _>>()?.into_iter().all(|meets| meets) {
                kept.push(settings);
            }
        }
        let possible = jobs.map(kept.len(), |number| self.check(&kept[number]))?;
        for (settings, files) in kept.into_iter().zip(possible) {
            if let Some(files) = files {
                self.further.extend(files);
                self.points.push(settings);
            }
        }
        match self.points.len() {
            0 => Err(self.study.source.mistake(BEGINNING, "no point of the study meets all constraints").into()),
            _ => Ok(()),
        }
    }

    /// The files that the platform of a point names; `None` if the point does not meet all constraints.
    fn check(&self, settings: &[Setting]) -> Result<Option<Vec<PathBuf>>, StudyError> {
        let platform = self.platform(settings)?;
        let names = self.names(settings, Some(&platform));
        for constraint in self.study.constraints.iter().filter(|constraint| constraint.condition.has_measure()) {
            if !self.study.meets(constraint, &names)? {
                return Ok(None);
            }
        }
        let placement = match &platform.policy {
            Policy::Explicit { file, .. } => Some(file.clone()),
            Policy::Block | Policy::RoundRobin | Policy::Random { .. } | Policy::Assigned { .. } => None,
        };
        let files = platform.profiles.iter().cloned().chain(placement).collect();
        let prepared = self.prepare(platform, settings)?;
        prepared.platform.place(prepared.trace.ranks()).map_err(|error| {
            let message = format!("{error} (at {})", in_words(&self.study, settings));
            let place = self.value(&AxisKey::Trace, settings).map(|setting| setting.place.clone());
            self.study
                .source
                .mistake(place, message)
                .with_help("[constraints] leaves such points out: fits = \"hosts * cores >= ranks\"")
        })?;
        Ok(Some(files))
    }

    fn value<'a>(&self, key: &AxisKey, settings: &'a [Setting]) -> Option<&'a Setting> {
        settings.get(self.study.axis(key)?)
    }

    /// The platform with the keys of a point. A mistake in the value of an axis is shown in the study.
    fn platform(&self, settings: &[Setting]) -> Result<Platform, StudyError> {
        let (overrides, axes) = overrides(&self.study, settings);
        self.platform_with(&overrides, settings).map_err(|error| match error {
            PlatformError::Mistaken(mistake) => self.in_study(mistake, &axes, settings),
            PlatformError::Unreadable { .. } => error.into(),
        })
    }

    /// The platform that a point names, with these keys.
    fn platform_with(&self, overrides: &[String], settings: &[Setting]) -> Result<Platform, PlatformError> {
        let named = self.value(&AxisKey::Platform, settings);
        let text = named.and_then(|named| self.platforms.get(&named.shown)).cloned().unwrap_or_default();
        let path = named.map(|named| self.platform_file(named)).unwrap_or_default();
        Platform::parse(&path, text, overrides)
    }

    /// The trace of a point.
    fn trace(&self, settings: &[Setting]) -> Option<&Trace> {
        self.traces.get(&self.value(&AxisKey::Trace, settings)?.shown)
    }

    /// A mistake in an override, at the value of its axis, or at the key of the axis if the key is wrong.
    fn in_study(&self, mistake: Mistake, axes: &BTreeMap<usize, usize>, settings: &[Setting]) -> StudyError {
        let axis = mistake.override_number().and_then(|number| axes.get(&number));
        let Some((axis, setting)) = axis.and_then(|&axis| Some((self.study.axes.get(axis)?, settings.get(axis)?)))
        else {
            if self.platform_with(&[], settings).is_err() {
                return mistake.into();
            }
            // The platform is right without the axes.
            let message = format!("{} (at {})", mistake.message(), in_words(&self.study, settings));
            let place = self.value(&AxisKey::Platform, settings).map(|setting| setting.place.clone());
            return self.study.source.mistake(place, message).into();
        };
        let is_of_key = ["unknown key", "there is no"].iter().any(|said| mistake.message().starts_with(said));
        let place = if is_of_key { axis.place.clone() } else { setting.place.clone() };
        let message = format!("{}: {}", axis.key.name(), mistake.message());
        let shown = self.study.source.mistake(place, message);
        match mistake.help() {
            Some(help) => shown.with_help(help).into(),
            None => shown.into(),
        }
    }

    fn names<'a>(&'a self, settings: &'a [Setting], platform: Option<&'a Platform>) -> PointNames<'a> {
        PointNames {
            settings,
            ranks: self.trace(settings).map_or(0, Trace::ranks),
            platform,
            priced: Some(&self.study),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.points.len()
    }

    /// The value of an axis at a point in few words, as names of machines have it.
    pub(crate) fn value_name(&self, point: usize, axis: usize) -> String {
        let value = self.study.axes.get(axis).zip(self.settings(point).get(axis));
        value.map_or_else(String::new, |(axis, setting)| axis.name_of(setting))
    }

    /// The values of all axes at a point.
    pub(crate) fn settings(&self, point: usize) -> &[Setting] {
        self.points.get(point).map_or(&[], Vec::as_slice)
    }

    /// A point in words: its number from 1, and the values of its axes.
    pub(crate) fn in_words(&self, point: usize) -> String {
        match in_words(&self.study, self.settings(point)) {
            words if words.is_empty() => (point + 1).to_string(),
            words => format!("{} ({words})", point + 1),
        }
    }

    /// The machine and the program of a point.
    ///
    /// # Errors
    /// If its machine has none of the parts that have a price, or its hypotheses do not fit the machine.
    pub(crate) fn point(&self, point: usize) -> Result<PreparedPoint<'_>, StudyError> {
        let settings = self.settings(point);
        self.prepare(self.platform(settings)?, settings)
    }

    fn prepare(&self, platform: Platform, settings: &[Setting]) -> Result<PreparedPoint<'_>, StudyError> {
        let cost = self.names(settings, Some(&platform)).cost(&self.study)?;
        let what_if = self.value(&AxisKey::WhatIf, settings);
        let hypotheses = what_if.and_then(|setting| self.hypotheses.get(&setting.shown)).map(|(found, _)| found);
        let trace =
            self.trace(settings).ok_or_else(|| self.study.source.mistake(BEGINNING, "the study has no trace"))?;
        let platform = platform.for_trace(trace);
        let platform = match hypotheses {
            Some(hypotheses) => apply_machine_changes(&hypotheses.machine, platform).map_err(HypothesesError::from)?,
            None => platform,
        };
        Ok(PreparedPoint { platform, trace, hypotheses, cost })
    }

    /// A number that is another one for other inputs: a study, its files, or a version of titr.
    pub(crate) fn identity(&self) -> Result<String, StudyError> {
        let mut digest = Sha256::new();
        let mut add = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        add(env!("CARGO_PKG_VERSION").as_bytes());
        add(self.study.source.text().as_bytes());
        self.platforms.values().for_each(|text| add(text.as_bytes()));
        self.hypotheses.values().for_each(|(_, text)| add(text.as_bytes()));
        for file in &self.further {
            add(&input::read(file, WRITTEN_BY_PROGRAM).map_err(|error| titr_common::output::named(file, error))?);
        }
        for trace in self.traces.values() {
            if let Some(manifest) = trace.manifest() {
                add(&manifest.to_json()?);
            }
            for rank in (0..trace.ranks()).map(Rank) {
                let file = trace.file_of(rank)?;
                let size = file.and_then(|file| fs::metadata(file.name()).ok()).map_or(0, |file| file.len());
                add(&size.to_le_bytes());
            }
        }
        Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl PreparedPoint<'_> {
    /// The simulation of the point, without observers.
    pub(crate) fn simulation<'a>(&'a self, names: &'a CallSiteNames) -> Simulation<'a> {
        let simulation = Simulation::new(&self.platform, self.trace);
        self.hypotheses.into_iter().fold(simulation, |simulation, change| simulation.transform(names).transform(change))
    }
}

impl Names for PointNames<'_> {
    fn axis(&self, axis: usize) -> evalexpr::Value {
        match self.settings.get(axis) {
            Some(Setting { magnitude: Some(magnitude), .. }) => evalexpr::Value::Float(magnitude.number),
            Some(setting) => evalexpr::Value::String(setting.shown.clone()),
            None => evalexpr::Value::String(String::new()),
        }
    }

    fn measure(&self, measure: Measure) -> Result<f64, String> {
        let Some(Platform { topology, cores, .. }) = self.platform else {
            return Ok(f64::from(self.ranks));
        };
        let rails = f64::from(topology.rails().count.get());
        let links = || (0..).zip(topology.links()).filter(|(link, _)| !topology.is_loopback(LinkId(*link)));
        Ok(match measure {
            Measure::Ranks => f64::from(self.ranks),
            Measure::Hosts => f64::from(topology.hosts()),
            Measure::Cores => f64::from(*cores),
            Measure::Links => links().count() as f64,
            Measure::Cables => match topology.router_graph() {
                Ok(graph) => DeviceGraph::of(&graph).cables().len() as f64 * rails,
                // The devices are unknown: each link is taken for a cable.
                Err(_) => links().count() as f64,
            },
            Measure::Switches => {
                topology.router_graph().map_err(|error| error.to_string())?.routers().count() as f64 * rails
            }
            Measure::Cost => {
                let study = self.priced.ok_or("a price cannot depend on the cost")?;
                let cost = self.cost(study).map_err(|mistake| mistake.message().to_owned())?;
                cost.ok_or("the study has no prices: write them in a table [cost]")?
            }
        })
    }
}

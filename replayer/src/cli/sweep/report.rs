//! The page of a point of a study.

use std::path::Path;

use titr_analyses::{ANALYSES, AnalysedSimulation, LinkHistory, Timeline};
use titr_common::timeline::{EventSorter, Excerpt, Subject};
use titr_platform::Platform;
use titr_simulation::SimulationError;
use titr_simulation::parallel::Jobs;
use titr_studies::{AxisKey, Inputs, PreparedPoint, StudyError};
use titr_workload::call_sites::CallSiteNames;

use crate::cli::page::{DRAWN, PageSubject};
use crate::cli::replay::DRAWN_LINKS;
use crate::page::{PageData, Recorder, write as write_page};

/// Replays a point with all analyses, and writes its page.
pub(super) fn write(inputs: &Inputs, prepared: &PreparedPoint, point: usize, path: &Path) -> Result<(), StudyError> {
    let (platform, ranks) = (&prepared.platform, prepared.trace.ranks());
    let subject = Subject { ranks, time: "simulated time", excerpt: Excerpt::default(), jobs: Vec::new() };
    let recorder = Recorder::new(&subject);
    let mut links = LinkHistory::new(platform, ranks).map_err(SimulationError::from)?;
    let mut timeline = Timeline::new(EventSorter::new(recorder.writers()));
    let names = CallSiteNames::default();
    let simulation = prepared.simulation(&names).jobs(Jobs::ONE).read_ahead(false);
    let simulation = simulation.observe(&mut timeline).observe(&mut links);
    let analyses = ANALYSES.iter().map(|kind| kind.name).filter(|name| *name != DRAWN);
    let analysed = analyses.fold(AnalysedSimulation::new(simulation), AnalysedSimulation::analyse);
    let result = analysed.split_communication(true).run()?;
    let loads = links.busiest(DRAWN_LINKS);
    timeline.finish(&loads)?;
    let setting = |key: &AxisKey| {
        let mut axes = inputs.study.axes.iter().zip(inputs.settings(point));
        axes.find(|(axis, _)| axis.key == *key).map(|(_, setting)| setting)
    };
    let platform_file = setting(&AxisKey::Platform).map(|of| inputs.platform_file(of)).unwrap_or_default();
    let trace_file = setting(&AxisKey::Trace).map(|of| inputs.study.file(of)).unwrap_or_default();
    let subject = PageSubject {
        trace: prepared.trace,
        trace_name: trace_file.display().to_string(),
        platform,
        platform_text: Platform::text(&platform_file).map_err(StudyError::from)?,
        platform_file: &platform_file,
    };
    let origin = subject.origin().map_err(|error| StudyError::Failed(error.to_string()))?;
    let (overview, detail) = recorder.finish();
    let data = PageData::new(&origin, &result, (&overview, &detail), &loads, None);
    Ok(write_page(&data, path)?)
}

//! `titr calibrate` with results of benchmarks: a platform of real results, and what it predicts on more nodes.

use crate::support::command::{Folder, TITR, here};

/// Results of four ranks on a node, in the columns of a site's own table.
const RESULTS: &str = "\
machine,library,bench,place,nodes,ranks,bytes,microseconds,runs
here,MPI,PingPong,,1,2,0,0.4,1
here,MPI,PingPong,,1,2,65536,10.4,1
here,MPI,Sendrecv,,1,4,65536,20.4,1
here,MPI,Sendrecv,,2,8,65536,25.0,1
here,MPI,Alltoall,,1,4,65536,70.0,1
here,MPI,Alltoall,,2,8,65536,260.0,1
here,MPI,Alltoall,,4,16,65536,800.0,1
there,MPI,PingPong,,1,2,0,0.4,1
";

#[test]
fn a_platform_of_results_on_two_nodes_predicts_four() {
    let folder = Folder::new();
    folder.file("results.csv", RESULTS);
    let run =
        |more: &[&str]| folder.run(TITR, &[&["calibrate", "results.csv", "--output", "cluster.toml"], more].concat());
    let few = ["--machine", "here", "--nodes", "1-2", "--link", "100 Gbit/s", "--predict", "predicted.csv"];
    let shown = [run(&[]), run(&["--machine", "nowhere"]), run(&["--machine", "here", "--nodes", "8"]), run(&few)];
    let predicted = std::fs::read_to_string(folder.path().join("predicted.csv")).unwrap();
    insta::assert_snapshot!("calibrated", format!("{}\n\n{predicted}", shown.join("\n")));
}

/// The collection of the repository is read as it is.
#[test]
fn a_data_sheet_predicts_what_was_measured() {
    let folder = Folder::new();
    let results = here("../tests/truth/imb.csv");
    let shown = folder.run(
        TITR,
        &[
            "calibrate",
            results.to_str().unwrap(),
            "--machine",
            "Fulhame",
            "--library",
            "OMPI4_32cpn",
            "--data-sheet",
            "--rules",
            "openmpi",
            "--hosts",
            "32",
            "--largest",
            "64 B",
            "--output",
            "cluster.toml",
        ],
    );
    assert_eq!(shown, "From the data sheet and typical costs; nothing is fitted.\ncluster.toml is the platform\n[0]");
}

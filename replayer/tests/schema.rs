//! The schema of what the commands print as JSON. Every other test that has a command print JSON validates it, too.

use serde_json::{Value, json};
use titr_replayer::schema::OUTPUTS;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};
use crate::support::schema::validate;

/// The JSON that a command prints.
fn printed(folder: &Folder, command: &str, arguments: &[&str]) -> Value {
    let said = folder.run(command, arguments);
    serde_json::from_str(said.strip_suffix("[0]").unwrap_or_else(|| panic!("{said}"))).unwrap()
}

/// `UPDATE=1` writes the file anew; the command, which contains the file, is then to be built anew.
#[test]
fn the_file_is_as_the_types_are() {
    let of_types = serde_json::to_string_pretty(&titr_replayer::schema::schema()).unwrap() + "\n";
    let file = here("../docs/schema/result.json");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &of_types).unwrap();
    }
    let is_same = std::fs::read_to_string(&file).is_ok_and(|text| text == of_types);
    assert!(is_same, "docs/schema/result.json is not as the types are: set UPDATE=1 and run this test");
}

/// The part for one output is whole: it refers to no type that it lacks, and has no type that it does not need. Its types may
/// have other names than alone, since two outputs have types of one name.
#[test]
fn the_schema_of_each_output_is_the_part_of_the_whole() {
    for output in OUTPUTS {
        let said = Folder::new().run(TITR, &["schema", output.name]);
        let printed: Value = serde_json::from_str(said.strip_suffix("[0]").unwrap()).unwrap();
        let of_type = output.schema().to_value();
        let types = |schema: &Value| schema["$defs"].as_object().unwrap().len();
        assert_eq!(types(&printed), types(&of_type), "{}", output.name);
        for name in printed["$defs"].as_object().unwrap().keys() {
            assert!(said.contains(&format!("\"#/$defs/{name}\"")), "{} does not need {name}", output.name);
        }
        for name in said.split("\"#/$defs/").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(printed["$defs"][name].is_object(), "{} lacks {name}", output.name);
        }
    }
}

/// Each output, with all that its command can add to it.
#[test]
fn every_output_is_valid() {
    let folder = Folder::new();
    let kernel = "stencil --ranks 16 --dimensions 4x4 --torus --bytes 20kB --iterations 3 --compute 1e5";
    let arguments: Vec<&str> = ["generate"].into_iter().chain(kernel.split(' ')).chain(["-o", "t"]).collect();
    folder.run(TITR, &arguments);
    let (flow, packet) = (here("../examples/cluster16.toml"), here("../examples/packet.toml"));
    let (flow, packet) = (flow.to_str().unwrap(), packet.to_str().unwrap());

    let analyses = ["--analyse", "critical-path", "--analyse", "wait-states", "--analyse", "matrix"];
    let explained = [&["--platform", flow, "--json", "t"][..], &analyses].concat();
    let result = printed(&folder, TITR_REPLAY, &explained);
    folder.file("before.json", result.to_string());
    folder.file("after.json", result.to_string());
    printed(&folder, TITR_REPLAY, &["--platform", packet, "--runs", "2", "--channels", "--json", "t"]);
    printed(&folder, TITR_REPLAY, &["--platform", flow, "--vary", "network.latency=1us,2us", "--json", "t"]);
    let traffic = ["--platform", packet, "--traffic", "uniform", "--load", "0.1", "--cycles", "2000"];
    printed(&folder, TITR_REPLAY, &[&traffic[..], &["--channels", "--json"]].concat());
    printed(&folder, TITR, &["diff", "before.json", "after.json", "--json"]);
    printed(&folder, TITR, &["efficiency", "before.json", "after.json", "--json"]);
    printed(&folder, TITR, &["advise", "--platform", flow, "--json", "t"]);
    printed(&folder, TITR, &["info", "--json", "t"]);
}

/// The schema is closed: a property that it does not name is a mistake, and so is one that is missing.
#[test]
fn a_property_under_another_name_is_not_valid() {
    let trace = here("../examples/ring.txt");
    let platform = here("../examples/cluster16.toml");
    let arguments = ["--platform", platform.to_str().unwrap(), "--json", trace.to_str().unwrap()];
    let mut result = printed(&Folder::new(), TITR_REPLAY, &arguments);
    validate("replay", &result);
    let time = result.as_object_mut().unwrap().remove("simulated_time").unwrap();
    result["predicted_time"] = time;
    let complaint = std::panic::catch_unwind(|| validate("replay", &result)).unwrap_err();
    let complaint = complaint.downcast::<String>().unwrap();
    for part in ["'predicted_time'", "\"simulated_time\" is a required property"] {
        assert!(complaint.contains(part), "{complaint}");
    }
}

/// Fields say what they are, and quantities have a unit.
#[test]
fn every_property_is_described() {
    let said = Folder::new().run(TITR, &["schema"]);
    let schema: Value = serde_json::from_str(said.strip_suffix("[0]").unwrap()).unwrap();
    for (name, of_type) in schema["$defs"].as_object().unwrap() {
        for (key, property) in of_type["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{key} of {name} has no description");
        }
    }
    assert_eq!(schema["$defs"]["Seconds"]["x-unit"], json!("s"));
}

//! `vincula check`: redundant joints, reactions that are not unique, joints that do not hold,
//! and whether any pose would meet them.

use serde_json::json;
use vincula::dual::{JointAnalysis, MOST_ROWS};
use vincula::model::{Assembly, AssemblyError};
use vincula::prelude::*;
use vincula_scenes::find;

use crate::args::CheckArgs;
use crate::commands::{borrowed, say};
use crate::fault::Fault;

/// Joints listed by name in a line of text; `--json` lists all.
const LISTED: usize = 12;

/// Checks the joints of a scene at its initial pose.
pub fn check(request: &CheckArgs) -> Result<(), Fault> {
    let scene = find(&request.scene)?.build(&borrowed(&request.settings), request.seed)?;
    let work = Workspace::new(&scene.model, Settings::default());
    let found = work
        .dual()
        .analyse(&scene.model, &scene.state)
        .map_err(|error| Fault::Conflict(error.to_string()))?;
    let open = open(&scene.model, &found);
    let assembly = (!open.is_empty()).then(|| scene.model.assemble());
    if request.json {
        let told = in_json(scene.name, &scene.model, &found, assembly.as_ref());
        say(&format!("{told}\n"));
    } else {
        say(&in_words(scene.name, &scene.model, &found));
    }
    match assembly {
        None => Ok(()),
        Some(assembly) => Err(Fault::Conflict(conflict(&open, &assembly))),
    }
}

/// Names and gaps of joints and couplings that do not hold.
fn open(model: &Model, found: &JointAnalysis) -> Vec<(String, f64)> {
    let joints = found.violated.iter();
    let joints = joints.map(|(joint, gap)| (name(model, *joint).to_owned(), *gap));
    let couplings = found.missed.iter();
    let couplings = couplings.map(|(id, gap)| (model.coupling(*id).name.clone(), *gap));
    joints.chain(couplings).collect()
}

fn name(model: &Model, joint: JointId) -> &str {
    &model.joint(joint).name
}

fn conflict(open: &[(String, f64)], assembly: &Result<Assembly, AssemblyError>) -> String {
    let told: Vec<String> = open
        .iter()
        .take(LISTED)
        .map(|(name, gap)| format!("'{name}' is {gap:.3e} m apart"))
        .collect();
    let more = rest(open.len());
    let told = told.join(", ");
    let way = match assembly {
        Ok(found) => format!(
            "they can be met by moving bodies by at most {:.3e} m and {:.3e} rad",
            found.moved, found.turned
        ),
        Err(error) => error.to_string(),
    };
    format!("joints do not hold at the initial pose: {told}{more}; {way}")
}

fn assembly_in_json(assembly: &Result<Assembly, AssemblyError>) -> serde_json::Value {
    match assembly {
        Ok(found) => json!({
            "possible": true,
            "moved": found.moved,
            "turned": found.turned,
            "gap": found.gap,
            "iterations": found.iterations,
        }),
        Err(error) => {
            let open = error.open.iter();
            let open = open.map(|(name, gap)| json!({ "joint": name, "gap": gap }));
            json!({ "possible": false, "open": open.collect::<Vec<_>>() })
        }
    }
}

fn rest(count: usize) -> String {
    match count.saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

fn listed(model: &Model, joints: &[JointId]) -> String {
    let names: Vec<&str> = joints
        .iter()
        .take(LISTED)
        .map(|&joint| name(model, joint))
        .collect();
    format!("{}{}", names.join(", "), rest(joints.len()))
}

fn in_words(scene: &str, model: &Model, found: &JointAnalysis) -> String {
    let mut text = format!(
        "{scene}: {} bodies, {} joints with {} rows, {} of them independent; freedoms left: {}\n",
        model.bodies().len(),
        model.joints().len(),
        found.rows,
        found.rank,
        found.freedoms,
    );
    for &joint in &found.too_large {
        let first = name(model, joint);
        text += &format!("  not analysed: the joints around {first} have over {MOST_ROWS} rows\n");
    }
    if found.redundant.is_empty() && found.too_large.is_empty() {
        text += "  no redundant joints; every reaction is unique\n";
    }
    for one in found.redundant.iter().take(LISTED) {
        let (joint, rows) = (name(model, one.joint), one.rows.len());
        let plural = if rows == 1 { "row" } else { "rows" };
        let others = listed(model, &one.follows_from);
        text += &format!("  redundant: {joint} ({rows} {plural}) follows from {others}\n");
    }
    if found.redundant.len() > LISTED {
        text += &format!("  redundant:{}\n", rest(found.redundant.len()));
    }
    if !found.not_unique.is_empty() {
        let joints = listed(model, &found.not_unique);
        text += &format!("  reactions not unique: {joints}\n");
    }
    if found.violated.is_empty() && found.missed.is_empty() {
        text += "  every joint holds at the initial pose\n";
    }
    text
}

fn in_json(
    scene: &str,
    model: &Model,
    found: &JointAnalysis,
    assembly: Option<&Result<Assembly, AssemblyError>>,
) -> serde_json::Value {
    let names = |joints: &[JointId]| -> Vec<&str> {
        joints.iter().map(|&joint| name(model, joint)).collect()
    };
    let redundant: Vec<_> = found
        .redundant
        .iter()
        .map(|one| {
            json!({
                "joint": name(model, one.joint),
                "rows": one.rows,
                "follows_from": names(&one.follows_from),
            })
        })
        .collect();
    let violated: Vec<_> = found
        .violated
        .iter()
        .map(|(joint, gap)| json!({ "joint": name(model, *joint), "gap": gap }))
        .collect();
    let missed: Vec<_> = found
        .missed
        .iter()
        .map(|(id, gap)| json!({ "coupling": model.coupling(*id).name, "gap": gap }))
        .collect();
    json!({
        "scene": scene,
        "bodies": model.bodies().len(),
        "joints": model.joints().len(),
        "rows": found.rows,
        "rank": found.rank,
        "freedoms": found.freedoms,
        "redundant": redundant,
        "reactions_not_unique": names(&found.not_unique),
        "violated": violated,
        "missed_couplings": missed,
        "assembly": assembly.map(assembly_in_json),
        "not_analysed": names(&found.too_large),
    })
}

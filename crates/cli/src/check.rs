//! `vincula check`: redundant joints, reactions that are not unique, joints that do not hold.

use serde_json::json;
use vincula::dual::{JointAnalysis, MOST_ROWS};
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
    if request.json {
        say(&format!("{}\n", in_json(scene.name, &scene.model, &found)));
    } else {
        say(&in_words(scene.name, &scene.model, &found));
    }
    match found.violated.as_slice() {
        [] => Ok(()),
        violated => Err(Fault::Conflict(conflict(&scene.model, violated))),
    }
}

fn name(model: &Model, joint: JointId) -> &str {
    &model.joint(joint).name
}

fn conflict(model: &Model, violated: &[(JointId, f64)]) -> String {
    let told: Vec<String> = violated
        .iter()
        .take(LISTED)
        .map(|(joint, gap)| format!("'{}' is {gap:.3e} m apart", name(model, *joint)))
        .collect();
    let more = rest(violated.len());
    let told = told.join(", ");
    format!("joints do not hold at the initial pose: {told}{more}; move the bodies together")
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
    if found.violated.is_empty() {
        text += "  every joint holds at the initial pose\n";
    }
    text
}

fn in_json(scene: &str, model: &Model, found: &JointAnalysis) -> serde_json::Value {
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
        "not_analysed": names(&found.too_large),
    })
}

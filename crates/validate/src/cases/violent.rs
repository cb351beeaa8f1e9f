//! Motions that no step resolves (He et al. 2026, Figs. 11 and 12): the folded chain with a heavy
//! end, and falling nets. Joints stay closed and no energy comes from nowhere.

use vincula::prelude::*;

use super::case_name;
use super::mechanisms::gap_row;
use crate::motion::Outcome;
use crate::row::Row;
use crate::trace::{Trace, trace};

/// Step lengths of the chain, s.
const STEPS: [f64; 3] = [0.001, 0.01, 1.0 / 30.0];
/// Iterations of a step: one is normal, and the mean may exceed it by this.
const FURTHER: f64 = 1.0;
/// Energy above that of the start, as a share of what was lost: rounding only.
const GAINED: f64 = 1e-12;

pub fn measure() -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    let chain = vincula_scenes::build("heavy-chain", &[])?;
    for h in STEPS {
        let trace = trace(&chain, Settings::default(), h, 20.0)?;
        let case = case_name("heavy chain", Integrator::default(), h);
        rows.push(gap_row(&case, "largest gap over 20 s [m]", trace.gap()));
        rows.push(gain_row(&case, &trace));
        let mean = trace.iterations();
        rows.push(Row::value(&case, "iterations, mean", 1.0, mean, FURTHER));
    }
    for (name, settings) in [
        ("net 10 × 10", &[][..]),
        (
            "net 10 × 10, rods of 0.1 m",
            &[("length", "0.1"), ("width", "0.01")],
        ),
    ] {
        let net = vincula_scenes::build("net", settings)?;
        let trace = trace(&net, Settings::default(), net.h, net.duration)?;
        let case = case_name(name, Integrator::default(), net.h);
        rows.push(gap_row(&case, "largest gap over 10 s [m]", trace.gap()));
        rows.push(gain_row(&case, &trace));
    }
    Ok(rows)
}

fn gain_row(case: &str, trace: &Trace) -> Row {
    Row::error(
        case,
        "energy ever gained / largest change",
        "conservation",
        trace.gained() / trace.strayed(),
        GAINED,
    )
}

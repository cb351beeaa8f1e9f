//! The solver of an island, from the shape of its graph.
//!
//! Bodies with many joints become hubs where that leaves a tree, or a tree and a few loops.
//! In a graph with many loops only those bodies do whose joints all hold one point and lead
//! to links with another point of their own: with the hubs held fast, the joints in between
//! are then still independent of each other, so that every pivot is sound in any order.

use std::sync::Arc;

use vincula_blocks::{
    Chain, Cholesky, CholeskyOptions, Condensed, Dense, Factorization, Loops, Pattern, Role, Shape,
    Tree, plan as classify,
};

use super::hubs::{Basis, Hub};
use super::linearize::SideRows;
use super::plan::{IslandPlan, SolverChoice};
use super::sweeps::Sweeps;
use super::{Dual, Incidence};

/// What solves an island.
pub(super) enum Solver {
    /// A factorization.
    Direct(Box<dyn Factorization + Send>),
    /// Sweeps from a first guess.
    Sweeps(Sweeps),
}

impl Solver {
    pub(super) fn direct(solver: impl Factorization + Send + 'static) -> Solver {
        Solver::Direct(Box::new(solver))
    }
}

/// An island before it has a matrix.
pub(super) struct Draft<'a> {
    /// Joints of the model, ascending: the first nodes.
    pub joints: &'a [usize],
    /// Bodies they touch, ascending.
    pub bodies: &'a [usize],
    /// Rows of each joint.
    pub sizes: Vec<usize>,
}

/// What was decided for an island.
pub(super) struct Decision {
    pub pattern: Arc<Pattern>,
    pub solver: Solver,
    pub plan: IslandPlan,
    /// Bodies kept, with their coordinates.
    pub hubs: Vec<(usize, Basis)>,
}

/// A solver with its name and the reason for it.
pub(super) struct Choice {
    pub solver: Solver,
    name: &'static str,
    why: &'static str,
    flops: f64,
    stored: f64,
}

impl Dual {
    /// Decides which bodies of an island to keep and which solver serves it.
    pub(super) fn decide(&self, draft: &Draft<'_>, choice: SolverChoice) -> Decision {
        if choice == SolverChoice::Automatic {
            let hubs: Vec<(usize, Basis)> = draft
                .bodies
                .iter()
                .filter_map(|&body| Some((body, self.hub_basis(body)?)))
                .collect();
            if let Some(decision) = self.with_hubs(draft, hubs) {
                return decision;
            }
        }
        let pattern = self.pattern(draft, &[]);
        let chosen = choose(&pattern, choice, self.threads);
        Decision {
            plan: describe(draft, &pattern, &chosen, 0),
            solver: chosen.solver,
            pattern,
            hubs: Vec::new(),
        }
    }

    /// A decision with hubs, if they are of use.
    fn with_hubs(&self, draft: &Draft<'_>, hubs: Vec<(usize, Basis)>) -> Option<Decision> {
        if hubs.is_empty() {
            return None;
        }
        let pattern = self.pattern(draft, &hubs);
        if let Some(chosen) = choose_tree(&pattern) {
            return Some(Decision {
                plan: describe(draft, &pattern, &chosen, hubs.len()),
                solver: chosen.solver,
                pattern,
                hubs,
            });
        }
        let hubs = self.separate_hubs(hubs);
        if hubs.is_empty() {
            return None;
        }
        let pattern = self.pattern(draft, &hubs);
        let mut net = Condensed::symbolic(&pattern, &CholeskyOptions::default()).ok()?;
        net.threads = self.threads;
        let chosen = Choice {
            name: "net",
            why: "many loops, and bodies at which joints meet in a point are unknowns",
            flops: net.factor_flops(),
            stored: net.stored() as f64,
            solver: Solver::direct(net),
        };
        Some(Decision {
            plan: describe(draft, &pattern, &chosen, hubs.len()),
            solver: chosen.solver,
            pattern,
            hubs,
        })
    }

    /// Hubs at a point, each of whose joints leads to a link that is no hub.
    fn separate_hubs(&self, candidates: Vec<(usize, Basis)>) -> Vec<(usize, Basis)> {
        let mut kept: Vec<(usize, Basis)> = Vec::new();
        for (body, basis) in candidates {
            let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
            let apart = |at: &Incidence| {
                let Some(other) = self.other_side(at).body() else {
                    return false;
                };
                let is_hub = kept.binary_search_by_key(&other, |hub| hub.0).is_ok();
                !is_hub && self.is_link(other)
            };
            if basis == Basis::Points(1) && at_body.iter().all(apart) {
                kept.push((body, basis));
            }
        }
        kept
    }

    /// Whether a body is held at no more than two points, a joint at each.
    fn is_link(&self, body: usize) -> bool {
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        match at_body {
            [one] => one.port == 0,
            [one, two] => one.port == 0 && two.port == 1,
            _ => false,
        }
    }

    fn other_side(&self, at: &Incidence) -> &SideRows {
        let rows = &self.joints[at.joint as usize];
        if at.first { &rows.b } else { &rows.a }
    }

    /// The graph of an island: joints first, then the nodes of hubs.
    fn pattern(&self, draft: &Draft<'_>, hubs: &[(usize, Basis)]) -> Arc<Pattern> {
        let mut sizes = draft.sizes.clone();
        let mut roles = vec![Role::Waiting; sizes.len()];
        let mut edges = Vec::new();
        for &body in draft.bodies {
            let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
            let nodes: Vec<usize> = at_body
                .iter()
                .map(|at| self.places[at.joint as usize].1 as usize)
                .collect();
            let hub = hubs.binary_search_by_key(&body, |hub| hub.0);
            let Ok(hub) = hub else {
                for (k, &i) in nodes.iter().enumerate() {
                    roles[i] = Role::Positive;
                    edges.extend(nodes[k + 1..].iter().map(|&j| (i.min(j), i.max(j))));
                }
                continue;
            };
            let first = sizes.len();
            for &size in hubs[hub].1.sizes() {
                let node = sizes.len();
                sizes.push(size);
                roles.push(Role::Negative);
                edges.extend(nodes.iter().map(|&i| (i, node)));
                edges.extend((first..node).map(|before| (before, node)));
            }
        }
        if hubs.is_empty() {
            roles.clear();
        }
        Pattern::with_roles(&sizes, &edges, roles)
            .expect("joints have one to six rows and never tie a body to itself")
    }

    /// Enters the hubs of a new island, whose first joint nodes are `joints`.
    pub(super) fn place_hubs(&mut self, island: usize, joints: usize, hubs: &[(usize, Basis)]) {
        let mut node = joints;
        for &(body, basis) in hubs {
            self.hubs[body] = Some(Hub {
                island: island as u32,
                node: node as u32,
                basis,
            });
            node += basis.sizes().len();
        }
    }
}

fn describe(draft: &Draft<'_>, pattern: &Pattern, chosen: &Choice, hubs: usize) -> IslandPlan {
    IslandPlan {
        solver: chosen.name,
        why: chosen.why,
        bodies: draft.bodies.len(),
        joints: draft.joints.len(),
        hubs,
        unknowns: pattern.dimension(),
        factor_flops: chosen.flops,
        stored: chosen.stored,
    }
}

/// A tree or a tree with few loops, if the pattern is one.
fn choose_tree(pattern: &Arc<Pattern>) -> Option<Choice> {
    let report = classify(pattern);
    let component = report.components.first()?;
    let (solver, name, why): (Solver, _, _) = match &component.shape {
        Shape::Path { .. } | Shape::Tree => (
            Solver::direct(Tree::symbolic(pattern).ok()?),
            "tree",
            "a tree once bodies with many joints are unknowns",
        ),
        Shape::Loops { closures } => (
            Solver::direct(Loops::symbolic(pattern, closures.len()).ok()?),
            "loops",
            "a tree once bodies with many joints are unknowns and a few joints are set aside",
        ),
        Shape::General => return None,
    };
    let estimate = component.estimates.iter().find(|e| e.solver == name);
    Some(Choice {
        solver,
        name,
        why,
        flops: estimate.map_or(f64::NAN, |e| e.factor_flops),
        stored: estimate.map_or(f64::NAN, |e| e.stored),
    })
}

/// The solver of an island without hubs.
pub(super) fn choose(pattern: &Arc<Pattern>, choice: SolverChoice, threads: usize) -> Choice {
    let report = classify(pattern);
    let component = &report.components[0];
    let cholesky = || -> Solver {
        let mut cholesky = Cholesky::symbolic(pattern, &CholeskyOptions::default())
            .expect("a valid pattern has a symbolic factorization");
        cholesky.threads = threads;
        Solver::direct(cholesky)
    };
    let (solver, name, why): (Solver, _, _) = match (choice, &component.shape) {
        (SolverChoice::Dense, _) => (
            Solver::direct(Dense::symbolic(pattern)),
            "dense",
            "asked for",
        ),
        (SolverChoice::GaussSeidel, _) => (
            Solver::Sweeps(Sweeps::new(pattern)),
            "gauss-seidel",
            "asked for",
        ),
        (SolverChoice::Cholesky, _) => (cholesky(), "cholesky", "asked for"),
        (_, Shape::Path { order }) => match Chain::symbolic(pattern, order) {
            Ok(chain) => (
                Solver::direct(chain),
                "chain",
                "every joint has at most two neighbours",
            ),
            Err(_) => (cholesky(), "cholesky", "the chain could not be ordered"),
        },
        (_, Shape::Tree) => match Tree::symbolic(pattern) {
            Ok(tree) => (
                Solver::direct(tree),
                "tree",
                "elimination from the leaves makes no fill",
            ),
            Err(_) => (cholesky(), "cholesky", "the tree could not be ordered"),
        },
        (_, Shape::Loops { closures }) => match Loops::symbolic(pattern, closures.len()) {
            Ok(loops) => (
                Solver::direct(loops),
                "loops",
                "a tree once a few joints are set aside",
            ),
            Err(_) => (cholesky(), "cholesky", "the loops could not be cut"),
        },
        (_, Shape::General) => (cholesky(), "cholesky", "many loops"),
    };
    let estimate = component.estimates.iter().find(|e| e.solver == name);
    Choice {
        solver,
        name,
        why,
        flops: estimate.map_or(f64::NAN, |e| e.factor_flops),
        stored: estimate.map_or(f64::NAN, |e| e.stored),
    }
}

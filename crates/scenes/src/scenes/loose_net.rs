//! Nets that collide with other things and not with themselves.

use glam::DVec3;
use vincula::prelude::*;

use super::linkage::along;
use super::site::Site;

/// Groups of colliders: a net, and what is not a net.
const NET: u32 = 1;
const REST: u32 = !1;

/// How large a net is, in nodes, and its measures, m.
pub(super) struct NetParts {
    pub rows: usize,
    pub columns: usize,
    pub length: f64,
    pub width: f64,
}

/// Adds a level net of `rows × columns` nodes about a middle and returns the nodes, row after
/// row. Everything else must stay out of the first group, as colliders do by their default
/// mask: the net meets every group but its own.
pub(super) fn net(site: &mut Site, parts: &NetParts, middle: DVec3) -> Vec<BodyId> {
    let &NetParts {
        rows,
        columns,
        length,
        width,
    } = parts;
    let offset = 0.5 * DVec3::new(rows as f64 - 1.0, columns as f64 - 1.0, 0.0);
    let place = |row: usize, column: usize| {
        middle + length * (DVec3::new(row as f64, column as f64, 0.0) - offset)
    };
    let mut nodes = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            let shape = Shape::Sphere { radius: width };
            let name = format!("node-{row}-{column}");
            nodes.push(part(site, name, shape, place(row, column), DVec3::X));
        }
    }
    let mut tie = |name: String, from: [usize; 2], to: [usize; 2]| {
        let ends = [place(from[0], from[1]), place(to[0], to[1])];
        let span = ends[1] - ends[0];
        let shape = Shape::Box {
            half_extents: 0.5 * DVec3::new(span.length(), width, width),
        };
        let rod = part(site, name.clone(), shape, 0.5 * (ends[0] + ends[1]), span);
        for (end, [row, column]) in [from, to].into_iter().enumerate() {
            let joint = format!("{name}-{end}");
            let node = nodes[row * columns + column];
            site.builder
                .joint(JointDef::ball(joint, node, rod, ends[end]));
        }
    };
    for row in 0..rows {
        for column in 0..columns {
            if column + 1 < columns {
                let name = format!("across-{row}-{column}");
                tie(name, [row, column], [row, column + 1]);
            }
            if row + 1 < rows {
                let name = format!("down-{row}-{column}");
                tie(name, [row, column], [row + 1, column]);
            }
        }
    }
    nodes
}

fn part(site: &mut Site, name: String, shape: Shape, at: DVec3, span: DVec3) -> BodyId {
    let def = BodyDef::new(&name, shape.clone(), site.density)
        .at(at)
        .turned(along(span));
    let body = site.bare(def);
    let collider = ColliderDef::new(name, body, shape).surface(site.surface);
    site.builder.collider(collider.groups(NET, REST));
    body
}

//! Convex hull by quickhull (Barber, Dobkin, Huhdanpaa 1996) on an integer grid.
//!
//! Floating-point side tests contradict each other among nearly coplanar
//! points, and a hull grown on contradictions tears. So the points are first
//! rounded to a grid of 2⁴⁰ cells across their largest extent. There the test
//!
//! ```text
//! side(a, b, c; p) = (b−a) × (c−a) · (p−a)  > 0   p is outside face abc
//! ```
//!
//! is exact in 128-bit integers (|side| < 6·2¹²⁰), and the algorithm's proof
//! holds. The grid decides only which points are joined; the mesh returned has
//! the points as they were given.

use std::collections::HashMap;

use glam::DVec3;

use super::{ShapeError, TriMesh, all_finite};

const GRID: f64 = (1u64 << 40) as f64;

/// Points closer than this many grid cells to one plane (4·10⁻⁹ of their
/// extent) count as flat: far above rounding, far below any real plate.
const FLAT_CELLS: f64 = 4096.0;

/// The convex hull of `points` (m) as a closed mesh with outward winding.
///
/// Points inside, duplicates and points within faces are allowed and mostly
/// dropped. The same points in the same order give the same mesh.
pub fn convex_hull(points: &[DVec3]) -> Result<TriMesh, ShapeError> {
    if points.len() < 4 {
        return Err(ShapeError::TooFewPoints {
            count: points.len(),
        });
    }
    all_finite("points", points)?;
    let mut hull = Hull::on_grid(points);
    let simplex = hull.first_simplex()?;
    hull.start(simplex);
    hull.grow();
    Ok(hull.mesh(points))
}

struct Face {
    corners: [usize; 3],
    /// Points that see this face and no face before it in the list.
    outside: Vec<usize>,
    alive: bool,
}

struct Hull {
    grid: Vec<[i64; 3]>,
    /// Size of a grid cell (m).
    cell: f64,
    faces: Vec<Face>,
    /// The latest face to run along a directed edge. Looked up, never iterated:
    /// the order of a hash map would not be reproducible.
    face_along: HashMap<(usize, usize), usize>,
}

impl Hull {
    fn on_grid(points: &[DVec3]) -> Self {
        let low = points.iter().fold(DVec3::INFINITY, |low, &p| low.min(p));
        let high = points
            .iter()
            .fold(DVec3::NEG_INFINITY, |high, &p| high.max(p));
        let cell = (high - low).max_element() / GRID;
        // Without a usable extent all points fall into one cell and are refused.
        let scale = Some(1.0 / cell).filter(|s| s.is_finite()).unwrap_or(0.0);
        let snap = |value: f64| value.round() as i64;
        let grid = points
            .iter()
            .map(|&p| ((p - low) * scale).to_array().map(snap))
            .collect();
        Self {
            grid,
            cell,
            faces: Vec::new(),
            face_along: HashMap::new(),
        }
    }

    fn between(&self, from: usize, to: usize) -> [i128; 3] {
        let (a, b) = (self.grid[from], self.grid[to]);
        [0, 1, 2].map(|axis| i128::from(b[axis]) - i128::from(a[axis]))
    }

    fn side(&self, [a, b, c]: [usize; 3], point: usize) -> i128 {
        let normal = cross(self.between(a, b), self.between(a, c));
        let arm = self.between(a, point);
        normal[0] * arm[0] + normal[1] * arm[1] + normal[2] * arm[2]
    }

    /// Four points far apart, or the reason why there are none.
    fn first_simplex(&self) -> Result<[usize; 4], ShapeError> {
        let all = 0..self.grid.len();
        let a = 0;
        let (b, length) = farthest(all.clone(), |p| magnitude(self.between(a, p)));
        self.refuse_flat("in one place", length)?;
        let along = self.between(a, b);
        let (c, area) = farthest(all.clone(), |p| magnitude(cross(along, self.between(a, p))));
        self.refuse_flat("on one line", area / length)?;
        let (d, volume) = farthest(all, |p| self.side([a, b, c], p).unsigned_abs() as f64);
        self.refuse_flat("in one plane", volume / area)?;
        // Face abc must look away from d.
        let outward = self.side([a, b, c], d) < 0;
        Ok(if outward { [a, b, c, d] } else { [a, c, b, d] })
    }

    fn refuse_flat(&self, extent: &'static str, cells: f64) -> Result<(), ShapeError> {
        if cells > FLAT_CELLS {
            return Ok(());
        }
        Err(ShapeError::FlatHull {
            count: self.grid.len(),
            extent,
            thickness: cells * self.cell,
            size: self.cell * GRID,
        })
    }

    fn start(&mut self, [a, b, c, d]: [usize; 4]) {
        for corners in [[a, b, c], [a, d, b], [b, d, c], [c, d, a]] {
            self.add_face(corners);
        }
        self.assign((0..self.grid.len()).collect(), 0);
    }

    fn add_face(&mut self, corners: [usize; 3]) {
        for edge in edges(corners) {
            self.face_along.insert(edge, self.faces.len());
        }
        self.faces.push(Face {
            corners,
            outside: Vec::new(),
            alive: true,
        });
    }

    /// Hands each point to the first face from `first_face` on that it sees;
    /// a point that sees none lies inside for good.
    fn assign(&mut self, points: Vec<usize>, first_face: usize) {
        for point in points {
            let sees = |&face: &usize| self.side(self.faces[face].corners, point) > 0;
            if let Some(face) = (first_face..self.faces.len()).find(sees) {
                self.faces[face].outside.push(point);
            }
        }
    }

    fn grow(&mut self) {
        let mut next = 0;
        while next < self.faces.len() {
            let face = &self.faces[next];
            let height = |&&point: &&usize| self.side(face.corners, point);
            match face.outside.iter().max_by_key(height) {
                Some(&apex) => self.absorb(next, apex),
                None => next += 1,
            }
        }
    }

    /// Replaces all faces that `apex` sees by a fan of faces from their rim.
    fn absorb(&mut self, seed: usize, apex: usize) {
        let visible = self.remove_visible(seed, apex);
        let mut rim = Vec::new();
        let mut orphans = Vec::new();
        for &face in &visible {
            orphans.append(&mut self.faces[face].outside);
            for (from, to) in edges(self.faces[face].corners) {
                if self.living_neighbour(from, to).is_some() {
                    rim.push((from, to));
                }
            }
        }
        let first_new = self.faces.len();
        for (from, to) in rim {
            self.add_face([from, to, apex]);
        }
        // A point that saw a removed face and is still outside sees a new one:
        // a new face's normal is a blend of those on both sides of the rim.
        self.assign(orphans, first_new);
    }

    /// Removes the faces `apex` sees and names them, spreading from one of
    /// them: they hang together because the hull is convex and the side test
    /// is exact.
    fn remove_visible(&mut self, seed: usize, apex: usize) -> Vec<usize> {
        self.faces[seed].alive = false;
        let mut visible = vec![seed];
        let mut next = 0;
        while next < visible.len() {
            for (from, to) in edges(self.faces[visible[next]].corners) {
                if let Some(face) = self.living_neighbour(from, to)
                    && self.side(self.faces[face].corners, apex) > 0
                {
                    self.faces[face].alive = false;
                    visible.push(face);
                }
            }
            next += 1;
        }
        visible
    }

    /// The face on the other side of an edge, unless it has been removed.
    fn living_neighbour(&self, from: usize, to: usize) -> Option<usize> {
        let face = *self.face_along.get(&(to, from))?;
        self.faces[face].alive.then_some(face)
    }

    /// The living faces over the points they use, in the order given.
    fn mesh(&self, points: &[DVec3]) -> TriMesh {
        let living = || self.faces.iter().filter(|face| face.alive);
        let mut used = vec![false; points.len()];
        living().for_each(|face| face.corners.iter().for_each(|&i| used[i] = true));
        let mut mesh = TriMesh::default();
        let mut number = vec![0; points.len()];
        for (index, &point) in points.iter().enumerate() {
            if used[index] {
                number[index] = mesh.vertices.len() as u32;
                mesh.vertices.push(point);
            }
        }
        let renumber = |face: &Face| face.corners.map(|i| number[i]);
        mesh.triangles = living().map(renumber).collect();
        mesh
    }
}

fn edges([a, b, c]: [usize; 3]) -> [(usize, usize); 3] {
    [(a, b), (b, c), (c, a)]
}

fn cross(a: [i128; 3], b: [i128; 3]) -> [i128; 3] {
    let minor = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

fn magnitude(vector: [i128; 3]) -> f64 {
    DVec3::from_array(vector.map(|value| value as f64)).length()
}

/// The first index with the largest score, and that score.
fn farthest(indices: impl Iterator<Item = usize>, score: impl Fn(usize) -> f64) -> (usize, f64) {
    let better = |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
    indices.map(|i| (i, score(i))).fold((0, 0.0), better)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cube_corners() -> Vec<DVec3> {
        let sign = |i: u32, axis: u32| f64::from(i >> axis & 1) * 2.0 - 1.0;
        (0..8)
            .map(|i| DVec3::new(sign(i, 0), sign(i, 1), sign(i, 2)))
            .collect()
    }

    #[test]
    fn a_dense_lattice_has_the_hull_of_its_cube() {
        let step = |i: i32| f64::from(i) * 0.1;
        let mut points = Vec::new();
        for (x, y) in (0..=10).flat_map(|x| (0..=10).map(move |y| (x, y))) {
            points.extend((0..=10).map(|z| DVec3::new(step(x), step(y), step(z))));
        }
        let hull = convex_hull(&points).unwrap();
        hull.check_closed().unwrap();
        let on_faces = |v: &DVec3| v.to_array().iter().any(|&x| x == 0.0 || x == 1.0);
        assert!(hull.vertices.iter().all(on_faces));
    }

    #[test]
    fn duplicates_and_interior_points_are_dropped() {
        let mut points = cube_corners();
        points.extend(cube_corners());
        points.extend([DVec3::ZERO, DVec3::X, DVec3::splat(0.3)]);
        let hull = convex_hull(&points).unwrap();
        assert_eq!((hull.vertices.len(), hull.triangles.len()), (8, 12));
    }

    #[test]
    fn every_flat_set_of_points_says_how_it_is_flat() {
        let extent_of = |points: &[DVec3]| match convex_hull(points) {
            Err(ShapeError::FlatHull { extent, .. }) => extent,
            other => panic!("{other:?}"),
        };
        let tilt = glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.1, 0.7);
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.4, 0.2)];
        let plane = square.map(|(x, y)| tilt * DVec3::new(x, y, 0.0) + DVec3::splat(9.0));
        let line = square.map(|(x, y)| tilt * DVec3::new(x + 2.0 * y, 0.0, 0.0));
        assert_eq!(extent_of(&plane), "in one plane");
        assert_eq!(extent_of(&line), "on one line");
        assert_eq!(extent_of(&[DVec3::ONE; 7]), "in one place");
        assert_eq!(
            extent_of(&[
                DVec3::ONE * 1e-320,
                DVec3::ZERO,
                DVec3::X * 1e-320,
                DVec3::ZERO
            ]),
            "in one place"
        );
    }

    #[test]
    fn too_few_and_not_finite_points_are_refused() {
        let few = convex_hull(&[DVec3::ZERO; 3]);
        assert_eq!(few, Err(ShapeError::TooFewPoints { count: 3 }));
        let mut points = cube_corners();
        points[5].y = f64::INFINITY;
        let message = convex_hull(&points).unwrap_err().to_string();
        assert_eq!(message, "points[5].y = inf is not finite");
    }

    /// The largest distance of any point outside any face (m).
    fn protrusion(hull: &TriMesh, points: &[DVec3]) -> f64 {
        let mut largest: f64 = 0.0;
        for [a, b, c] in hull.corners(DVec3::ZERO) {
            let normal = (b - a).cross(c - a).normalize_or_zero();
            let heights = points.iter().map(|&p| normal.dot(p - a));
            largest = heights.fold(largest, f64::max);
        }
        largest
    }

    proptest! {
        #[test]
        fn a_hull_is_closed_and_holds_all_points(
            raw in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 8..80),
        ) {
            let points: Vec<DVec3> = raw.into_iter().map(DVec3::from_array).collect();
            let hull = convex_hull(&points).unwrap();
            hull.check_closed().unwrap();
            prop_assert_eq!(hull.triangles.len(), 2 * hull.vertices.len() - 4);
            prop_assert!(protrusion(&hull, &points) < 1e-9);
        }

        // Coordinates from {0, 1, 2}, turned: coplanar and collinear points abound.
        #[test]
        fn a_degenerate_hull_is_closed_or_refused_as_flat(
            raw in prop::collection::vec(prop::array::uniform3(0..3i32), 4..40),
            angles in prop::array::uniform3(-3.0..3.0f64),
        ) {
            let turn = glam::DQuat::from_euler(glam::EulerRot::XYZ, angles[0], angles[1], angles[2]);
            let place = |p: [i32; 3]| turn * DVec3::from_array(p.map(f64::from));
            let points: Vec<DVec3> = raw.into_iter().map(place).collect();
            match convex_hull(&points) {
                Ok(hull) => {
                    hull.check_closed().unwrap();
                    prop_assert_eq!(hull.triangles.len(), 2 * hull.vertices.len() - 4);
                }
                Err(ShapeError::FlatHull { .. }) => {}
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }
}

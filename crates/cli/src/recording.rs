//! The trajectory kept in memory while a scene runs.

use vincula::diagnostics::{energy, momentum};
use vincula_scenes::{Scene, View};

/// Most memory for a trajectory, bytes.
const LIMIT: usize = 200_000_000;
/// Numbers kept of a body at one time: position, quaternion, two velocities.
const PER_BODY: usize = 13;

/// Everything at regular times. Arrays are row-major, time first, then body.
pub struct Recording {
    /// Steps between two samples.
    pub stride: usize,
    /// Time, s.
    pub time: Vec<f64>,
    /// Origin of each body's shape frame, m, `[T, N, 3]`.
    pub positions: Vec<f64>,
    /// Orientation (w, x, y, z), `[T, N, 4]`.
    pub quaternions: Vec<f64>,
    /// Velocity of the centre of mass, m/s, `[T, N, 3]`.
    pub velocities: Vec<f64>,
    /// Angular velocity, rad/s, `[T, N, 3]`.
    pub angular_velocities: Vec<f64>,
    /// Kinetic, potential and elastic energy, J, `[T, 3]`.
    pub energies: Vec<[f64; 3]>,
    /// Linear momentum, kg m/s, then angular momentum about the origin, kg m²/s, `[T, 6]`.
    pub momenta: Vec<[f64; 6]>,
    /// Values of each probe, `[probe][T]`.
    pub probes: Vec<Vec<f64>>,
}

impl Recording {
    /// An empty record of a run of `steps` steps, thinned so that it fits in memory.
    pub fn new(scene: &Scene, steps: usize) -> Recording {
        let sample = 8 * (PER_BODY * scene.model.bodies().len() + 10 + scene.probes.len());
        Recording {
            stride: steps
                .saturating_add(1)
                .saturating_mul(sample)
                .div_ceil(LIMIT)
                .max(1),
            time: Vec::new(),
            positions: Vec::new(),
            quaternions: Vec::new(),
            velocities: Vec::new(),
            angular_velocities: Vec::new(),
            energies: Vec::new(),
            momenta: Vec::new(),
            probes: vec![Vec::new(); scene.probes.len()],
        }
    }

    /// Keeps the present state, if it is the turn of this step.
    pub fn keep(&mut self, scene: &Scene, view: &View, step: usize) {
        if !step.is_multiple_of(self.stride) {
            return;
        }
        let (model, state) = (view.model, view.state);
        self.time.push(state.time);
        for id in model.body_ids() {
            let (pose, twist) = (state.pose(model, id), state.twist(model, id));
            let q = pose.rotation;
            self.positions.extend(pose.translation.to_array());
            self.quaternions.extend([q.w, q.x, q.y, q.z]);
            self.velocities.extend(twist.linear.to_array());
            self.angular_velocities.extend(twist.angular.to_array());
        }
        let e = energy(model, state);
        self.energies.push([e.kinetic, e.potential, e.elastic]);
        let p = momentum(model, state);
        let ([px, py, pz], [lx, ly, lz]) = (p.linear.to_array(), p.angular.to_array());
        self.momenta.push([px, py, pz, lx, ly, lz]);
        for (values, probe) in self.probes.iter_mut().zip(&scene.probes) {
            values.push(probe.measure(view));
        }
    }
}

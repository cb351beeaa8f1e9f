//! Balls and capsules against each other, in closed form.
//!
//! Both are segments p(s) = a + s (b − a), 0 ≤ s ≤ 1, thickened by a radius; a ball's has no
//! length. They touch where the segments are closest. Where they run side by side they touch
//! along a line, and the ends of the common length are returned as well. A capsule that lies across
//! a cylinder, such as a link of a chain on a pulley, touches its side where the segment comes
//! closest to the axis.

use glam::DVec3;

use super::collide::Touch;

/// A segment with a radius, in the world, m.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spine {
    pub a: DVec3,
    pub b: DVec3,
    pub radius: f64,
}

impl Spine {
    fn at(&self, s: f64) -> DVec3 {
        self.a + s * (self.b - self.a)
    }

    /// Where on the segment a point is closest to, 0 to 1.
    fn nearest(&self, point: DVec3) -> f64 {
        let along = self.b - self.a;
        let length = along.length_squared();
        if length > 0.0 {
            (along.dot(point - self.a) / length).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

/// Appends the points of two spines that are closer than `reach`, m. True when there are none.
pub(crate) fn touch_spines(one: &Spine, two: &Spine, reach: f64, out: &mut Vec<Touch>) -> bool {
    let known = out.len();
    let middle = closest(one, two);
    push(one, two, middle, reach, 0, out);
    let ends = [one.nearest(two.a), one.nearest(two.b)];
    if (ends[0] - ends[1]).abs() > 1e-3 {
        for (k, s) in ends.into_iter().enumerate() {
            let place = [s, two.nearest(one.at(s))];
            push(one, two, place, reach, 1 + k as u64, out);
        }
    }
    out.len() == known
}

/// Places s, t on two segments where they are closest: the minimum of |p(s) − q(t)|², first
/// of the lines, then with one of them held at the end it would run over.
fn closest(one: &Spine, two: &Spine) -> [f64; 2] {
    let (u, v, w) = (one.b - one.a, two.b - two.a, one.a - two.a);
    let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
    let determinant = uu * vv - uv * uv;
    let s = if determinant > 1e-12 * uu * vv {
        ((uv * v.dot(w) - vv * u.dot(w)) / determinant).clamp(0.0, 1.0)
    } else {
        0.5
    };
    let t = two.nearest(one.at(s));
    [one.nearest(two.at(t)), t]
}

fn push(
    one: &Spine,
    two: &Spine,
    [s, t]: [f64; 2],
    reach: f64,
    feature: u64,
    out: &mut Vec<Touch>,
) {
    let (p, q) = (one.at(s), two.at(t));
    let distance = p.distance(q);
    let gap = distance - one.radius - two.radius;
    if gap > reach {
        return;
    }
    // Segments that cross leave the direction open; any one across the first will do.
    let normal = if distance > 0.0 {
        (q - p) / distance
    } else {
        (one.b - one.a)
            .try_normalize()
            .map_or(DVec3::Z, |d| d.any_orthonormal_vector())
    };
    out.push(Touch {
        first: p + one.radius * normal,
        second: q - two.radius * normal,
        normal,
        gap,
        ahead: gap,
        feature,
        known: false,
    });
}

/// A cylinder in the world, m.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drum {
    pub center: DVec3,
    /// Unit vector.
    pub axis: DVec3,
    pub radius: f64,
    pub half_length: f64,
}

/// Part of the length of a segment that runs across the axis from which on it lies across a
/// cylinder, squared.
const ACROSS: f64 = 0.75;

/// Where a spine comes closest to the side of a drum, if it lies across it: the distance d(p) of its
/// points p from the axis is least at one of them. If that is beside the drum and outside it, it is the
/// closest point to all of the drum, because no point is closer to that than d(p) − R.
pub(crate) fn touch_drum(spine: &Spine, drum: &Drum) -> Option<Touch> {
    let (along, from) = (spine.b - spine.a, spine.a - drum.center);
    let across = along.reject_from_normalized(drum.axis);
    let square = across.length_squared();
    if !(square > ACROSS * along.length_squared()) {
        return None;
    }
    let s = (-across.dot(from) / square).clamp(0.0, 1.0);
    let place = from + s * along;
    let height = place.dot(drum.axis);
    let out = place - height * drum.axis;
    let distance = out.length();
    if !(height.abs() <= drum.half_length && distance > drum.radius) {
        return None;
    }
    let normal = -out / distance;
    let foot = drum.center + height * drum.axis;
    let first = spine.at(s) + spine.radius * normal;
    Some(Touch::new(first, foot - drum.radius * normal, normal, 0))
}

/// When a spine that moves by `motion` comes within `distance` of the side of a drum, as a fraction of that
/// motion, if it lies across it. Seen along the axis it is a segment that comes near a point: with one of its
/// ends, or with what lies between. `None` where that says nothing of the drum, which has ends, and
/// `Some(None)` where the spine passes.
pub(crate) fn cast_drum(
    spine: &Spine,
    drum: &Drum,
    motion: DVec3,
    distance: f64,
) -> Option<Option<f64>> {
    let (along, from) = (spine.b - spine.a, spine.a - drum.center);
    let flat = |v: DVec3| v.reject_from_normalized(drum.axis);
    let (across, start, way) = (flat(along), flat(from), flat(motion));
    let square = across.length_squared();
    if !(square > ACROSS * along.length_squared()) {
        return None;
    }
    let radius = drum.radius + spine.radius + distance;
    let nearest = |time: f64| -across.dot(start + time * way) / square;
    if !((start + nearest(0.0).clamp(0.0, 1.0) * across).length() > radius) {
        return None;
    }
    let side = drum.axis.cross(across) / square.sqrt();
    let (off, speed) = (side.dot(start), side.dot(way));
    let between = (off.abs() - radius) / (-off.signum() * speed);
    let inner = |time: f64| {
        let s = nearest(time);
        (time > 0.0 && (0.0..=1.0).contains(&s)).then_some((time, s))
    };
    let end = |s: f64| {
        let at = start + s * across;
        let (rate, steep) = (at.dot(way), way.length_squared());
        let root = rate * rate - steep * (at.length_squared() - radius * radius);
        (rate < 0.0 && root >= 0.0).then(|| ((-rate - root.sqrt()) / steep, s))
    };
    let hits = [inner(between), end(0.0), end(1.0)].into_iter().flatten();
    let Some((time, s)) = hits.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Some(None);
    };
    if time > 1.0 {
        return Some(None);
    }
    let height = (from + s * along + time * motion).dot(drum.axis);
    (height.abs() <= drum.half_length).then_some(Some(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_point_to_a_drum_beats_a_fine_search() {
        let mut numbers = Numbers(9);
        let mut found = 0;
        for _ in 0..1000 {
            let [a, b, center] = [(); 3].map(|()| 0.5 * numbers.vector());
            let drum = Drum {
                center,
                axis: numbers.vector().normalize(),
                radius: 0.1,
                half_length: 0.3,
            };
            let radius = 0.02;
            let spine = Spine { a, b, radius };
            let Some(touch) = touch_drum(&spine, &drum) else {
                continue;
            };
            found += 1;
            let distance = |p: DVec3| {
                let height = (p - center).dot(drum.axis);
                let side = ((p - center).reject_from_normalized(drum.axis)).length() - drum.radius;
                let top = height.abs() - drum.half_length;
                side.max(0.0).hypot(top.max(0.0))
            };
            let steps = (0..=400).map(|k| spine.at(f64::from(k) / 400.0));
            let searched = steps.map(distance).fold(f64::INFINITY, f64::min) - radius;
            assert!(touch.gap <= searched + 1e-12 && touch.gap >= searched - 2e-3);
            assert!(distance(touch.second) < 1e-12);
            assert!((touch.first.distance(touch.second) - touch.gap.abs()).abs() < 1e-12);
        }
        assert!(found > 100, "{found}");
    }
    use crate::math::numbers::Numbers;

    #[test]
    fn the_closest_places_beat_a_fine_search() {
        let mut numbers = Numbers(5);
        for _ in 0..200 {
            let mut point = || 0.5 * numbers.vector();
            let radius = 0.0;
            let [a, b, c, d] = [point(), point(), point(), point()];
            let (one, two) = (Spine { a, b, radius }, Spine { a: c, b: d, radius });
            let [s, t] = closest(&one, &two);
            let found = one.at(s).distance(two.at(t));
            let steps = (0..=200).map(|k| f64::from(k) / 200.0);
            let searched = steps
                .map(|s| one.at(s).distance(two.at(two.nearest(one.at(s)))))
                .fold(f64::INFINITY, f64::min);
            assert!(found <= searched + 1e-12, "{found} > {searched}");
        }
    }
}

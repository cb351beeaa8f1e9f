//! Few points that hold as well as many.
//!
//! Points with about the same normal lie in a plane, and forces on a few of them at its rim
//! can do what forces on all of them can. Kept are the deepest, the farthest from it, the
//! farthest from the line of both and the farthest outside that triangle: four points that
//! span nearly the whole area. Of two that are about as good the one that pushed in the last step is
//! kept: a force that has to move to another point shakes what lies on it, and a heap would never rest.
//! For the same reason loose bodies keep more than four where they lie on more.

use glam::DVec3;

use super::collide::Touch;

/// Normals that differ by less than eight degrees make one manifold.
const SAME_NORMAL: f64 = 0.99;

/// How much better another point must be than one that pushed, as a part of the distance between the
/// farthest ones.
const STEADY: f64 = 0.1;

/// What is kept of the points of one normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// At most four.
    Few,
    /// Four, and up to eight that hold something: loose bodies rest on all of them.
    Steady,
    /// All, if they are no more than eight: where bodies turn within the step, a point that
    /// three others hold up now may be the lowest at its end.
    Corners,
}

/// Reduces the points from `start` on for each normal. Points closer to each other than
/// `distance`, m, count as one.
pub(crate) fn reduce(touches: &mut Vec<Touch>, start: usize, distance: f64, keep: Keep) {
    let mut kept = start;
    let mut begin = start;
    while begin < touches.len() {
        let deepest = deepest(&touches[begin..], distance);
        touches.swap(begin, begin + deepest);
        let normal = touches[begin].normal;
        let mut end = begin + 1;
        for k in begin + 1..touches.len() {
            if touches[k].normal.dot(normal) > SAME_NORMAL {
                touches.swap(k, end);
                end += 1;
            }
        }
        let count = if keep == Keep::Corners && end - begin <= 8 {
            distinct(&mut touches[begin..end], distance)
        } else if keep == Keep::Steady && end - begin <= 8 {
            steady(&mut touches[begin..end], distance)
        } else {
            spread(&mut touches[begin..end], distance)
        };
        touches.copy_within(begin..begin + count, kept);
        kept += count;
        begin = end;
    }
    touches.truncate(kept);
}

/// The deepest point at the end of the step; of those about as deep, the one farthest from
/// their middle, which is at the rim.
fn deepest(touches: &[Touch], distance: f64) -> usize {
    let lowest = touches.iter().fold(f64::INFINITY, |g, t| g.min(t.ahead));
    let deep = || {
        let all = touches.iter().enumerate();
        all.filter(|(_, touch)| touch.ahead <= lowest + distance)
    };
    let (sum, count) = deep().fold((DVec3::ZERO, 0.0), |(sum, count), (_, touch)| {
        (sum + touch.first, count + 1.0)
    });
    let middle = sum / count;
    let away = |touch: &Touch| touch.first.distance(middle);
    let bonus = STEADY * deep().fold(0.0, |m: f64, (_, touch)| m.max(away(touch)));
    let mut best = (0, -1.0);
    for (k, touch) in deep() {
        let away = away(touch) + if touch.known { bonus } else { 0.0 };
        if away > best.1 + distance {
            best = (k, away);
        }
    }
    best.0
}

/// Brings one of each cluster of points to the front, and says how many.
fn distinct(touches: &mut [Touch], distance: f64) -> usize {
    let mut count = 1;
    for k in 1..touches.len() {
        let at = touches[k].first;
        if touches[..count]
            .iter()
            .all(|t| t.first.distance(at) > distance)
        {
            touches.swap(k, count);
            count += 1;
        }
    }
    count
}

/// Brings at most four points that span the most to the front, the first being one of them, and after them
/// all others that pushed in the last step or are going to overlap; says how many. One that is left aside
/// although it holds something sinks in until it is the deepest, and then another one does, for ever.
fn steady(touches: &mut [Touch], distance: f64) -> usize {
    let spanning = spread(touches, distance);
    let mut count = spanning;
    for k in spanning..touches.len() {
        let touch = &touches[k];
        let is_new = |kept: &Touch| kept.first.distance(touch.first) > distance;
        if (touch.known || touch.ahead < 0.0) && touches[..count].iter().all(is_new) {
            touches.swap(k, count);
            count += 1;
        }
    }
    count
}

/// Brings at most four points that span the most to the front, the first being one of them,
/// and says how many.
fn spread(touches: &mut [Touch], distance: f64) -> usize {
    let normal = touches[0].normal;
    let flat = |touch: &Touch| touch.first - normal * normal.dot(touch.first);
    let a = flat(&touches[0]);
    let span = |touch: &Touch| (flat(touch) - a).length();
    let bonus = STEADY * touches.iter().map(span).fold(0.0, f64::max);
    if !choose(touches, 1, [distance, bonus], span) {
        return 1;
    }
    let b = flat(&touches[1]);
    let along = (b - a).normalize_or_zero();
    let aside = |touch: &Touch| (flat(touch) - a).cross(along).length();
    if !choose(touches, 2, [distance, bonus], aside) {
        return 2;
    }
    let corners = [a, b, flat(&touches[2])];
    let outside = |touch: &Touch| outside(&corners, normal, flat(touch));
    if !choose(touches, 3, [distance, bonus], outside) {
        return 3;
    }
    4
}

/// Swaps the point of the largest measure, which has a bonus where the point is known, to the place
/// `next`; false when none exceeds `least`.
fn choose(
    touches: &mut [Touch],
    next: usize,
    [least, bonus]: [f64; 2],
    measure: impl Fn(&Touch) -> f64,
) -> bool {
    let mut best = None;
    let mut largest = least;
    for k in next..touches.len() {
        let value = measure(&touches[k]);
        let worth = value + if touches[k].known { bonus } else { 0.0 };
        if value > least && worth > largest {
            largest = worth;
            best = Some(k);
        }
    }
    match best {
        Some(k) => {
            touches.swap(next, k);
            true
        }
        None => false,
    }
}

/// How far a point of the plane lies outside a triangle; negative inside.
fn outside(corners: &[DVec3; 3], normal: DVec3, point: DVec3) -> f64 {
    let [a, b, c] = *corners;
    let sense = (b - a).cross(c - a).dot(normal).signum();
    let beyond = |from: DVec3, to: DVec3| {
        let outward = (to - from).cross(normal).normalize_or_zero() * sense;
        outward.dot(point - from)
    };
    beyond(a, b).max(beyond(b, c)).max(beyond(c, a))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(x: f64, y: f64, gap: f64, feature: u64) -> Touch {
        let first = DVec3::new(x, y, 0.0);
        Touch {
            first,
            second: first + DVec3::Z * gap,
            normal: DVec3::Z,
            gap,
            ahead: gap,
            feature,
            known: false,
        }
    }

    #[test]
    fn a_dense_square_keeps_its_corners() {
        let mut touches = Vec::new();
        for i in 0..11 {
            for j in 0..11 {
                let (x, y) = (f64::from(i) / 5.0 - 1.0, f64::from(j) / 5.0 - 1.0);
                touches.push(touch(x, y, 0.0, touches.len() as u64));
            }
        }
        reduce(&mut touches, 0, 1e-6, Keep::Few);
        let mut kept: Vec<_> = touches.iter().map(|t| t.first).collect();
        kept.sort_by(|p, q| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)));
        let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
        assert_eq!(kept, corners.map(|(x, y)| DVec3::new(x, y, 0.0)));
    }

    #[test]
    fn the_deepest_point_is_kept_and_duplicates_are_not() {
        let mut touches = vec![
            touch(1.0, 0.0, 0.0, 1),
            touch(1.0, 0.0, 0.0, 2),
            touch(0.2, 0.1, -0.3, 3),
            touch(0.2, 0.1, -0.3, 4),
        ];
        reduce(&mut touches, 0, 1e-6, Keep::Few);
        let kept: Vec<_> = touches.iter().map(|t| t.feature).collect();
        assert!(kept == [3, 1] || kept == [3, 2], "{kept:?}");
    }

    #[test]
    fn a_point_that_pushed_is_kept_before_one_that_is_hardly_better() {
        let corners = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
        // Beside each corner another one, a little farther out.
        let all = corners.iter().zip(0..).flat_map(|(&(x, y), k)| {
            let beside = touch(1.02 * x - 0.1 * y, 1.02 * y + 0.1 * x, 0.0, 10 + k);
            [touch(x, y, 0.0, k), beside]
        });
        for pushed in [0, 10] {
            let mut touches: Vec<_> = all.clone().collect();
            for touch in &mut touches {
                touch.known = (pushed..pushed + 4).contains(&touch.feature);
            }
            reduce(&mut touches, 0, 1e-6, Keep::Few);
            assert_eq!(touches.len(), 4);
            assert!(touches.iter().all(|touch| touch.known), "{touches:?}");
        }
    }

    #[test]
    fn points_that_hold_something_are_all_kept() {
        let corners = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
        let all = corners.iter().zip(0..).flat_map(|(&(x, y), k)| {
            let beside = touch(0.7 * x, 0.7 * y, 1e-4, 10 + k);
            [touch(x, y, 0.0, k), beside]
        });
        let mut touches: Vec<_> = all.collect();
        touches[3].known = true;
        (touches[7].gap, touches[7].ahead) = (-1e-5, -1e-5);
        let mut kept = touches.clone();
        reduce(&mut kept, 0, 1e-3, Keep::Steady);
        let mut names: Vec<_> = kept.iter().map(|t| t.feature).collect();
        names.sort_unstable();
        assert_eq!(names, [0, 1, 2, 3, 11, 13]);
        // Where it is one of those kept anyway it does not count twice.
        for touch in &mut touches {
            touch.known = false;
        }
        touches[7].first = touches[6].first + DVec3::X * 1e-4;
        reduce(&mut touches, 0, 1e-3, Keep::Steady);
        assert_eq!(touches.len(), 4);
    }

    #[test]
    fn two_walls_of_a_corner_keep_their_own_points() {
        let mut touches = vec![touch(0.0, 0.0, 0.0, 1), touch(1.0, 0.0, 0.0, 2)];
        touches.push(Touch {
            normal: DVec3::X,
            ..touch(0.0, 0.0, 0.0, 3)
        });
        reduce(&mut touches, 0, 1e-6, Keep::Few);
        assert_eq!(touches.len(), 3);
    }
}

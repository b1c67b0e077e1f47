//! Keeps a generated motion on its route: what drifts is taken back slowly, and how the body sways is left.
//!
//! ```text
//! ω_t ← ω_t + S(ω^path − ω)_t        p_t integrated with it        p_t ← p_t + S(p^path − p)_t
//! p_t ← p_t + (p^start − p_0) e^{−t/κ}, likewise ω                 where somebody says where it begins
//! ```
//! S averages under a Gaussian of half a stride, so that nothing faster than the gait is changed. A model says how a body
//! moves from step to step; over a hundred steps these add up to somewhere else.

use mtds::Signal;

use super::route::{LEAD, Route};
use crate::Result;
use crate::frame::{D_OBS, Outputs, Placement, smooth, wrapped};
use crate::signal::FPS;

/// Width of the Gaussian, in strides.
const SIGMA_STRIDES: f64 = 0.5;
/// Seconds after which the way from the given beginning has faded to 1/e.
const FADING_SECS: f64 = 1.0;

/// The motion on its route, from what a model says row by row, the lead included: one row for every frame of the route.
pub(super) fn steered(raw: &Signal, route: &Route) -> Result<Outputs> {
    let path = route.places();
    let sigma = SIGMA_STRIDES * route.stride_frames();
    let facings = facings(raw, path, sigma);
    let mut places = places(raw, path[0], &facings);
    let off = |of: fn(&Placement) -> f64| -> Vec<f64> {
        let off: Vec<f64> = places.iter().zip(path).map(|(place, path)| of(path) - of(place)).collect();
        smooth(&off, sigma)
    };
    let (x, z) = (off(|place| place.x), off(|place| place.z));
    for (t, place) in places.iter_mut().enumerate() {
        (place.x, place.z) = (place.x + x[t], place.z + z[t]);
    }
    if let Some(start) = route.start() {
        let first = places[LEAD];
        let off = [start.x - first.x, start.z - first.z, wrapped(start.facing_rad - first.facing_rad)];
        for (t, place) in places.iter_mut().enumerate() {
            let share = (-(t.saturating_sub(LEAD) as f64) / (FADING_SECS * FPS)).exp();
            *place = Placement {
                x: place.x + share * off[0],
                z: place.z + share * off[1],
                facing_rad: place.facing_rad + share * off[2],
            };
        }
    }
    rewritten(raw, &places)
}

/// Facings in every frame, those of the raw motion turned to the route.
fn facings(raw: &Signal, path: &[Placement], sigma: f64) -> Vec<f64> {
    let turned = raw.rows().scan(path[0].facing_rad, |facing, row| {
        *facing += row[2] / FPS;
        Some(*facing)
    });
    // Row t leads to frame t + 1; the last row leads beyond the route.
    let own: Vec<f64> = std::iter::once(path[0].facing_rad).chain(turned).take(path.len()).collect();
    let off: Vec<f64> = own.iter().zip(path).map(|(own, path)| path.facing_rad - own).collect();
    own.iter().zip(smooth(&off, sigma)).map(|(own, off)| own + off).collect()
}

/// Where the body is in every frame, going as it says in the direction that it faces.
fn places(raw: &Signal, first: Placement, facings: &[f64]) -> Vec<Placement> {
    let mut places = vec![Placement { facing_rad: facings[0], ..first }];
    for (row, &facing_rad) in raw.rows().zip(&facings[1..]) {
        let before = places[places.len() - 1];
        places.push(Placement { facing_rad, ..before.moved([row[0] / FPS, row[1] / FPS], 0.0) });
    }
    places
}

/// Rows of the frames of the route, with the velocities that lead along these places.
fn rewritten(raw: &Signal, places: &[Placement]) -> Result<Outputs> {
    let mut values = Vec::with_capacity((places.len() - LEAD) * D_OBS);
    for t in LEAD..places.len() {
        let (before, now, row) = (places[t - 1], places[t], raw.row(t - 1));
        let [x, z] = before.turned_back([now.x - before.x, now.z - before.z]);
        values.extend([x, z, now.facing_rad - before.facing_rad].map(|step| step * FPS));
        values.extend(&row[3..]);
    }
    let values = Signal::new(places.len() - LEAD, D_OBS, values)?;
    Ok(Outputs { values, start: places[LEAD - 1], fps: FPS })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Pace, Way};

    /// Rows of a body that goes slower than its route, sways with the gait, and turns away all the time.
    fn drifting(route: &Route) -> Signal {
        let rate = std::f64::consts::TAU / route.stride_frames();
        let row = |t: usize| {
            let mut row = vec![0.2 * (rate * t as f64).cos(), 0.9, 0.15];
            row.extend((3..D_OBS).map(|c| (t * c) as f64));
            row
        };
        Signal::from_rows((0..route.places().len()).map(row).collect()).unwrap()
    }

    #[test]
    fn what_drifts_is_brought_back_and_what_sways_is_left() {
        let route = Route::along(&Way::parse("walk 12").unwrap(), Pace::usual(1.1)).unwrap();
        let raw = drifting(&route);
        let outputs = steered(&raw, &route).unwrap();
        let places = outputs.placements();
        assert_eq!(places.len(), route.n_frames());
        let inside = 30..places.len() - 30;
        for t in inside.clone() {
            let (found, wanted) = (places[t], route.place(t));
            let far = (found.x - wanted.x).hypot(found.z - wanted.z);
            assert!(
                far < 0.06 && (found.facing_rad - wanted.facing_rad).abs() < 0.01,
                "{t}: {found:?} {wanted:?}"
            );
        }
        // 0.2 m/s to and fro over a stride is a sway of a few centimetres.
        let sway = inside.clone().map(|t| places[t].x).fold(0.0, |most: f64, x| most.max(x.abs()));
        let expected = 0.2 / FPS * route.stride_frames() / std::f64::consts::TAU;
        assert!((sway / expected - 1.0).abs() < 0.35, "{sway} {expected}");
        // The body in its own frame is as it was.
        for t in 0..route.n_frames() {
            assert_eq!(outputs.values.row(t)[3..], raw.row(LEAD + t - 1)[3..]);
        }
    }

    #[test]
    fn a_motion_begins_where_somebody_says() {
        let route = Route::along(&Way::straight(6.0), Pace::usual(1.0)).unwrap();
        let start = Placement { x: 0.07, z: -0.04, facing_rad: 0.1 };
        let outputs = steered(&drifting(&route), &route.clone().beginning(start)).unwrap();
        let (first, last) = (outputs.placements()[0], *outputs.placements().last().unwrap());
        assert!((first.x - start.x).hypot(first.z - start.z) < 1e-9 && (first.facing_rad - 0.1).abs() < 1e-9);
        assert!(last.x.hypot(last.z - 6.0) < 0.15, "{last:?}");
    }
}

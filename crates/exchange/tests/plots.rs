//! What every figure promises.

use vincula_exchange::*;

fn wave(frequency: f64, count: usize) -> Vec<(f64, f64)> {
    (0..count)
        .map(|k| {
            let t = 10.0 * k as f64 / count as f64;
            (t, (frequency * t).sin() * (-0.2 * t).exp())
        })
        .collect()
}

fn plot(series: Vec<Series>) -> Plot {
    Plot {
        title: "Pendulum".into(),
        x_label: "time [s]".into(),
        y_label: "angle [rad]".into(),
        series,
        ..Plot::default()
    }
}

/// A showcase that is looked at by eye: set VINCULA_PLOTS to a directory.
#[test]
fn showcase() {
    let styles = plot(vec![
        Series::new("exact", wave(2.0, 400)),
        Series::new("midpoint", wave(2.2, 400)).style(Style::Dashed),
        Series::new("Euler", wave(2.4, 400)).style(Style::Dotted),
        Series::new("measured", wave(2.0, 40)).style(Style::Markers),
    ]);
    let drift: Vec<(f64, f64)> = wave(9.0, 2000)
        .iter()
        .map(|p| (p.0, 100.0 + 3e-9 * p.1))
        .collect();
    let energy = Plot {
        title: "Total energy".into(),
        x_label: "time [s]".into(),
        y_label: "energy [J]".into(),
        series: vec![Series::new("", drift)],
        ..Plot::default()
    };
    let steps: Vec<f64> = (0..12).map(|k| 0.5f64.powi(k)).collect();
    let order =
        |p: i32, c: f64| -> Vec<(f64, f64)> { steps.iter().map(|h| (*h, c * h.powi(p))).collect() };
    let convergence = Plot {
        title: "Convergence".into(),
        x_label: "step [s]".into(),
        y_label: "error [m]".into(),
        series: vec![
            Series::new("order 1", order(1, 0.1)),
            Series::new("order 2", order(2, 0.05)).style(Style::Markers),
            Series::new("order 4", order(4, 0.01)).style(Style::Dashed),
        ],
        x_log: true,
        y_log: true,
    };
    let noise: Vec<(f64, f64)> = (0..1_000_000)
        .map(|k| {
            (
                k as f64 * 1e-5,
                (k as f64 * 12.9898).sin() * (k as f64 * 1e-5).cos(),
            )
        })
        .collect();
    let noisy = Plot {
        title: "A million samples & <tags>".into(),
        x_label: "time [s]".into(),
        y_label: "acceleration [m/s²]".into(),
        series: vec![
            Series::new("a", noise.clone()),
            Series::new("mean", vec![(0.0, 0.0), (10.0, 0.0)]),
        ],
        ..Plot::default()
    };
    let many = plot(
        (0..9)
            .map(|k| {
                Series::new(
                    format!("link {k} of the chain"),
                    wave(1.0 + 0.2 * k as f64, 300),
                )
            })
            .collect(),
    );
    let orbit = (0..300_000)
        .map(|k| {
            let t = 0.01 * k as f64;
            ((1.0 + 0.3 * (0.017 * t).sin()) * t.cos(), t.sin())
        })
        .collect::<Vec<_>>();
    let phase = Plot {
        title: "Phase portrait".into(),
        x_label: "angle φ [rad]".into(),
        y_label: "rate ω [rad/s]".into(),
        series: vec![Series::new("", orbit)],
        ..Plot::default()
    };
    let figures = [
        ("styles", Figure::from(styles.clone())),
        (
            "stack",
            Figure::new("Double pendulum, h = 1 ms")
                .panel(styles)
                .panel(energy.clone())
                .panel(convergence.clone()),
        ),
        (
            "grid",
            Figure::new("Four panels")
                .row(vec![noisy, many])
                .row(vec![convergence, energy]),
        ),
        ("phase", Figure::from(phase)),
        (
            "empty",
            Figure::new("Nothing").panel(Plot::default()).panel(Plot {
                x_log: true,
                y_log: true,
                ..plot(vec![
                    Series::new("zero", vec![(1.0, 0.0)]),
                    Series::new("none", vec![]),
                ])
            }),
        ),
    ];
    for (name, figure) in figures {
        let svg = figure.to_svg().unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        println!("{name}: {} bytes", svg.len());
        if let Ok(directory) = std::env::var("VINCULA_PLOTS") {
            figure.write_svg(format!("{directory}/{name}.svg")).unwrap();
            figure
                .write_png(format!("{directory}/{name}.png"), 1600)
                .unwrap();
        }
    }
}

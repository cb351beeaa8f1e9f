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

fn labelled(title: &str, x_label: &str, y_label: &str, series: Vec<Series>) -> Plot {
    Plot {
        title: title.into(),
        x_label: x_label.into(),
        y_label: y_label.into(),
        series,
        ..Plot::default()
    }
}

fn methods() -> Plot {
    plot(vec![
        Series::new("exact", wave(2.0, 400)),
        Series::new("midpoint", wave(2.2, 400)).style(Style::Dashed),
        Series::new("Euler", wave(2.4, 400)).style(Style::Dotted),
        Series::new("measured", wave(2.0, 40)).style(Style::Markers),
    ])
}

fn energy() -> Plot {
    let drift: Vec<(f64, f64)> = wave(9.0, 2000)
        .iter()
        .map(|point| (point.0, 100.0 + 3e-9 * point.1))
        .collect();
    labelled(
        "Total energy",
        "time [s]",
        "energy [J]",
        vec![Series::new("", drift)],
    )
}

fn convergence() -> Plot {
    let order = |order: i32, factor: f64| -> Vec<(f64, f64)> {
        let steps = (0..12).map(|k| 0.5f64.powi(k));
        steps.map(|h| (h, factor * h.powi(order))).collect()
    };
    let series = vec![
        Series::new("order 1", order(1, 0.1)),
        Series::new("order 2", order(2, 0.05)).style(Style::Markers),
        Series::new("order 4", order(4, 0.01)).style(Style::Dashed),
    ];
    Plot {
        x_log: true,
        y_log: true,
        ..labelled("Convergence", "step [s]", "error [m]", series)
    }
}

fn million() -> Plot {
    let noise: Vec<(f64, f64)> = (0..1_000_000)
        .map(|k| k as f64)
        .map(|k| (k * 1e-5, (k * 12.9898).sin() * (k * 1e-5).cos()))
        .collect();
    let series = vec![
        Series::new("a", noise),
        Series::new("mean", vec![(0.0, 0.0), (10.0, 0.0)]),
    ];
    labelled(
        "A million samples & <tags>",
        "time [s]",
        "acceleration [m/s²]",
        series,
    )
}

fn chain() -> Plot {
    let link = |k: usize| {
        Series::new(
            format!("link {k} of the chain"),
            wave(1.0 + 0.2 * k as f64, 300),
        )
    };
    plot((0..9).map(link).collect())
}

fn phase(turns: usize) -> Plot {
    let orbit: Vec<(f64, f64)> = (0..turns * 628)
        .map(|k| 0.01 * k as f64)
        .map(|t| ((1.0 + 0.3 * (0.017 * t).sin()) * t.cos(), t.sin()))
        .collect();
    labelled(
        "Phase portrait",
        "angle φ [rad]",
        "rate ω [rad/s]",
        vec![Series::new("", orbit)],
    )
}

fn nothing() -> Figure {
    let hidden = plot(vec![
        Series::new("zero", vec![(1.0, 0.0)]),
        Series::new("none", vec![]),
    ]);
    let hidden = Plot {
        x_log: true,
        y_log: true,
        ..hidden
    };
    Figure::new("Nothing").panel(Plot::default()).panel(hidden)
}

fn check_svg(name: &str, svg: &str) {
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
    assert!(svg.len() < 1_000_000, "{name}: {} bytes", svg.len());
    resvg::usvg::roxmltree::Document::parse(svg).unwrap();
}

/// Small files without nonsense. To look at them, set VINCULA_PLOTS to a directory.
#[test]
fn figures_are_small_and_sound() {
    let figures = [
        ("methods", Figure::from(methods())),
        (
            "stack",
            Figure::new("Double pendulum, h = 1 ms")
                .panel(methods())
                .panel(energy())
                .panel(convergence()),
        ),
        (
            "grid",
            Figure::new("Four panels")
                .row(vec![million(), chain()])
                .row(vec![convergence(), energy()]),
        ),
        (
            "phase",
            Figure::new("Few turns and many").row(vec![phase(8), phase(480)]),
        ),
        ("nothing", nothing()),
    ];
    for (name, figure) in figures {
        let svg = figure.to_svg().unwrap();
        check_svg(name, &svg);
        println!("{name}: {} bytes", svg.len());
        if let Ok(directory) = std::env::var("VINCULA_PLOTS") {
            figure.write_svg(format!("{directory}/{name}.svg")).unwrap();
            figure
                .write_png(format!("{directory}/{name}.png"), 1600)
                .unwrap();
        }
    }
}

#[test]
fn texts_and_ticks_appear() {
    let svg = Figure::new("Swinging").panel(methods()).to_svg().unwrap();
    for text in [
        "Swinging",
        "Pendulum",
        "time [s]",
        "angle [rad]",
        "midpoint",
        "−0.4",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    let svg = Figure::from(million()).to_svg().unwrap();
    assert!(svg.contains("A million samples &amp; &lt;tags&gt;"));
    assert!(svg.len() < 60_000, "{} bytes", svg.len());
    let svg = Figure::from(energy()).to_svg().unwrap();
    assert!(svg.contains("×10⁻⁹ + 100"));
}

/// Numbers and texts that break careless plots, in every style on every axis.
#[test]
fn nasty_input_never_panics() {
    let huge = f64::MAX;
    let lists: [&[f64]; 9] = [
        &[],
        &[0.0],
        &[5.0, 5.0, 5.0],
        &[f64::NAN, 1.0, f64::NAN, 2.0, 3.0, f64::INFINITY],
        &[-huge, huge, 0.0],
        &[5e-324, 1e-308, 1e-300],
        &[1e300, -1e300],
        &[1.0, 1.0 + f64::EPSILON],
        &[-1.0, 0.0, 1e-30, 1e30],
    ];
    for style in [Style::Solid, Style::Dashed, Style::Dotted, Style::Markers] {
        for (x_log, y_log) in [(false, false), (true, false), (false, true), (true, true)] {
            let panel = |xs: &[f64], ys: &[f64]| {
                let points: Vec<_> = xs.iter().copied().zip(ys.iter().copied()).collect();
                Plot {
                    x_log,
                    y_log,
                    ..plot(vec![Series::new("s", points).style(style)])
                }
            };
            for xs in lists {
                let row = lists.iter().map(|ys| panel(xs, ys)).collect();
                let svg = Figure::new("").row(row).to_svg().unwrap();
                assert!(!svg.contains("NaN") && !svg.contains("inf"));
            }
        }
    }
    let odd = format!("{}\u{0}\u{1b}\n]]>é漢字", "very long ".repeat(60));
    let crowd = (0..60).map(|_| Series::new(&odd, wave(1.0, 9))).collect();
    let figure = Figure::new(&odd)
        .panel(labelled(&odd, &odd, &odd, crowd))
        .row(vec![]);
    check_svg("odd", &figure.to_svg().unwrap());
    check_svg("bare", &Figure::default().to_svg().unwrap());
}

fn dark_pixels(figure: &Figure) -> usize {
    let name = format!("vincula-{}-{}.png", figure.title.len(), std::process::id());
    let path = std::env::temp_dir().join(name);
    figure.write_png(&path, 800).unwrap();
    let picture = resvg::tiny_skia::Pixmap::load_png(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(picture.width(), 800);
    let dark = |pixel: &&resvg::tiny_skia::PremultipliedColorU8| pixel.red() < 100;
    picture.pixels().iter().filter(dark).count()
}

/// The build has no access to the machine's fonts (resvg's `system-fonts` feature is
/// off), so these letters come from the embedded one.
#[test]
fn png_shows_text_without_system_fonts() {
    let silent = dark_pixels(&Figure::new("   "));
    let titled = dark_pixels(&Figure::new("MMMM"));
    let longer = dark_pixels(&Figure::new("MMMMMMMM"));
    assert_eq!(silent, 0);
    assert!(titled > 100, "{titled}");
    let ratio = longer as f64 / titled as f64;
    assert!((1.9..2.1).contains(&ratio), "{ratio}");
}

#[test]
fn impossible_sizes_are_refused() {
    let path = std::env::temp_dir().join("vincula-never-drawn.png");
    for width in [0, 1_000_000] {
        let error = Figure::new("")
            .write_png(&path, width)
            .unwrap_err()
            .to_string();
        assert!(error.contains("pixels"), "{error}");
    }
    assert!(!path.exists());
}

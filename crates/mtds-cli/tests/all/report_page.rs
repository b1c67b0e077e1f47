//! The pages of `report` and `inspect` as a browser shows them: whole, in light, in dark and on paper.

use crate::program::{json, must, must_fail};
use crate::skip::skip;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A browser that runs without a window, if this machine has one.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file())
}

/// Runs the browser on a page with further options; stdout, or `None` where it does not start within a minute.
fn look(browser: &Path, folder: &Path, page: &Path, options: &[&str]) -> Option<String> {
    let profile = folder.join("profile");
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
        ])
        .args([
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--window-size=1000,1400",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .stdout(Stdio::from(fs::File::create(folder.join("stdout")).ok()?))
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let started = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if started.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    fs::read_to_string(folder.join("stdout")).ok()
}

/// Share of pixels whose brightness is below a third, of a screenshot.
fn dark_share(png: &[u8]) -> f64 {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().expect("a picture");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("a frame");
    let channels = info.color_type.samples();
    let bright = |pixel: &[u8]| {
        pixel[..3.min(channels)].iter().map(|&c| usize::from(c)).sum::<usize>() / 3.min(channels)
    };
    let all = pixels[..info.buffer_size()].chunks_exact(channels);
    all.clone().filter(|pixel| bright(pixel) < 85).count() as f64 / all.len() as f64
}

#[test]
fn the_report_tells_the_whole_story() {
    let folder = crate::learned::pushed_model();
    let found = json(folder.path(), "report model pushed.csv -o report.html --shown 2 -q");
    assert!(found["judged"].as_str().expect("said").contains("pushed.csv"), "{found}");
    let rows = found["rows"].as_array().expect("rows");
    assert!(
        rows.iter().any(|row| row["method"] == "last value") && rows[0]["method"] == "this model",
        "{found}"
    );
    let tenths: f64 =
        found["tenths"].as_array().expect("tenths").iter().map(|t| t.as_f64().expect("a number")).sum();
    assert!((tenths - 1.0).abs() < 1e-9, "{tenths}");
    assert_eq!(found["explained"].as_array().expect("rows").len(), 3);
    let page = fs::read_to_string(folder.path().join("report.html")).expect("written");
    for heading in [
        "How learning went",
        "Where the members lie",
        "Forecasts",
        "Scores",
        "Do the intervals hold?",
        "What is left over",
        "Settings",
    ] {
        assert!(page.contains(&format!("<h2>{heading}</h2>")), "{heading}");
    }
    assert!(!page.contains("no data") && !page.contains("NaN"), "a figure is empty");
}

#[test]
fn new_data_are_judged_whole_and_wrong_data_refused() {
    let folder = crate::learned::growth_model();
    let text = crate::families::growth(5, 77);
    fs::write(folder.path().join("others.csv"), text).expect("written");
    let found = json(folder.path(), "report model others.csv -o report.html --seen 8 -q");
    assert_eq!(found["judged"], "5 sequences of others.csv");
    assert!(
        found["rows"].as_array().expect("rows").iter().all(|row| row["method"] == "this model"),
        "{found}"
    );
    assert!(must_fail(folder.path(), "report model growth.csv -o report.pdf", 2).contains("--out"));
    assert!(must_fail(folder.path(), "report model growth.csv --seen 0", 2).contains("--seen"));
    assert!(must_fail(folder.path(), "report model growth.csv --seen 4000 -q", 1).contains("longer than"));
}

#[test]
fn inspect_tells_models_and_families() {
    let folder = crate::learned::oscillator_model();
    let text = must(folder.path(), "inspect model -o codes.csv");
    assert!(
        text.contains("base model") && text.contains("with the code") && text.contains("codes.csv"),
        "{text}"
    );
    let rows = crate::learned::csv(&fs::read_to_string(folder.path().join("codes.csv")).expect("written"));
    assert_eq!(rows.len(), 12);
    crate::learned::close(
        crate::learned::number(&rows[3], "z1"),
        crate::learned::number(&rows[3], "map_x"),
        1e-9,
    );
    let found = json(folder.path(), "inspect model");
    let shares: f64 =
        found["axes"]["shares"].as_array().expect("two").iter().map(|s| s.as_f64().expect("a share")).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{found}");
    let explained = &found["explained"][0];
    assert!(explained["with_code"].as_f64().expect("a share") <= 1.0, "{explained}");
    let text = must(folder.path(), "inspect family.csv");
    assert!(text.contains("12 sequences of 40 to 40 steps") && text.contains("input"), "{text}");
    assert!(must_fail(folder.path(), "inspect family.csv -o codes.csv", 2).contains("--out"));
    assert!(must_fail(folder.path(), "inspect .", 1).contains("config.json"));
}

/// What a browser makes of the pages; needs one.
#[test]
fn a_browser_shows_the_pages_in_light_and_dark_and_on_paper() {
    let Some(browser) = browser() else {
        skip("a_browser_shows_the_pages_in_light_and_dark_and_on_paper", "no Chromium on this machine");
        return;
    };
    let folder = crate::learned::oscillator_model();
    must(folder.path(), "report model family.csv -o report.html -q");
    must(folder.path(), "inspect model -o map.html -q");
    for page in ["report.html", "map.html"] {
        let path = folder.path().join(page);
        let Some(dom) = look(&browser, folder.path(), &path, &["--dump-dom"]) else {
            skip(
                "a_browser_shows_the_pages_in_light_and_dark_and_on_paper",
                "the browser does not start here",
            );
            return;
        };
        assert!(
            dom.contains("</footer>") && dom.matches("<svg").count() >= 1,
            "{page}: the browser lost a part of it"
        );
        let shot = folder.path().join("shot.png");
        let option = format!("--screenshot={}", shot.display());
        look(&browser, folder.path(), &path, &[&option, "--blink-settings=preferredColorScheme=1"])
            .expect("again");
        let light = dark_share(&fs::read(&shot).expect("a picture"));
        let html = fs::read_to_string(&path)
            .expect("there")
            .replace("<html lang=\"en\">", "<html lang=\"en\" data-theme=\"dark\">");
        let dark_page = folder.path().join("dark.html");
        fs::write(&dark_page, html).expect("written");
        look(&browser, folder.path(), &dark_page, &[&option]).expect("again");
        let dark = dark_share(&fs::read(&shot).expect("a picture"));
        assert!(
            light < 0.2 && dark > 0.8,
            "{page}: {light} of the light page is dark, {dark} of the dark one"
        );
        let paper = folder.path().join("paper.pdf");
        look(&browser, folder.path(), &path, &[&format!("--print-to-pdf={}", paper.display())])
            .expect("again");
        assert!(fs::read(&paper).expect("printed").starts_with(b"%PDF"), "{page}");
    }
}

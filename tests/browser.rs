//! The page of `sluice replay --html` in a real browser, wide and narrow, by day and by night.
//!
//! A probe is put into a copy of the page: it writes what the browser made of it into the document,
//! which `--dump-dom` prints. Where there is no Chromium the cases are ignored, under CI they fail.
#![allow(missing_docs, reason = "nobody depends on a test")]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by a panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, OnceLock};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

fn main() -> ExitCode {
    let mut args = Arguments::from_args();
    args.test_threads.get_or_insert(1);
    let missing = browser().is_none();
    let page = Arc::new(OnceLock::new());
    let mut trials: Vec<Trial> = Vec::new();
    for (width, dark) in [(1280, false), (400, false), (1280, true), (400, true)] {
        let page = Arc::clone(&page);
        let name = format!("the page reads well at {width} pixels{}", if dark { " by night" } else { "" });
        trials.push(
            Trial::test(name, move || {
                reads_well(page.get_or_init(Page::default), width, dark);
                Ok(())
            })
            .with_ignored_flag(missing),
        );
    }
    let of = Arc::clone(&page);
    let quiet = move || {
        the_page_as_it_is(of.get_or_init(Page::default));
        Ok(())
    };
    trials.push(
        Trial::test("the page says nothing on the console, and is no blank", quiet)
            .with_ignored_flag(missing),
    );
    if missing && !args.list {
        let text = "tests in a browser are ignored: apt-get install chromium";
        eprintln!("{text}");
        if std::env::var_os("CI").is_some_and(|v| v == "true") {
            trials.push(Trial::test("a browser is there", move || Err(Failed::from(text))));
        }
    }
    let conclusion = libtest_mimic::run(&args, trials);
    drop(page);
    conclusion.exit_code()
}

fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var("PATH").unwrap_or_default();
    path.split(':').flat_map(|dir| names.map(|name| Path::new(dir).join(name))).find(|p| p.is_file())
}

/// A folder with the page, made once.
struct Page {
    folder: PathBuf,
    html: String,
}

const POLICY: &str = r#"
schema = 1
[site]
name = "Lab <b>& Sons</b>"
[partition.gpu]
gpu_types = ["a100"]
gpus_per_node = 4
cpus_per_node = 64
cpus_per_gpu = { default = 4, max = 8 }
[partition.cpu]
gpu_types = []
cpus_per_node = 128
[rule.exclusive]
justify = true
[rule.cpus-per-gpu]
[rule.gpu-request]
mode = "warn"
[rule.array-logs]
[rule.wrap]
mode = "audit"
[rule.time-limit]
[[limit]]
name = "a-limit-with-as-long-a-name-as-there-is"
max_gpus = 2
"#;

/// Names that would do harm, and one that would not fit.
const NAMES: [&str; 4] = [
    "<script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>",
    "ann\" onmouseover=\"document.title='owned'",
    "averyveryveryveryveryveryveryveryveryveryveryverylongnamewithoutanyblankatallinit",
];

fn rows() -> String {
    let mut text =
        "JobID|User|UID|Account|Partition|QOS|Submit|ElapsedRaw|TimelimitRaw|ReqTRES|AllocTRES|WorkDir|SubmitLine\n"
            .to_owned();
    let lines = [
        "sbatch --exclusive -p gpu --gpus=2 -t 60 --wrap=true",
        "sbatch --exclusive -p gpu --gpus=1 -c 32 -t 60 <b>job.sh</b>",
        "sbatch -p gpu -c 4 -t 60 job.sh",
        "srun -p cpu true",
        "srun -p gpu --gpus=4 -t 60 true",
        "sbatch -p cpu -t 60 -o <i>%j</i> --array=0-3 job.sh",
    ];
    for job in 0..600usize {
        let (user, line) = (NAMES[job % NAMES.len()], lines[job % lines.len()]);
        let id = if line.contains("--array") { format!("{}_0", job + 1) } else { (job + 1).to_string() };
        let (month, day) = (1 + job / 100, 1 + job % 28);
        let partition = if line.contains("-p gpu") { "gpu" } else { "cpu" };
        let tres =
            if line.contains("--gpus") { "cpu=4,gres/gpu=2,mem=4G,node=1" } else { "cpu=4,mem=4G,node=1" };
        text.push_str(&format!(
            "{id}|{user}|{}|<u>acct</u>{}|{partition}|normal|2026-{month:02}-{day:02}T00:00:00|{}|60|{tres}|{tres}|/home/x|{line}\n",
            5000 + job % NAMES.len(), job % 3, job * 7
        ));
    }
    text
}

impl Default for Page {
    fn default() -> Page {
        let folder = std::env::temp_dir().join(format!("sluice-page-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("sluice.toml"), POLICY).expect("a policy");
        std::fs::write(folder.join("jobs"), rows()).expect("jobs");
        let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
            .args(["replay", "--policy", "sluice.toml", "--html", "page.html", "jobs"])
            .current_dir(&folder)
            .output()
            .expect("the command runs");
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        let html = std::fs::read_to_string(folder.join("page.html")).expect("a page");
        let left: Vec<_> = std::fs::read_dir(&folder).expect("a folder").collect();
        assert_eq!(left.len(), 3, "a half-written page is left: {left:?}");
        Page { folder, html }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SLUICE_KEEP_PAGES=1 leaves page and pictures to be looked at.
        if std::env::var_os("SLUICE_KEEP_PAGES").is_none() {
            let _ = std::fs::remove_dir_all(&self.folder);
        } else {
            eprintln!("kept: {}", self.folder.display());
        }
    }
}

/// What the browser makes of the page.
const PROBE: &str = r#"<script>
const box = e => { const r = e.getBoundingClientRect(); return [r.width, r.height]; };
const all = s => Array.from(document.querySelectorAll(s));
const style = getComputedStyle(document.body);
const outside = e => { for (let p = e; p; p = p.parentElement) if (p.className === 'scroll') return false;
  return e.getBoundingClientRect().right > innerWidth + 0.5; };
parent.postMessage(JSON.stringify({
  width: innerWidth, scroll: document.documentElement.scrollWidth, title: document.title,
  charts: all('.chart').map(box), bars: all('.bar i').map(box), columns: all('svg rect').map(box),
  scripts: all('script').length, images: all('img').length, bold: all('h1 b').length,
  handlers: all('[onmouseover], [onerror]').length,
  outside: all('main *').filter(outside).map(e => e.tagName + '.' + e.className),
  resources: performance.getEntriesByType('resource').length,
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  ink: style.color, paper: style.backgroundColor, sections: all('section h2').map(e => e.textContent),
  text: document.querySelector('main').innerText }), '*');
</script>"#;

/// A window is never narrower than 500 pixels; a frame in it is as narrow as wanted.
fn frame(page: &str, width: u32) -> String {
    format!(
        "<!DOCTYPE html><style>:root {{ color-scheme: light dark }} iframe {{ border: 0 }}</style>\
         <pre id=\"probe\"></pre><script>addEventListener('message', \
         e => document.getElementById('probe').textContent = e.data);</script>\
         <iframe src=\"{page}\" width=\"{width}\" height=\"2000\"></iframe>"
    )
}

fn chromium(folder: &Path, arguments: &[&str]) -> (String, String) {
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let child = Command::new("timeout")
        .arg("120")
        .arg(browser().expect("it was there"))
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"])
        .args(["--disable-background-networking", "--no-first-run", &profile])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the browser runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(child.status.success(), "{}", text(&child.stderr));
    (text(&child.stdout), text(&child.stderr))
}

fn reads_well(page: &Page, width: u32, dark: bool) {
    // The page forbids scripts, so the copy has to allow the probe; nothing else is changed.
    let start = page.html.find("<meta http-equiv").expect("a policy of its own");
    let end = start + page.html[start..].find('\n').expect("a line");
    let copy = format!("{}{}", &page.html[..start], &page.html[end..])
        .replace("</body>", &format!("{PROBE}</body>"));
    let name = format!("probe-{width}-{dark}.html");
    std::fs::write(page.folder.join(&name), copy).expect("a copy");
    let outer = format!("frame-{width}-{dark}.html");
    std::fs::write(page.folder.join(&outer), frame(&name, width)).expect("a frame");
    let url = format!("file://{}", page.folder.join(&outer).display());
    let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!dark));
    let (dom, _) = chromium(
        &page.folder,
        &[&scheme, "--window-size=1400,2100", "--virtual-time-budget=5000", "--dump-dom", &url],
    );
    let start = dom.find("<pre id=\"probe\">").expect("the probe") + "<pre id=\"probe\">".len();
    let text = &dom[start..start + dom[start..].find("</pre>").expect("its end")];
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ").replace("&amp;", "&");
    let found: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));

    assert_eq!(found["width"], width, "the browser has another idea of the width");
    assert_eq!(found["dark"], dark, "the browser has another idea of the time of day");
    assert!(found["scroll"].as_u64() <= Some(u64::from(width)), "the page is {} wide", found["scroll"]);
    assert_eq!(found["outside"], Value::Array(Vec::new()), "these stick out");
    let sizes = |key: &str| -> Vec<(f64, f64)> {
        let list = found[key].as_array().expect("a list");
        list.iter().map(|b| (b[0].as_f64().unwrap_or(0.0), b[1].as_f64().unwrap_or(0.0))).collect()
    };
    let charts = sizes("charts");
    assert_eq!(charts.len(), 3, "{charts:?}");
    assert!(charts.iter().all(|(w, h)| *w > 200.0 && *h > 40.0), "{charts:?}");
    let bars = sizes("bars");
    assert!(bars.len() > 8 && bars.iter().all(|(w, h)| *w >= 1.0 && *h > 8.0), "{bars:?}");
    assert!(bars.iter().any(|(w, _)| *w > 60.0), "no bar is long: {bars:?}");
    let columns = sizes("columns");
    assert!(columns.len() > 20 && columns.iter().all(|(w, h)| *w > 2.0 && *h > 0.3), "{columns:?}");
    assert!(contrast(&found["ink"], &found["paper"]) >= 7.0, "{} on {}", found["ink"], found["paper"]);

    let title = found["title"].as_str().unwrap_or("");
    assert_eq!(title, "Lab <b>& Sons</b>: What sluice.toml would have done");
    for (what, count) in [("scripts", 1), ("images", 0), ("bold", 0), ("handlers", 0), ("resources", 0)] {
        assert_eq!(found[what], count, "{what}");
    }
    let text = found["text"].as_str().unwrap_or("");
    for name in NAMES {
        assert!(text.contains(name), "{name} is not shown as it is");
    }
    let sections = found["sections"].to_string();
    for section in ["Jobs by rule", "GPU-hours by rule", "Jobs by week", "Users", "What cannot be told"] {
        assert!(sections.contains(section), "{sections}");
    }
}

/// The contrast of two colours (WCAG 2.1), from `rgb(1, 2, 3)`.
fn contrast(one: &Value, other: &Value) -> f64 {
    let luminance = |colour: &Value| {
        let text = colour.as_str().unwrap_or("");
        let inner = text.split(['(', ')']).nth(1).unwrap_or("");
        let linear = |c: f64| if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        let parts: Vec<f64> = inner
            .split(',')
            .filter_map(|p| p.trim().parse::<f64>().ok())
            .map(|c| linear(c / 255.0))
            .collect();
        0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    };
    let (a, b) = (luminance(one), luminance(other));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn the_page_as_it_is(page: &Page) {
    let url = format!("file://{}", page.folder.join("page.html").display());
    for width in [1280u32, 400] {
        let picture = format!("{width}.png");
        let (size, shot) = (format!("--window-size={width},2400"), format!("--screenshot={picture}"));
        let (_, said) = chromium(&page.folder, &["--enable-logging=stderr", &size, &shot, &url]);
        let console: Vec<&str> = said.lines().filter(|l| l.contains("CONSOLE")).collect();
        assert!(console.is_empty(), "{console:?}");
        let png = std::fs::read(page.folder.join(&picture)).expect("a picture");
        let wide = u32::from_be_bytes([png[16], png[17], png[18], png[19]]);
        assert_eq!(wide, width);
        // A blank page of this size is a few kilobytes.
        assert!(png.len() > 60_000, "{} bytes: is there anything to see?", png.len());
    }
}

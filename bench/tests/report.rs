//! The page and the comparison from outside, with made-up records.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use roxmltree::{Document, Node};
use serde_json::{Value, json};

/// A folder for one test, gone with its end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let name = format!("coact-bench-report-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        Folder(folder)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file can be written");
        path
    }

    fn records(&self, name: &str, records: &[Value]) -> PathBuf {
        self.file(name, &Value::from(records).to_string())
    }

    /// The page of these files; it must be well-formed as a whole, and so must be each drawing.
    fn page(&self, files: &[&Path]) -> String {
        let output = tool("report", files, &["--out", self.path(), "--title", "Figures & <more>"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        std::fs::read_to_string(self.0.join("index.html")).expect("there is a page")
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("the path is UTF-8")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in the folder for temporary files does no harm.
        std::fs::remove_dir_all(&self.0).ok();
    }
}

fn tool(command: &str, files: &[&Path], options: &[&str]) -> Output {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_coact-bench"));
    tool.arg(command).args(files).args(options).output().expect("the tool starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the output is UTF-8")
}

/// The page as XML: it is written so that it is that too.
fn parse(page: &str) -> Document<'_> {
    let page = page.strip_prefix("<!doctype html>\n").expect("it says what it is");
    Document::parse(page).expect("the page is well-formed")
}

fn drawings<'a>(page: &'a Document<'_>) -> Vec<Node<'a, 'a>> {
    page.descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "svg")))
        .collect()
}

fn words(node: Node<'_, '_>) -> String {
    node.descendants().filter_map(|node| node.text().filter(|_| node.is_text())).collect()
}

fn record(workload: &str, implementation: &str, workers: usize, values: &[f64]) -> Value {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (min, median, max) = (sorted[0], sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    json!({
        "workload": workload, "group": "micro", "about": "what is done", "drawing": "bars",
        "implementation": implementation, "how": "how it is done", "program": "program 1.0, -O3",
        "share": 1, "parameters": {"messages": 123_456}, "scale": 1.0, "workers": workers,
        "repetitions": values.len(), "median": median, "min": min, "max": max, "unit": "ns",
        "values": values, "count": 1000,
        "ratio": {"median": median, "min": min, "max": max},
        "peak_resident": 5 << 20, "bytes_each": null,
        "calibration": {"step_ns": 1.0, "atomic_add_ns": 5.0, "round_trip_ns": 100.0},
        "machine": {"processor": "A processor", "processors": 2, "memory": 8_u64 << 30, "system": "a system",
            "allocator": "system", "version": "0.1.0", "optimised": true},
    })
}

fn with(mut record: Value, field: &str, value: Value) -> Value {
    record[field] = value;
    record
}

#[test]
fn the_page_is_whole_in_itself() {
    let folder = Folder::new("whole");
    let records = [
        record("ring", "coact", 2, &[1.0, 1.0, 1.0]),
        record("ring", "tokio", 2, &[6.9, 7.3, 7.8]),
    ];
    let page = folder.page(&[&folder.records("a.json", &records)]);
    let document = parse(&page);
    assert_eq!(drawings(&document).len(), 2);
    let said = words(document.root());
    for part in [
        "Figures & <more>",
        "2 × A processor",
        "program 1.0, -O3",
        "7.3 times slower (6.9 to 7.8)",
        "messages 123,456",
        "5.00 MiB",
        "Lines of code",
        "7.3 (1 of 1)",
    ] {
        assert!(said.contains(part), "{part:?} is not on the page");
    }
    let elements = document.descendants().filter(Node::is_element);
    for element in elements {
        assert!(!["script", "link", "img", "iframe"].contains(&element.tag_name().name()));
        for attribute in element.attributes() {
            let is_link = ["href", "src"].contains(&attribute.name());
            assert!(!is_link || attribute.value().starts_with('#'), "{attribute:?}");
        }
    }
}

#[test]
fn every_link_leads_somewhere_and_no_name_is_given_twice() {
    let folder = Folder::new("links");
    let records = ["ring", "a b", "a/b", "", "<script>", "ring 2"]
        .map(|name| record(name, "coact", 2, &[1.0]));
    let page = folder.page(&[&folder.records("a.json", &records)]);
    let document = parse(&page);
    let mut names: Vec<&str> =
        document.descendants().filter_map(|node| node.attribute("id")).collect();
    for link in document.descendants().filter_map(|node| node.attribute("href")) {
        assert!(names.contains(&link.trim_start_matches('#')), "{link}");
    }
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn drawings_are_those_that_the_records_ask_for() {
    let folder = Folder::new("drawings");
    let scaling = |workers, value| {
        with(
            record("scaling", "coact", workers, &[value]),
            "drawing",
            json!({"workers": {"ideal": 1e-6}}),
        )
    };
    let memory = with(record("memory", "coact", 2, &[1.0]), "drawing", json!("memory"));
    let memory = with(memory, "memory", json!([[0.0, 1000], [0.5, 9_000_000], [1.0, 2000]]));
    let point = |name, actors, implementation| {
        let drawing = json!({"actors": {"plot": "rings", "actors": actors}});
        with(record(name, implementation, 2, &[1.0, 2.0]), "drawing", drawing)
    };
    let records = [
        scaling(1, 2.0),
        scaling(2, 1.0),
        memory,
        point("rings-10", 10, "coact"),
        point("rings-100", 100, "coact"),
        point("rings-100", 100, "caf"),
    ];
    let page = folder.page(&[&folder.records("a.json", &records)]);
    let document = parse(&page);
    let drawn = |title: &str| {
        let is_meant = |node: &Node<'_, '_>| words(*node).starts_with(title);
        drawings(&document).into_iter().find(is_meant).map(words)
    };
    let over_workers = drawn("scaling: time over workers").expect("it is drawn");
    assert!(over_workers.contains("ideal") && over_workers.contains("workers, log scale"));
    assert!(drawn("memory: private memory").expect("it is drawn").contains("peak of 8.58 MiB"));
    let over_actors = drawn("rings: throughput").expect("it is drawn");
    assert!(over_actors.contains("actors, log scale") && over_actors.contains("caf"));
    for workload in ["scaling", "memory", "rings-10", "rings-100"] {
        assert!(drawn(&format!("{workload}: median")).is_some(), "{workload} has no bars");
    }
}

#[test]
fn bars_that_lie_far_apart_are_logarithmic_and_say_so() {
    let folder = Folder::new("wide");
    let of = |most| [record("ring", "coact", 2, &[1.0]), record("ring", "caf", 2, &[most])];
    let near = folder.page(&[&folder.records("near.json", &of(15.0))]);
    let far = folder.page(&[&folder.records("far.json", &of(25.0))]);
    assert!(!near.contains("log scale") && far.contains("log scale"));
}

#[test]
fn records_of_several_files_are_joined_and_later_ones_count() {
    let folder = Folder::new("joined");
    let first = folder.records(
        "1.json",
        &[record("ring", "coact", 2, &[111.0]), record("ring", "caf", 2, &[222.0])],
    );
    let again = folder.records("2.json", &[record("ring", "coact", 2, &[333.0])]);
    let page = folder.page(&[&first, &again]);
    let said = words(parse(&page).root());
    assert!(said.contains("222") && said.contains("333") && !said.contains("111"));
}

#[test]
fn a_page_of_nothing_says_so() {
    let folder = Folder::new("nothing");
    let page = folder.page(&[&folder.records("a.json", &[])]);
    assert!(words(parse(&page).root()).contains("no records"));
}

#[test]
fn what_holds_no_records_is_refused_by_its_name() {
    let folder = Folder::new("refused");
    for (name, content) in
        [("empty.json", ""), ("other.json", "{\"a\": 1}"), ("figures.txt", "ring 5 ns")]
    {
        let file = folder.file(name, content);
        let output = tool("report", &[&file], &["--out", folder.path()]);
        assert!(!output.status.success());
        assert!(text(&output.stderr).contains(name), "{}", text(&output.stderr));
    }
}

#[test]
fn hostile_names_are_text() {
    let folder = Folder::new("hostile");
    let name = "<script>alert(\"&\u{1}\u{ffff}]]></script><!--";
    let mut bad = record(name, "coact", 2, &[1.0]);
    for field in ["about", "implementation", "how", "program", "unit"] {
        bad = with(bad, field, json!(name));
    }
    bad["parameters"] = json!({name: 1});
    bad["machine"]["processor"] = json!(name);
    let long = "x".repeat(10_000);
    let records = [bad, record(&long, &long, 2, &[1.0])];
    let page = folder.page(&[&folder.records("a.json", &records)]);
    assert!(!page.contains("<script") && !page.contains("<!--"));
    assert_eq!(drawings(&parse(&page)).len(), 4);
}

#[test]
fn whatever_the_figures_no_place_is_undefined() {
    let folder = Folder::new("figures");
    let of = |workload, values: [f64; 3]| {
        let drawing = json!({"workers": {"ideal": values[0]}});
        [1, 2].map(|on| with(record(workload, "coact", on, &values), "drawing", drawing.clone()))
    };
    let plotted = |actors| {
        let drawing = json!({"actors": {"plot": "plot", "actors": actors}});
        with(
            with(record(&format!("p{actors}"), "coact", 2, &[0.0]), "drawing", drawing),
            "count",
            json!(0),
        )
    };
    let memory = with(record("memory", "coact", 2, &[0.0]), "drawing", json!("memory"));
    let memory = with(memory, "memory", json!([[0.0, 0], [0.0, 5]]));
    let mut records = Vec::new();
    records.extend(of("zero", [0.0; 3]));
    records.extend(of("negative", [-1.0, -2.0, -3.0]));
    records.extend(of("huge", [1.0, 1e300, 1e308]));
    records.extend(of("tiny", [0.0, 1e-300, 1e-320]));
    records.extend([plotted(0), plotted(5), plotted(50), memory]);
    let page = folder.page(&[&folder.records("a.json", &records)]);
    let document = parse(&page);
    for node in document.descendants().filter(Node::is_element) {
        for attribute in node.attributes() {
            let value = attribute.value();
            assert!(!value.contains("NaN") && !value.contains("inf"), "{attribute:?}");
        }
    }
    assert!(!words(document.root()).contains("NaN"));
}

#[test]
fn a_comparison_says_what_changed_and_by_which_rule() {
    let folder = Folder::new("compare");
    let before = folder.records(
        "a.json",
        &[
            record("ring", "coact", 2, &[1.0, 1.1]),
            record("ring", "caf", 2, &[9.0, 9.1]),
            record("gone", "coact", 2, &[1.0]),
        ],
    );
    let after = folder.records(
        "b.json",
        &[
            record("ring", "coact", 2, &[2.0, 2.2]),
            record("ring", "caf", 2, &[8.0, 10.0]),
            with(record("new", "coact", 2, &[1.0]), "scale", json!(0.5)),
        ],
    );
    let output = tool("compare", &[&before, &after], &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let line = |start: &str| {
        let line = printed.lines().find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("no line {start:?} in {printed}")).to_owned()
    };
    assert!(line("ring                   coact").ends_with("slower"));
    assert!(line("ring                   caf").ends_with("same within the spread"));
    assert!(line("only in A").contains("gone / coact on 2"));
    assert!(line("only in B").contains("new / coact on 2"));
    assert!(line("geometric mean of B/A, coact").ends_with(" 2.0"));
    assert!(!printed.contains("warning"));

    let failing = |limit: &str| {
        !tool("compare", &[&before, &after], &["--fail-above", limit]).status.success()
    };
    assert!(failing("1.5"));
    assert!(!failing("3"));
    assert!(failing("0"));
}

#[test]
fn a_comparison_of_other_conditions_warns() {
    let folder = Folder::new("warn");
    let one = record("ring", "coact", 2, &[1.0]);
    let before = folder.records("a.json", std::slice::from_ref(&one));
    let other = with(with(one, "scale", json!(0.1)), "parameters", json!({"messages": 5}));
    let mut other = with(other, "unit", json!("ns"));
    other["calibration"]["atomic_add_ns"] = json!(7.0);
    other["machine"]["allocator"] = json!("another");
    let after = folder.records("b.json", &[other]);
    let printed = text(&tool("compare", &[&before, &after], &[]).stdout);
    assert_eq!(printed.matches("warning: ").count(), 4, "{printed}");
}

//! The page, from the top.

mod beside;
mod header;
mod overview;
mod summary;
mod table;
mod workload;

use coact_bench_workloads::Group;

use super::markup::{Element, el, link};
use super::study::Studies;
use crate::measure::record::Record;

const STYLE: &str = include_str!("style.css");

/// Everything.
pub fn whole(title: &str, records: &[Record], studies: &Studies<'_>) -> Element {
    el("html").with("lang", "en").add(head(title)).add(body(title, records, studies))
}

fn head(title: &str) -> Element {
    let meta =
        |name: &'static str, content: &str| el("meta").with("name", name).with("content", content);
    el("head")
        .add(el("meta").with("charset", "utf-8"))
        .add(meta("viewport", "width=device-width, initial-scale=1"))
        .add(meta("color-scheme", "light dark"))
        .add(el("title").text(title))
        .add(el("style").text(STYLE))
}

fn body(title: &str, records: &[Record], studies: &Studies<'_>) -> Element {
    let heading = el("h1").text(title);
    if records.is_empty() {
        let nothing = el("p").text("There are no records in what was given.");
        return el("body").add(el("main").add(heading).add(nothing));
    }
    let main = el("main")
        .add(header::header(heading, records))
        .add(contents(studies))
        .all(summary::sections(studies))
        .all(Group::ALL.into_iter().filter_map(|group| section(studies, group)))
        .all(beside::sections(studies));
    el("body").add(main)
}

/// What a group is about.
fn about(group: Group) -> (&'static str, &'static str) {
    match group {
        Group::Headline => {
            ("Headline workloads", "What the papers and pages measure that this runtime stands on.")
        }
        Group::Savina => (
            "Savina",
            "The actor benchmark suite, as actors that send messages; some programs also in full form, as \
             behaviours over several cowns.",
        ),
        Group::Micro => ("Micro workloads", "One path through the runtime each."),
    }
}

/// The group's workloads, after a table of all of them.
fn section(studies: &Studies<'_>, group: Group) -> Option<Element> {
    let own = studies.of_group(group);
    if own.is_empty() {
        return None;
    }
    let (title, text) = about(group);
    let section = el("section")
        .with("id", group.name())
        .class("group")
        .add(el("h2").text(title))
        .add(el("p").text(text))
        .all(overview::overview(studies, &own))
        .all(workload::sections(&own));
    Some(section)
}

/// Links to everything.
fn contents(studies: &Studies<'_>) -> Element {
    let groups = Group::ALL.into_iter().filter_map(|group| {
        let own = studies.of_group(group);
        let links = own.iter().map(|study| el("li").add(link(&study.anchor, study.name)));
        let heading = el("p").add(link(group.name(), about(group).0));
        (!own.is_empty()).then(|| el("div").add(heading).add(el("ul").all(links)))
    });
    let last = el("p")
        .add(link("lines", "Lines of code"))
        .text(" · ")
        .add(link("references", "What others measured"));
    el("nav").with("aria-label", "Contents").all(groups).add(el("div").add(last))
}

#[cfg(test)]
mod tests {
    use super::STYLE;

    #[test]
    fn the_style_sheet_is_the_same_when_escaped() {
        // HTML reads it as it stands, XML does not.
        assert!(!STYLE.contains(['&', '<', '>', '"']));
    }
}

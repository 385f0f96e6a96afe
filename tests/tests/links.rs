//! Links of the manuals lead to pages and headings that exist, and the site has every page.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// All pages: those at the top, and those below `docs`.
fn pages() -> Vec<PathBuf> {
    let mut folders = vec![root().join("docs")];
    let mut pages: Vec<PathBuf> = Vec::new();
    let is_page = |path: &Path| path.extension().is_some_and(|extension| extension == "md");
    pages.extend(fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| is_page(path)));
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false if is_page(&path) => pages.push(path),
                false => {}
            }
        }
    }
    pages
}

/// The text of a page outside of blocks of code.
fn prose(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap();
    let mut is_code = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// The targets of links in a text.
fn targets(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}

/// The anchors of a page's headings, as forges and mdBook make them.
fn anchors(page: &Path) -> Vec<String> {
    let heading = |line: &str| line.starts_with('#').then(|| line.trim_start_matches('#').trim().to_lowercase());
    let slug = |heading: String| {
        let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    };
    prose(page).lines().filter_map(heading).map(slug).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        for target in targets(&prose(&page)) {
            if target.contains("://") || target.contains(' ') {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let is_there = path.exists() && (anchor.is_empty() || anchors(&path).iter().any(|known| known == anchor));
            if !is_there {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_site_has_every_page() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed = targets(&summary);
    let is_manual = |page: &Path| page != Path::new("SUMMARY.md");
    let all = pages();
    let pages = all.iter().filter_map(|page| page.strip_prefix(&docs).ok()).filter(|page| is_manual(page));
    let missing: Vec<_> = pages.filter(|page| !listed.contains(&page.to_str().unwrap())).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md names none of {missing:?}");
}

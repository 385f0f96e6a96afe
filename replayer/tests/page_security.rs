//! The page of a report runs nothing but its own script.

use crate::page::{TORUS, open, page};
use crate::support::command::Folder;

/// What is not the page's own is forbidden: a script and a style that were added do nothing.
#[test]
fn nothing_but_the_page_itself_runs() {
    let folder = Folder::new();
    let page = page(&folder, TORUS, "../examples/torus.toml", &["--set", "hosts.cores=1"]);
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("content=\"default-src 'none'; script-src 'sha256-"));
    let added = "<img src=x onerror=\"window.added = 1\"><script>window.added = 2</script><style>body { color: red }</style></body>";
    std::fs::write(&page, text.replace("</body>", added)).unwrap();
    let Some(mut browser) = open(&page) else { return };
    assert_eq!(browser.evaluate("window.added ?? 0"), 0);
    assert_ne!(browser.evaluate("getComputedStyle(document.body).color"), "rgb(255, 0, 0)");
    assert!(browser.complaints.iter().any(|complaint| complaint.contains("Content Security Policy")));
}

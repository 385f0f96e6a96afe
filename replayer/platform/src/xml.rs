//! XML texts: limits that are checked before a text is parsed, so that a short text cannot exhaust the parser, and mistakes
//! that the parser finds.
//!
//! Custom entities are rejected: they can expand a text of a few kilobytes to gigabytes, and no platform file of
//! SimGrid uses any. Elements with more attributes than SimGrid knows are rejected, since a parser compares each
//! attribute with each other one. So is unlimited nesting of elements.

use titr_document::{Checked, Mistake, Source};

/// Attributes of an element at most; SimGrid's have no more than forty.
const MOST_ATTRIBUTES: usize = 1000;
/// Elements within each other at most.
const DEEPEST: usize = 500;

/// Rejects a text that is beyond the limits. Malformed XML is left to the parser.
pub(crate) fn check(source: &Source) -> Checked<()> {
    let text = source.text();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(start) = text[at..].find('<').map(|found| at + found) {
        let rest = &text[start..];
        let refuse = |what: &str| Err(source.mistake(Some(start..start + 1), what));
        if let Some((_, end)) = SKIPPED.iter().find(|(begin, _)| rest.starts_with(begin)) {
            at = rest.find(end).map_or(text.len(), |found| start + found + end.len());
        } else if rest.starts_with("<!ENTITY") {
            return refuse("entities are not read: write their text where it is used");
        } else if rest.starts_with("<!") {
            // A declaration; those within `<!DOCTYPE … [` come next.
            at = start + 2;
        } else {
            let tag = Tag::of(rest);
            if tag.attributes > MOST_ATTRIBUTES {
                return refuse(&format!("an element has at most {MOST_ATTRIBUTES} attributes"));
            }
            depth = if rest.starts_with("</") { depth.saturating_sub(1) } else { depth + usize::from(!tag.is_empty) };
            if depth > DEEPEST {
                return refuse(&format!("elements are at most {DEEPEST} deep within each other"));
            }
            at = start + tag.length;
        }
    }
    Ok(())
}

/// The mistake that the parser found.
pub(crate) fn malformed(source: &Source, error: &roxmltree::Error) -> Mistake {
    let place = source.at(error.pos().row as usize, error.pos().col as usize);
    // The message without the position that it ends with.
    let message = error.to_string();
    source.mistake(Some(place), message.rsplit_once(" at ").map_or(message.as_str(), |(message, _)| message))
}

/// Parts that may hold anything, by their beginnings and ends.
const SKIPPED: [(&str, &str); 3] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];

/// A tag of an element.
struct Tag {
    attributes: usize,
    /// Whether the element ends with its start tag.
    is_empty: bool,
    length: usize,
}

impl Tag {
    /// The tag at the beginning of a text. Only in the quotes of a value it may have an angle bracket.
    fn of(text: &str) -> Self {
        let (mut attributes, mut quote, mut last) = (0, None, b'<');
        for (at, byte) in text.bytes().enumerate() {
            match quote {
                Some(open) if byte == open => quote = None,
                Some(_) => {}
                None if byte == b'>' => return Self { attributes, is_empty: last == b'/', length: at + 1 },
                None if byte == b'"' || byte == b'\'' => (attributes, quote) = (attributes + 1, Some(byte)),
                None => last = byte,
            }
        }
        Self { attributes, is_empty: true, length: text.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<String> {
        check(&Source::new("p.xml", text.to_owned(), [])).err().map(|mistake| mistake.message().to_owned())
    }

    #[test]
    fn what_a_platform_may_have_is_within_the_limits() {
        for text in [
            "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"x.dtd\"><platform version=\"4.1\"><zone id='>'/></platform>",
            "<!DOCTYPE p [<!ELEMENT p (a)> <!-- <!ENTITY a 'b'> -->]><p><![CDATA[<!ENTITY]]></p>",
            "no XML",
            "<",
            "<a b='",
        ] {
            assert_eq!(refusal(text), None, "{text}");
        }
    }

    #[test]
    fn what_makes_a_parser_work_without_bounds_is_refused() {
        let entity = "<!DOCTYPE p [<!ENTITY a 'aaaa'>]><p>&a;&a;</p>";
        assert!(refusal(entity).unwrap().contains("entities"));
        let attributes: String = (0..1001).map(|number| format!(" a{number}='>'")).collect();
        assert!(refusal(&format!("<p><q{attributes}/></p>")).unwrap().contains("attributes"));
        assert!(refusal(&"<a>".repeat(501)).unwrap().contains("deep"));
        assert_eq!(refusal(&"<a></a><b/>".repeat(2000)), None);
    }
}

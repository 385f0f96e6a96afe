//! Elements and attributes of the XML: their values, and errors that name their place in the file.

use roxmltree::Node;
use titr_common::units::Dimension;
use titr_document::{Checked, Located, Mistake, Place, Source, Value};

use crate::one_line::nearest;

/// An element of the XML.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    node: Node<'a, 'a>,
    source: &'a Source,
}

/// An attribute that is not empty.
#[derive(Clone)]
pub(crate) struct Attribute<'a> {
    pub value: &'a str,
    pub place: Place,
    source: &'a Source,
}

/// The names of elements, for messages about misspelt ones.
const NAMES: [&str; 9] = ["cluster", "zone", "host", "link", "router", "route", "zoneRoute", "config", "prop"];

/// The attributes that an element may have: those that are read, or that change nothing in titr.
pub(crate) type Known = &'static [&'static str];

impl<'a> Element<'a> {
    pub(crate) fn new(node: Node<'a, 'a>, source: &'a Source) -> Self {
        Self { node, source }
    }

    pub(crate) fn name(&self) -> &'a str {
        self.node.tag_name().name()
    }

    /// The place of the element's name.
    pub(crate) fn place(&self) -> Place {
        // After the angle bracket.
        let start = self.node.range().start + 1;
        start..start + self.name().len()
    }

    /// A value that follows from the element, placed at its name.
    pub(crate) fn says(&self, value: impl Into<Value>) -> Located {
        Located::new(value, self.place())
    }

    pub(crate) fn wrong(&self, message: impl Into<String>) -> Mistake {
        self.wrong_at(&self.place(), message)
    }

    /// A mistake at a place within the element.
    pub(crate) fn wrong_at(&self, place: &Place, message: impl Into<String>) -> Mistake {
        self.source.mistake(Some(place.clone()), message)
    }

    pub(crate) fn children(&self) -> impl Iterator<Item = Self> + use<'a> {
        let source = self.source;
        self.node.children().filter(Node::is_element).map(move |node| Self { node, source })
    }

    /// All elements within this one.
    pub(crate) fn descendants(&self) -> impl Iterator<Item = Self> + use<'a> {
        let source = self.source;
        self.node.descendants().filter(Node::is_element).map(move |node| Self { node, source })
    }

    /// The place in the file of a place in the element's text; `None` if the text has references to other text.
    pub(crate) fn place_in_text(&self, place: &Place) -> Option<Place> {
        let written = self.node.first_child()?.range();
        let is_literal = self.source.text().get(written.clone()) == Some(self.text());
        is_literal.then(|| written.start + place.start..written.start + place.end)
    }

    /// The text within the element.
    pub(crate) fn text(&self) -> &'a str {
        self.node.text().unwrap_or_default()
    }

    /// An attribute, unless it is empty.
    pub(crate) fn attribute(&self, name: &str) -> Option<Attribute<'a>> {
        let attribute = self.node.attribute_node(name)?;
        let (value, place) = (attribute.value(), attribute.range_value());
        (!value.trim().is_empty()).then_some(Attribute { value, place, source: self.source })
    }

    pub(crate) fn required(&self, name: &str) -> Checked<Attribute<'a>> {
        self.attribute(name).ok_or_else(|| self.wrong(format!("<{}> needs the attribute `{name}`", self.name())))
    }

    /// Reports an error for an attribute that is not `known`.
    pub(crate) fn check_attributes(&self, known: Known) -> Checked<()> {
        match self.node.attributes().find(|attribute| !known.contains(&attribute.name())) {
            Some(attribute) => {
                let message = format!("<{}> has no attribute `{}`", self.name(), attribute.name());
                let mistake = self.source.mistake(Some(attribute.range_qname()), message);
                Err(mistake.with_help(format!("it has {}", quoted(known.iter().copied()))))
            }
            None => Ok(()),
        }
    }

    /// Reports an error for a child element that is not `ignored`.
    pub(crate) fn check_children(&self, ignored: &[&str]) -> Checked<()> {
        match self.children().find(|child| !ignored.contains(&child.name())) {
            Some(child) => Err(child.unexpected(self)),
            None => Ok(()),
        }
    }

    /// The mistake of an element that should not be within `parent`.
    pub(crate) fn unexpected(&self, parent: &Self) -> Mistake {
        let mistake = self.wrong(format!("titr does not read <{}> in <{}>", self.name(), parent.name()));
        mistake.with_help(match self.name() {
            "backbone" | "cabinet" | "host_link" => "it belongs in a zone with routing=\"Cluster\"".to_owned(),
            "peer" => "it belongs in a zone with routing=\"Vivaldi\"".to_owned(),
            "include" => "SimGrid has no <include> any more: write what is in the file in its place".to_owned(),
            name => match nearest(name, NAMES.into_iter().filter(|known| *known != name)) {
                Some(near) => format!("did you mean <{near}>?"),
                None => "leave it out".to_owned(),
            },
        })
    }
}

impl<'a> Attribute<'a> {
    pub(crate) fn wrong(&self, message: impl Into<String>) -> Mistake {
        self.source.mistake(Some(self.place.clone()), message)
    }

    pub(crate) fn quantity(&self, units: &Dimension) -> Checked<f64> {
        units.parse(self.value).map_err(|error| self.wrong(error.to_string()))
    }

    /// The quantity, which is more than 0.
    pub(crate) fn positive(&self, units: &Dimension) -> Checked<f64> {
        let quantity = self.quantity(units)?;
        if quantity > 0.0 { Ok(quantity) } else { Err(self.wrong(format!("a {} is more than 0", units.name))) }
    }

    /// A value that the attribute means, placed at the attribute.
    pub(crate) fn says(&self, value: impl Into<Value>) -> Located {
        Located::new(value, self.place.clone())
    }

    /// The quantity in the attribute, placed at the attribute.
    pub(crate) fn located(&self, units: &Dimension) -> Checked<Located> {
        Ok(self.says(Value::Quantity(self.quantity(units)?)))
    }

    pub(crate) fn count(&self) -> Checked<u32> {
        self.value.trim().parse().map_err(|_| self.wrong(format!("`{}` is not a number of things", self.value)))
    }

    /// A count, rounded down to a whole number: SimGrid reads `0.0` as 0.
    pub(crate) fn truncated_count(&self) -> Checked<u32> {
        let whole = self.value.split_once('.').map_or(self.value, |(whole, _)| whole);
        whole.trim().parse().map_err(|_| self.wrong(format!("`{}` is not a number of things", self.value)))
    }

    /// The meaning of the attribute, which is one of several words, in capital letters or not.
    pub(crate) fn one_of_any_case<T: Copy>(&self, choices: &[(&str, T)]) -> Checked<T> {
        let found = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(self.value));
        found.map_or_else(|| self.one_of(choices), |(_, choice)| Ok(*choice))
    }

    /// The meaning of the attribute, which is one of several words.
    pub(crate) fn one_of<T: Copy>(&self, choices: &[(&str, T)]) -> Checked<T> {
        let found = choices.iter().find(|(word, _)| *word == self.value);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let mistake = self.wrong(format!("unknown choice `{}`", self.value));
            mistake.with_help(format!("expected {}", quoted(choices.iter().map(|(word, _)| *word))))
        })
    }

    /// The parts of the attribute between separators.
    pub(crate) fn split(&self, separator: char) -> impl Iterator<Item = Self> + use<'a> {
        let this = self.clone();
        let mut start = this.place.start;
        this.value.split(separator).map(move |value| {
            // An entity in the text is longer than what it stands for; no number has one.
            let place = start..(start + value.len()).min(this.place.end);
            start = place.end + separator.len_utf8();
            Self { value, place, source: this.source }
        })
    }
}

/// Names in a sentence.
fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

//! Texts of the page: paragraphs, element ids, JSON in script elements, numbers in tables.

use calibandit_experiment::format::{significant, typographic};
use maud::{Markup, html};

/// JSON as the content of a script element. Without `<` it cannot end the element or open a comment.
pub(super) fn script_json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Paragraphs from plain text: blank lines separate them, backticks mark code, and addresses are links.
pub(super) fn paragraphs(text: &str) -> Markup {
    let text = text.replace("\r\n", "\n");
    html! {
        @for paragraph in text.split("\n\n").map(str::trim).filter(|part| !part.is_empty()) {
            p { (inline(paragraph)) }
        }
    }
}

/// Text with code between pairs of backticks. With an odd number of backticks they are ordinary characters.
fn inline(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    let paired = parts.len() % 2 == 1;
    html! {
        @if paired {
            @for (i, part) in parts.iter().enumerate() {
                @if i % 2 == 1 {
                    // A browser would break `--option` after its hyphens.
                    code class=[is_word(part).then_some("word")] { (part) }
                } @else {
                    (linked(part))
                }
            }
        } @else {
            (linked(text))
        }
    }
}

/// Whether code is a short word, which stays on one line.
fn is_word(code: &str) -> bool {
    code.starts_with('-') && code.len() <= 24 && !code.contains(' ')
}

/// Text in which addresses of the web are links. A browser opens them on a click only.
fn linked(text: &str) -> Markup {
    let Some(start) = text.find("https://") else { return html! { (text) } };
    let (before, rest) = text.split_at(start);
    let end = rest.find(|c: char| c.is_whitespace() || "<>\"'`()".contains(c)).unwrap_or(rest.len());
    // A mark at the end belongs to the sentence.
    let address = rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?']);
    html! { (before) a href=(address) rel="noreferrer" { (address) } (linked(&rest[address.len()..])) }
}

/// An HTML id: letters, digits and hyphens of `id`, made unique by the number of the section.
pub(super) fn anchor(id: &str, nth: usize) -> String {
    let slug: String = id.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("f{}-{}", nth + 1, slug.trim_matches('-'))
}

/// A number of a table with three significant digits; a dash for what is not finite.
pub(super) fn table_number(value: f64) -> String {
    typographic(&significant(value, 3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn script_json_cannot_end_the_script_element() {
        let json = script_json(&json!({"label": "</script><!-- \u{2028} ü"}));
        assert!(!json.contains('<') && !json.contains('\u{2028}'));
        let back: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back["label"], "</script><!-- \u{2028} ü");
    }

    #[test]
    fn blank_lines_separate_paragraphs_and_backticks_mark_code() {
        let html = paragraphs("a `b<` c\n\n d`").into_string();
        assert_eq!(html, "<p>a <code>b&lt;</code> c</p><p>d`</p>");
        assert_eq!(paragraphs(" \n\n ").into_string(), "");
    }

    #[test]
    fn addresses_are_links_without_the_marks_around_them() {
        let html = paragraphs("see (https://a.example/b?c=d&e), https://f.example/. `https://code`").into_string();
        let link = |address: &str| format!("<a href=\"{address}\" rel=\"noreferrer\">{address}</a>");
        let (one, other) = (link("https://a.example/b?c=d&amp;e"), link("https://f.example/"));
        assert_eq!(html, format!("<p>see ({one}), {other}. <code>https://code</code></p>"));
    }

    #[test]
    fn anchors_are_safe_and_unique() {
        assert_eq!(anchor("Fig 1a\"", 0), "f1-fig-1a");
        assert_ne!(anchor("x", 0), anchor("x", 1));
    }
}

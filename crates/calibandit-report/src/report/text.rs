//! Text on its way into HTML: escaping, paragraphs, numbers.

pub(super) use crate::chart::svg::escape;

/// JSON as the content of a script element: no `<`, so nothing in it can end the element or open a comment.
pub(super) fn script_json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Paragraphs from plain text: blank lines separate them, backticks mark code.
pub(super) fn paragraphs(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.split("\n\n")
        .filter(|part| !part.trim().is_empty())
        .map(|part| format!("<p>{}</p>\n", inline(part.trim())))
        .collect()
}

fn inline(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // Backticks come in pairs; a single one is just a character.
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    parts
        .iter()
        .enumerate()
        .map(|(i, part)| if i % 2 == 1 { format!("<code>{}</code>", escape(part)) } else { escape(part) })
        .collect()
}

/// A name usable as an HTML id: letters, digits and hyphens, made unique by its number.
pub(super) fn anchor(id: &str, nth: usize) -> String {
    let slug: String = id.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("f{}-{}", nth + 1, slug.trim_matches('-'))
}

/// A number for a table: thousands separated, small ones with three digits that count.
pub(super) fn table_number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e15).contains(&size) {
        return format!("{value:.2e}").replace('-', "−");
    }
    let decimals = match size {
        s if s >= 100.0 || s == 0.0 => 0,
        s if s >= 10.0 => 1,
        s if s >= 1.0 => 2,
        s => (2.0 - s.log10().floor()) as usize,
    };
    group(&format!("{value:.decimals$}"))
}

/// Puts a comma before every third digit of the integer part.
fn group(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("−", rest));
    let (whole, rest) = digits.find('.').map_or((digits, ""), |dot| digits.split_at(dot));
    let mut out = sign.to_owned();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_escapes() {
        assert_eq!(escape("<a href=\"x\" b='y'>&\u{0}"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
        let json = script_json(&json!({"label": "</script><!-- \u{2028} ü"}));
        assert!(!json.contains('<') && !json.contains('\u{2028}'));
        let back: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back["label"], "</script><!-- \u{2028} ü");
    }

    #[test]
    fn prose_becomes_paragraphs() {
        assert_eq!(paragraphs("a `b<` c\n\n d`"), "<p>a <code>b&lt;</code> c</p>\n<p>d`</p>\n");
        assert_eq!(paragraphs(" \n\n "), "");
    }

    #[test]
    fn numbers_of_tables() {
        for (value, text) in [
            (118_026.4, "118,026"),
            (1_234_567.0, "1,234,567"),
            (999.0, "999"),
            (55.25, "55.2"),
            (5.0, "5.00"),
            (0.123_45, "0.123"),
            (-2_500.0, "−2,500"),
            (0.0, "0"),
            (1.5e-5, "1.50e−5"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(table_number(value), text);
        }
    }

    #[test]
    fn anchors_are_safe_and_unique() {
        assert_eq!(anchor("Fig 1a\"", 0), "f1-fig-1a");
        assert_ne!(anchor("x", 0), anchor("x", 1));
    }
}

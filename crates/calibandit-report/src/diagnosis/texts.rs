//! The sentences of a diagnosis.

use calibandit_experiment::format::{plus_minus, rounded, shell_word, short, thousands, trimmed};
use calibandit_fit::diagnose::{
    ArmDiagnosis, Diagnosis, Estimate, NoteKind, Price, ReoVerdict, Stopped, SuggestedPilot, TallyingDiagnosis, Why,
};

/// What a diagnosis does not know about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagnosisSource<'a> {
    /// The name of the log.
    pub log: &'a str,
    /// Whether the tolerance was given, and is not the default.
    pub tolerance_given: bool,
}

/// What a diagnosis says, in sentences. Names of arms and code are between backticks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiagnosisTexts {
    /// What was read, and which differences matter.
    pub read: String,
    /// The memory bound, or why there is none.
    pub answer: String,
    /// Whether repeated exposure is optimal.
    pub reo: String,
    /// The tallying set, if there is one.
    pub tallying: Option<String>,
    /// What else a reader must know, most important first. What the answer says is not repeated.
    pub notes: Vec<String>,
    /// The pilot that would settle what is open.
    pub pilot: Option<PilotAdvice>,
}

/// A pilot in words, with the commands that plan it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PilotAdvice {
    /// Its sizes, and what they assume.
    pub text: String,
    /// The command that plans it if tallying is believed, and the one if nothing is.
    pub commands: [String; 2],
}

impl DiagnosisTexts {
    /// The sentences of this diagnosis.
    pub fn new(found: &Diagnosis, source: DiagnosisSource<'_>) -> Self {
        let notes = found.notes.iter().filter(|note| note.kind != NoteKind::Reach);
        Self {
            read: read(found, source),
            answer: answer(found),
            reo: reo(found),
            tallying: found.tallying.as_ref().map(tallying),
            notes: notes.map(|note| sentence(&note.text)).collect(),
            pilot: found.pilot.map(|pilot| pilot_advice(found, pilot)),
        }
    }
}

/// A number with its noun, such as "1 arm" and "2,000 arms".
fn count(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// The text with a capital at its beginning and a point at its end. A code at the beginning stays as it is.
fn sentence(text: &str) -> String {
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    capitalised(text) + end
}

fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + rest.as_str()
}

pub(super) fn percent(share: f64) -> String {
    format!("{} %", trimmed(100.0 * share, 2))
}

fn read(found: &Diagnosis, source: DiagnosisSource<'_>) -> String {
    let units = match found.units {
        1 => String::new(),
        units => format!(" in {}", count(units as u64, "unit")),
    };
    let missing = match found.missing {
        0 => "every play has a loss".to_owned(),
        missing => format!("{} without a loss", count(missing, "play")),
    };
    let (plays, arms) = (count(found.plays, "play"), count(found.arms.len() as u64, "arm"));
    let tolerance = rounded(found.tolerance);
    let origin = match source.tolerance_given {
        true => "`--tolerance`",
        false => "the default: 5 % of the range of the middle 98 % of the losses; set it with `--tolerance`",
    };
    format!(
        "{}: {plays} of {arms}{units}; {missing}. Differences of up to {tolerance} do not matter ({origin}).",
        source.log
    )
}

fn answer(found: &Diagnosis) -> String {
    let (reach, sure) = (found.reach, percent(found.confidence));
    let plays = |number: u32| count(u64::from(number), "play");
    let settles = |bound: u32| {
        let from =
            if bound == 1 { "from the first play on".to_owned() } else { format!("from play {bound} in a row on") };
        format!("{from}, the loss of every arm is within the tolerance of its eventual loss")
    };
    let conditional = match found.conditional_bound {
        Some(bound) if reach > 0 => {
            let if_short = format!("If no arm remembers more than {}, M = {bound} is enough", plays(reach));
            format!(" {if_short}: {} ({sure} confidence).", settles(bound))
        }
        _ => String::new(),
    };
    let reaches = match reach {
        0 => "it can speak of no memory at all".to_owned(),
        _ => format!("it can speak of memories up to {} only", plays(reach)),
    };
    let arms = |stopped: Stopped| {
        let all = found.arms.iter().filter(|arm| arm.settled.upper.is_none() && arm.settled.stopped == stopped);
        listed(&all.collect::<Vec<_>>())
    };
    match (found.why, found.memory_bound) {
        (_, Some(bound)) => {
            let longest = plays(found.longest.unwrap_or(reach));
            format!("M = {bound}: {}, if no arm remembers more than {longest} ({sure} confidence).", settles(bound))
        }
        (Why::NoLongest, None) => format!(
            "M cannot be said without an assumption: say the longest memory that you think possible, with \
             `--longest`.{conditional}"
        ),
        (Why::Reach, None) => {
            let longest = plays(found.longest.unwrap_or_default());
            format!("M cannot be said from this log: {reaches}, and you think {longest} possible.{conditional}")
        }
        (Why::Changes, None) => {
            let (changing, several) = arms(Stopped::Changes);
            let change = if several { "change" } else { "changes" };
            format!(
                "M cannot be said from this log: {changing} still {change} as far as it reaches ({}).",
                plays(reach)
            )
        }
        _ => {
            let (few, several) = arms(Stopped::TooFewPlays);
            let have = if several { "have" } else { "has" };
            format!("M cannot be said from this log: {few} {have} too few plays in a row, or after a rest.")
        }
    }
}

/// The number of arms that a sentence names.
const MOST_NAMES: usize = 3;

/// "arm `a`", "arms `a` and `b`", "arms `a`, `b`, `c` and 4 more"; and whether it is a plural.
fn listed(arms: &[&ArmDiagnosis]) -> (String, bool) {
    let names: Vec<String> = arms.iter().take(MOST_NAMES).map(|arm| format!("`{}`", arm.name)).collect();
    match (arms.len().saturating_sub(MOST_NAMES), names.as_slice()) {
        (_, []) => ("some arm".to_owned(), false),
        (0, [only]) => (format!("arm {only}"), false),
        (0, [first @ .., last]) => (format!("arms {} and {last}", first.join(", ")), true),
        (more, _) => (format!("arms {} and {more} more", names.join(", ")), true),
    }
}

fn reo(found: &Diagnosis) -> String {
    let reo = &found.reo;
    let alpha = match reo.alpha {
        (_, Some(high)) if high <= 0.0 => "alpha is 0".to_owned(),
        (low, Some(high)) if low > 0.0 => format!("alpha is between {} and {}", rounded(low), rounded(high)),
        (_, Some(high)) => format!("alpha is at most {}", rounded(high)),
        (low, None) if low > 0.0 => format!("alpha is at least {}", rounded(low)),
        (_, None) => "the log does not bound alpha".to_owned(),
    };
    let because = reo.reason.as_deref().unwrap_or_default();
    let within = "repeated exposure is optimal within the tolerance";
    match reo.verdict {
        // Where the log does not reach far enough, nobody knows the eventual losses.
        ReoVerdict::Holds if found.memory_bound.is_none() => {
            let plays = count(u64::from(found.reach), "play");
            format!("If no arm remembers more than {plays}, {within} (REO holds): {alpha}.")
        }
        ReoVerdict::Holds => {
            format!("{} (REO holds): {alpha}. Staying with the best arm is right.", capitalised(within))
        }
        ReoVerdict::Violated => format!(
            "Repeated exposure is not optimal (REO is violated): {because}; {alpha}. Alternating arms is better than \
             staying with one, and policies that stay with one arm are not made for this."
        ),
        _ if because.contains("alpha") => format!("Whether repeated exposure is optimal is undecided: {because}."),
        _ => format!("Whether repeated exposure is optimal is undecided: {because}; {alpha}."),
    }
}

fn tallying(found: &TallyingDiagnosis) -> String {
    let set = match found.set {
        (low, Some(high)) if low == high => format!("no other memory than {low} agrees with the log"),
        (low, Some(high)) => format!("memories from {low} to {high} agree with the log"),
        (low, None) => format!("memories from {low} on agree with the log, without an upper end"),
    };
    let settled = match found.settled {
        Some(1) => " Under every kind of weights that agrees, losses are settled from the first play on.".to_owned(),
        Some(plays) => {
            format!(" Under every kind of weights that agrees, losses are settled from play {plays} in a row on.")
        }
        None => String::new(),
    };
    // Weights that fall with age hardly matter at the end, so a log seldom shows them.
    let old = " If the weights of old plays fall, the longest of them can be older than this set says; what counts for \
               M is from when on losses are settled.";
    format!(
        "If losses depend on a tally of past plays ({} weights, a monotone curve): memory {}; {set}.{settled}{}",
        found.kernel.name(),
        found.memory,
        if found.set.1.is_some() { old } else { "" }
    )
}

fn pilot_advice(found: &Diagnosis, pilot: SuggestedPilot) -> PilotAdvice {
    let (tallying, blocks) = (count(pilot.tallying, "play"), count(pilot.blocks, "play"));
    let sd = found.arms.iter().map(|arm| arm.sd).fold(0.0, f64::max);
    let command = |believe: &str, difference: f64| {
        let (arms, longest, difference) = (arms_argument(found), pilot.longest, parameter(difference));
        // Too few losses to know how they vary: the command has a default.
        let sd = if sd > 0.0 { format!(" --sd {}", parameter(sd)) } else { String::new() };
        format!("calibandit pilot --arms {arms} --longest {longest} --believe {believe}{sd} --drop {difference}")
    };
    PilotAdvice {
        text: format!(
            "A pilot would settle it: {tallying} in runs of random lengths if you believe that losses depend on a \
             tally, or {blocks} in blocks if you assume nothing but the longest memory. Its plan, as a table of runs:"
        ),
        commands: [command("tallying", 2.0 * found.tolerance), command("nothing", found.tolerance)],
    }
}

/// A number for a command line: three digits.
fn parameter(value: f64) -> String {
    let decimals = if value > 0.0 { (2 - value.log10().floor() as i32).clamp(0, 17) as usize } else { 0 };
    trimmed(value, decimals)
}

/// The longest list of arms that a command shows.
const LONGEST_LIST: usize = 120;

/// The names of the arms for a command line, quoted where a shell needs it; a placeholder if they are many.
fn arms_argument(found: &Diagnosis) -> String {
    let names: Vec<&str> = found.arms.iter().map(|arm| arm.name.as_str()).collect();
    let list = names.join(",");
    let too_long = list.chars().count() > LONGEST_LIST;
    if too_long || names.iter().any(|name| name.contains(',')) { "ARMS".to_owned() } else { shell_word(&list) }
}

/// What a wrong memory bound would cost, and what plain bandits would, in sentences.
pub fn price_text(found: &Diagnosis, price: &Price) -> String {
    let regret = |bound: u32| price.rows.iter().find(|row| row.memory_bound == Some(bound));
    let plain = price.rows.iter().filter(|row| row.memory_bound.is_none());
    let plain = plain.min_by(|a, b| a.regret.total_cmp(&b.regret));
    let bound = price.memory_bound;
    let (Some(middle), Some(plain)) = (regret(bound), plain) else { return price.text.clone() };
    let number = |value: f64| short(value, 3);
    let begin = match (found.reo.verdict, price.plain_is_fine) {
        (ReoVerdict::Violated, _) => {
            "Staying with one arm is not optimal here, so this is no regret against the optimum. "
        }
        (_, true) => "A plain bandit is fine here. ",
        (_, false) => "",
    };
    let mut text = format!(
        "{begin}Over {}, `calibrated` with M = {bound} is predicted to lose {} more than the best arm played \
         throughout",
        count(price.horizon, "play"),
        plus_minus(middle.regret, middle.stderr, 3)
    );
    let sides = [bound / 4, bound / 2, bound.saturating_mul(2), bound.saturating_mul(8)];
    let sides = sides.into_iter().filter(|side| *side > 0 && *side != bound);
    let sides: Vec<String> =
        sides.filter_map(|side| regret(side).map(|row| format!("{} with M = {side}", number(row.regret)))).collect();
    if !sides.is_empty() {
        text += &format!(" ({})", sides.join(", "));
    }
    let plainly = plus_minus(plain.regret, plain.stderr, 3);
    text + &format!("; the better plain bandit, {}, {plainly}.", plain.policy)
}

/// After how many plays in a row an arm has settled, in few words.
pub fn settled_text(arm: &ArmDiagnosis) -> String {
    match (arm.settled.lower, arm.settled.upper) {
        (lower, Some(upper)) if lower == upper => format!("play {upper}"),
        (lower, Some(upper)) => format!("play {lower} to {upper}"),
        (1, None) => "not shown".to_owned(),
        (lower, None) => format!("not before {lower}"),
    }
}

/// Why the search for a smaller bound ended, in few words.
pub fn stopped_text(arm: &ArmDiagnosis) -> &'static str {
    match (arm.settled.stopped, arm.settled.upper) {
        (Stopped::First, _) => "no change found",
        (Stopped::Changes, Some(_)) => "changes before",
        (Stopped::Changes, None) => "still changes",
        (_, Some(_)) => "too few plays before",
        _ => "too few plays",
    }
}

/// The eventual loss with its interval, with as many digits as the interval has a meaning for.
pub fn eventual_text(eventual: Option<Estimate>) -> String {
    let Some(Estimate { mean, low, high }) = eventual else { return "–".to_owned() };
    let half = (high - low) / 2.0;
    let decimals = if half > 0.0 && half.is_finite() { (1 - half.log10().floor() as i32).clamp(0, 8) } else { 3 };
    let number = |value: f64| format!("{value:.0$}", decimals as usize);
    format!("{} [{}, {}]", number(mean), number(low), number(high))
}

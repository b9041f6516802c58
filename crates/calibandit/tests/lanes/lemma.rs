//! The lemma of the overlap by enumeration: with c plays of a lane under way at once, play j is calibrated for sure if
//! and only if at least M - 1 + 2(c - 1) plays of its arm were given out since the switch.

use calibandit::lanes::overlap_burn_in;

/// Calls `visit` with every order in which `plays` plays can take effect, if play j is not given out before all plays
/// up to j - c have finished: those are all orders in which i comes before j whenever j - i >= c.
fn allowed_orders(plays: usize, c: usize, visit: &mut impl FnMut(&[usize])) -> u64 {
    fn extend(order: &mut Vec<usize>, plays: usize, c: usize, visit: &mut impl FnMut(&[usize])) -> u64 {
        if order.len() == plays {
            visit(order);
            return 1;
        }
        let mut orders = 0;
        let first = (0..plays).find(|play| !order.contains(play)).unwrap();
        for play in first..plays.min(first + c) {
            if !order.contains(&play) {
                order.push(play);
                orders += extend(order, plays, c, visit);
                order.pop();
            }
        }
        orders
    }
    extend(&mut Vec::new(), plays, c, visit)
}

/// The largest number of plays since the switch at which a play can still see one of the old arm, over all orders.
fn last_uncalibrated(plays: usize, switch: usize, memory: usize, c: usize) -> Option<usize> {
    let mut last = None;
    allowed_orders(plays, c, &mut |order| {
        for (place, &play) in order.iter().enumerate() {
            let window = &order[place.saturating_sub(memory - 1)..place];
            let sees_old_arm = window.iter().any(|&other| other < switch) || window.len() < memory - 1;
            if play >= switch && sees_old_arm {
                last = last.max(Some(play - switch));
            }
        }
    });
    last
}

#[test]
fn the_burn_in_of_an_overlap_is_enough_and_no_less_is() {
    for c in 1..=3 {
        for memory in 2..=3 {
            let burn_in = overlap_burn_in(memory as u64, c as u32) as usize;
            assert_eq!(burn_in, memory - 1 + 2 * (c - 1));
            // Old plays before the switch, so that each of them can be overtaken, and new ones beyond the bound.
            let switch = c + memory;
            let plays = switch + burn_in + c;
            let last = last_uncalibrated(plays, switch, memory, c);
            assert_eq!(last, Some(burn_in - 1), "c = {c}, M = {memory}: the bound is exact");
        }
    }
}

/// The next switch: a play of another arm can overtake the last c - 1 plays before it, and no earlier ones. They count
/// only if they are finished before that play is given out.
#[test]
fn plays_behind_a_play_can_overtake_it_too() {
    for c in 2..=3 {
        for memory in 2..=3 {
            let burn_in = overlap_burn_in(memory as u64, c as u32) as usize;
            let switch = c;
            let next = switch + burn_in + c;
            let mut uncalibrated = Vec::new();
            allowed_orders(next + c, c, &mut |order| {
                for (place, &play) in order.iter().enumerate() {
                    let window = &order[place.saturating_sub(memory - 1)..place];
                    let own = |other: &usize| (switch..next).contains(other);
                    if play >= switch + burn_in && play < next && !window.iter().all(own) {
                        uncalibrated.push(play);
                    }
                }
            });
            assert_eq!(uncalibrated.iter().min(), Some(&(next - (c - 1))), "c = {c}, M = {memory}");
        }
    }
}

/// "At most c plays in flight" alone is not enough: a play that takes long is overtaken by any number of others.
#[test]
fn a_bound_on_the_number_of_plays_in_flight_is_not_enough() {
    // Two plays in flight at any time. Play 0 of the old arm takes effect after 50 plays of the new one.
    let order: Vec<usize> = (1..=50).chain([0, 51]).collect();
    let place = order.iter().position(|&play| play == 51).unwrap();
    assert_eq!(order[place - 1], 0, "the play before it is of the old arm, 50 plays after the switch");
    assert!(50 > overlap_burn_in(2, 2));
}

/// The numbers of orders are those of permutations that move no element over c or more others (computed by hand for
/// small cases): without overlap there is one order, with an overlap of 2 they are the Fibonacci numbers.
#[test]
fn all_orders_are_enumerated() {
    let count = |plays, c| allowed_orders(plays, c, &mut |_| {});
    assert_eq!(count(6, 1), 1);
    assert_eq!((1..=6).map(|plays| count(plays, 2)).collect::<Vec<_>>(), [1, 2, 3, 5, 8, 13]);
    assert_eq!(count(3, 3), 6);
}

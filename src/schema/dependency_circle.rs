//! Circles of monitors that depend on each other.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;

/// Maximum number of members of a circle that are named.
const MAX_NAMED_MEMBERS: usize = 20;

/// Returns the shortest circle through `start`: it is the first and the last member. `parents_of` returns what a
/// monitor depends on.
pub fn find_circle<T: Clone + Eq + Hash>(start: &T, parents_of: impl Fn(&T) -> Vec<T>) -> Option<Vec<T>> {
    // Each one with the index of the one that depends on it.
    let mut reached: Vec<(T, Option<usize>)> = vec![(start.clone(), None)];
    let mut reached_members: HashSet<T> = HashSet::new();
    let mut next_index = 0;
    while let Some((member, _)) = reached.get(next_index) {
        for parent in parents_of(member) {
            if parent == *start {
                let mut circle = vec![parent];
                let mut index = Some(next_index);
                while let Some((member, dependent)) = index.and_then(|index| reached.get(index)) {
                    circle.push(member.clone());
                    index = *dependent;
                }
                circle.reverse();
                return Some(circle);
            }
            if reached_members.insert(parent.clone()) {
                reached.push((parent, Some(next_index)));
            }
        }
        next_index += 1;
    }
    None
}

/// Names the members of a circle: `7 depends on 3, which depends on 7`.
#[must_use]
pub fn describe_circle<T: Display>(circle: &[T]) -> String {
    let hidden_count = circle.len().saturating_sub(1).saturating_sub(MAX_NAMED_MEMBERS);
    let name = |(index, member): (usize, &T)| match index {
        0 => Some(format!("`{member}`")),
        1 => Some(format!(" depends on `{member}`")),
        MAX_NAMED_MEMBERS if hidden_count > 0 => Some(format!(", and so on over {hidden_count} more")),
        MAX_NAMED_MEMBERS.. if index + 1 < circle.len() => None,
        _ => Some(format!(", which depends on `{member}`")),
    };
    circle.iter().enumerate().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_through_its_start_and_named() {
        let graph = |id: &i32| match id {
            1 => vec![2, 3],
            3 => vec![5],
            5 => vec![1],
            // Not through 1.
            2 | 4 => vec![4],
            _ => Vec::new(),
        };
        let circle = find_circle(&1, graph).unwrap();
        assert_eq!(circle, [1, 3, 5, 1]);
        assert_eq!(
            describe_circle(&circle),
            "`1` depends on `3`, which depends on `5`, which depends on `1`"
        );
        assert_eq!(find_circle(&2, graph), None);
        assert_eq!(find_circle(&9, graph), None);
    }

    #[test]
    fn a_long_chain_takes_no_long_time_and_no_long_text() {
        let long_circle = |id: &i32| vec![(id + 1) % 100_000];
        let circle = find_circle(&0, long_circle).unwrap();
        assert_eq!(circle.len(), 100_001);
        assert!(describe_circle(&circle).len() < 1000);
        // A diamond over diamond has two ways at each step.
        let diamonds = |id: &i32| if *id > 2000 { Vec::new() } else { vec![id + 1, id + 2] };
        assert_eq!(find_circle(&0, diamonds), None);
    }
}

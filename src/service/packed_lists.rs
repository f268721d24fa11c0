//! Many short lists in two vectors, so that looking through all of them reads memory in its order.

use std::ops::Range;

/// Lists of `T`, by position.
#[derive(Clone, Debug)]
pub(super) struct PackedLists<T> {
    /// The items of all lists, one after the other.
    items: Vec<T>,
    /// For each list, the position in `items` after its last item.
    ends: Vec<usize>,
}

impl<T> Default for PackedLists<T> {
    fn default() -> Self {
        Self { items: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Clone> PackedLists<T> {
    /// Appends a list.
    pub(super) fn push(&mut self, items: impl IntoIterator<Item = T>) {
        self.items.extend(items);
        self.ends.push(self.items.len());
    }

    /// Appends the lists `range` of `other`.
    pub(super) fn extend_from(&mut self, other: &Self, range: Range<usize>) {
        let start = other.start(range.start);
        let offset = self.items.len();
        let ends = other.ends.get(range).unwrap_or_default();
        let end = ends.last().copied().unwrap_or(start);
        self.items.extend_from_slice(other.items.get(start..end).unwrap_or_default());
        self.ends.extend(ends.iter().map(|end| end - start + offset));
    }

    /// Returns a list; empty when there is none.
    pub(super) fn get(&self, position: usize) -> &[T] {
        let end = self.ends.get(position).copied().unwrap_or_default();
        self.items.get(self.start(position)..end).unwrap_or_default()
    }

    /// Returns the items of the lists `range`, and the position of the first in the items of all.
    pub(super) fn items_of(&self, range: Range<usize>) -> (usize, &[T]) {
        let (start, end) = (self.start(range.start), self.start(range.end));
        (start, self.items.get(start..end).unwrap_or_default())
    }

    /// Returns the list that has the item at `item` of all items, and where it ends.
    pub(super) fn list_with(&self, item: usize) -> (usize, usize) {
        let position = self.ends.partition_point(|end| *end <= item);
        (position, self.ends.get(position).copied().unwrap_or(self.items.len()))
    }

    /// Returns where the list `position` starts.
    fn start(&self, position: usize) -> usize {
        position.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_found_by_position_and_by_item_also_after_they_were_moved() {
        let mut lists = PackedLists::default();
        for text in ["ab", "", "cde", "f"] {
            lists.push(text.bytes());
        }
        assert_eq!(
            (0..5).map(|position| lists.get(position)).collect::<Vec<_>>(),
            [&b"ab"[..], b"", b"cde", b"f", b""]
        );
        assert_eq!(
            [0, 1, 2, 4, 5].map(|item| lists.list_with(item)),
            [(0, 2), (0, 2), (2, 5), (2, 5), (3, 6)]
        );
        assert_eq!(lists.items_of(2..4), (2, &b"cdef"[..]));
        let mut moved = PackedLists::default();
        moved.push(*b"x");
        moved.extend_from(&lists, 1..3);
        moved.extend_from(&lists, 0..1);
        let texts: Vec<_> = (0..4).map(|position| moved.get(position)).collect();
        assert_eq!(texts, [&b"x"[..], b"", b"cde", b"ab"]);
    }
}

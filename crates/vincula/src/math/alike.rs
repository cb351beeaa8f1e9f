//! Many things of which most are alike, each kept once.

/// What things that are alike have in common, and which of these each is.
#[derive(Clone, Debug)]
pub(crate) struct Alike<T> {
    kinds: Vec<T>,
    of: Vec<u32>,
}

/// A thing is compared with this many kinds before it becomes one of its own.
const COMPARED: usize = 4;

impl<T: PartialEq> FromIterator<T> for Alike<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Alike<T> {
        let mut alike = Alike {
            kinds: Vec::new(),
            of: Vec::new(),
        };
        for one in all {
            let kinds = &mut alike.kinds;
            let last = kinds.iter().rev().take(COMPARED).position(|k| *k == one);
            let kind = match last {
                Some(back) => kinds.len() - 1 - back,
                None => {
                    kinds.push(one);
                    kinds.len() - 1
                }
            };
            alike.of.push(kind as u32);
        }
        alike
    }
}

impl<T> Alike<T> {
    /// Number of things.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// What a thing is.
    #[inline(always)]
    pub fn of(&self, index: usize) -> &T {
        &self.kinds[self.of[index] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_kept_once() {
        let all = [7, 7, 3, 7, 3, 1, 2, 4, 5, 7];
        let alike: Alike<i32> = all.into_iter().collect();
        assert_eq!(alike.len(), all.len());
        for (index, one) in all.iter().enumerate() {
            assert_eq!(alike.of(index), one);
        }
        // The last seven is too far from the others to be found.
        assert_eq!(alike.kinds, [7, 3, 1, 2, 4, 5, 7]);
    }
}

//! Sets that are joined two by two, each known by its least member.

/// Numbers from zero on, in sets.
#[derive(Debug, Default)]
pub(crate) struct Union {
    parent: Vec<u32>,
}

impl Union {
    /// Every number is a set of its own.
    pub fn reset(&mut self, count: usize) {
        self.parent.clear();
        self.parent.extend(0..count as u32);
    }

    /// The least member of the set of a number.
    pub fn head(&mut self, mut member: u32) -> u32 {
        while self.parent[member as usize] != member {
            let up = self.parent[member as usize];
            self.parent[member as usize] = self.parent[up as usize];
            member = up;
        }
        member
    }

    /// The same after [`heads`](Self::heads), if nothing was joined since.
    pub fn known(&self, member: u32) -> u32 {
        self.parent[member as usize]
    }

    /// Joins the sets of two numbers.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.head(a), self.head(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// The least member of the set of every number.
    pub fn heads(&mut self) -> &[u32] {
        for member in 0..self.parent.len() as u32 {
            self.parent[member as usize] = self.head(member);
        }
        &self.parent
    }
}

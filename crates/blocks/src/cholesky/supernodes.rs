//! Columns with the same rows below, which are eliminated together.

use faer::sparse::linalg::cholesky::supernodal::SymbolicSupernodalCholesky;

/// Supernodes of more columns than this are taken apart where another branch of the tree comes in,
const WIDE: usize = 96;
/// unless a part had fewer columns than this.
const LEAST: usize = 48;

/// The supernodes of a matrix, ascending, and the layout of their columns.
#[derive(Clone, Debug)]
pub(super) struct Supernodes {
    /// First column of each, and the number of all columns.
    starts: Vec<usize>,
    rows: Vec<usize>,
    row_starts: Vec<usize>,
    /// Where the columns of each lie among the factors, one after the other.
    values: Vec<usize>,
}

impl Supernodes {
    /// Those that faer found for the tree of columns with these parents. It joins a supernode with
    /// its parent whenever that stores no zeros. Dense blocks gain nothing by that once they are
    /// wide, and halves of the tree that only meet at its root would be tied together.
    pub fn new(found: &SymbolicSupernodalCholesky<usize>, parents: &[isize]) -> Supernodes {
        let mut children = vec![0_u32; parents.len()];
        for parent in parents.iter().filter_map(|&p| usize::try_from(p).ok()) {
            children[parent] += 1;
        }
        let mut supernodes = Supernodes {
            starts: Vec::new(),
            rows: Vec::new(),
            row_starts: vec![0],
            values: vec![0],
        };
        for s in 0..found.n_supernodes() {
            let mut begin = found.supernode_begin()[s];
            let end = found.supernode_end()[s];
            let pattern = found.supernode(s);
            if end - begin > WIDE {
                for column in begin + LEAST..=end.saturating_sub(LEAST) {
                    if children[column] > 1 && column - begin >= LEAST {
                        supernodes.push(begin, column, end, pattern.pattern());
                        begin = column;
                    }
                }
            }
            supernodes.push(begin, end, end, pattern.pattern());
        }
        supernodes.starts.push(found.nrows());
        supernodes
    }

    /// Adds columns whose rows below are those up to `last`, and others.
    fn push(&mut self, begin: usize, end: usize, last: usize, others: &[usize]) {
        self.starts.push(begin);
        self.rows.extend(end..last);
        self.rows.extend(others);
        let (width, below) = (end - begin, last - end + others.len());
        self.row_starts.push(self.rows.len());
        let before = self.values[self.values.len() - 1];
        self.values.push(before + width * (width + below));
    }

    /// How many there are.
    pub fn n_supernodes(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Columns, and rows, of the matrix.
    pub fn nrows(&self) -> usize {
        self.starts[self.n_supernodes()]
    }

    /// Numbers in the columns of all.
    pub fn len_val(&self) -> usize {
        self.values[self.n_supernodes()]
    }

    /// The first column of each.
    pub fn supernode_begin(&self) -> &[usize] {
        &self.starts[..self.n_supernodes()]
    }

    /// The column after the last of each.
    pub fn supernode_end(&self) -> &[usize] {
        &self.starts[1..]
    }

    /// Where the columns of each begin among the factors.
    pub fn col_ptr_for_val(&self) -> &[usize] {
        &self.values
    }

    /// The rows below the columns of one, ascending.
    pub fn rows_below(&self, s: usize) -> &[usize] {
        &self.rows[self.row_starts[s]..self.row_starts[s + 1]]
    }
}

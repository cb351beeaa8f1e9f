//! After `symbolic`, factoring and solving allocate nothing.

// A global allocator that counts cannot be written without `unsafe`; it only
// forwards to the system's.
#![allow(unsafe_code)]

mod common;

use common::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use vincula_blocks::ordering::path_order;
use vincula_blocks::*;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = COUNT.with(Cell::get);
    work();
    COUNT.with(Cell::get) - before
}

#[test]
fn factor_and_solve_allocate_nothing() {
    let mut random = Random::new(6);
    let mut mechanism = Mechanism::new(&mut random, 40, &chain_pairs(40));
    let chain = mechanism.assemble();
    mechanism.repeat_joint(&mut random, 7);
    let tree = mechanism.assemble();
    mechanism.joints.push(
        Mechanism::new(&mut random, 40, &[(0, Some(39))])
            .joints
            .remove(0),
    );
    let ring = mechanism.assemble();
    let order = path_order(chain.pattern()).unwrap();
    let options = CholeskyOptions::default();
    let solvers: Vec<(&str, &BlockMatrix, Box<dyn Factorization>)> = vec![
        (
            "chain",
            &chain,
            Box::new(Chain::symbolic(chain.pattern(), &order).unwrap()),
        ),
        (
            "parts",
            &chain,
            Box::new(PartitionedChain::symbolic(chain.pattern(), &order, 4).unwrap()),
        ),
        (
            "tree",
            &tree,
            Box::new(Tree::symbolic(tree.pattern()).unwrap()),
        ),
        (
            "loops",
            &ring,
            Box::new(Loops::symbolic(ring.pattern(), 8).unwrap()),
        ),
        (
            "cholesky",
            &ring,
            Box::new(Cholesky::symbolic(ring.pattern(), &options).unwrap()),
        ),
        ("dense", &ring, Box::new(Dense::symbolic(ring.pattern()))),
    ];
    for (name, matrix, mut solver) in solvers {
        let (mut b, _) = consistent_rhs(&mut random, matrix);
        let mut refinement = Refinement::new(b.len());
        // faer's kernels set up a buffer when a thread first calls them.
        solver.factor(matrix).unwrap();
        solver.solve(&mut b.clone()).unwrap();
        let count = allocations(|| {
            for _ in 0..3 {
                solver.factor(matrix).unwrap();
                refinement.solve(&mut *solver, matrix, &mut b).unwrap();
            }
        });
        assert_eq!(count, 0, "{name}");
    }
    let mut sweeps = GaussSeidel::symbolic(ring.pattern(), &[]).unwrap();
    let (b, mut x) = consistent_rhs(&mut random, &ring);
    let count = allocations(|| {
        sweeps.factor(&ring).unwrap();
        sweeps.solve(&ring, &b, &mut x, 1e-9, 5).unwrap();
    });
    assert_eq!(count, 0, "gauss seidel");
}

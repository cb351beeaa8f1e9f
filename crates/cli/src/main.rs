//! The vincula program.
fn main() {}

//! Work that falls into two halves.

/// Runs two jobs that know nothing of each other, the second on a thread of its own if there
/// are two. Spawning one costs some tens of microseconds.
pub fn both<A, B: Send>(
    threads: usize,
    first: impl FnOnce() -> A,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads < 2 {
        let first = first();
        return (first, second());
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(second);
        let first = first();
        match other.join() {
            Ok(second) => (first, second),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

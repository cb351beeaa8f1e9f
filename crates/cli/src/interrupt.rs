//! Ctrl-C ends a run after the step that it is in, and what was done is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

/// Exit code of a run that was interrupted.
pub const CODE: u8 = 130;

/// Whether the run has been asked to end.
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on the first Ctrl-C is noted; a second one ends the program at once. Where that cannot be
    /// had, the first one does. Other programs ask for the end by another signal, some twice in a row, as
    /// `timeout` does: that is noted however often it comes.
    pub fn watch() -> Interrupt {
        let came = Arc::new(AtomicBool::new(false));
        // In this order, or the first would be taken for the second.
        if register_conditional_shutdown(SIGINT, i32::from(CODE), came.clone()).is_ok() {
            let _ = register(SIGINT, came.clone());
        }
        let _ = register(SIGTERM, came.clone());
        Interrupt(came)
    }

    /// Whether it came.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

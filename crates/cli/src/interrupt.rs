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
    /// had, the first one does.
    pub fn watch() -> Interrupt {
        let came = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order, or the first would be taken for the second.
            let second = register_conditional_shutdown(signal, i32::from(CODE), came.clone());
            if second.is_ok() {
                let _ = register(signal, came.clone());
            }
        }
        Interrupt(came)
    }

    /// Whether it came.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

//! See `laws::line`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolhost_fuzz::laws::line::hold(data));

//! See `laws::bash`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolhost_fuzz::laws::bash::hold(data));

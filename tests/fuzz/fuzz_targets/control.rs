//! See `laws::control`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolhost_fuzz::laws::control::hold(data));

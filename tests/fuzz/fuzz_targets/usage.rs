//! See `laws::usage`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolhost_fuzz::laws::usage::hold(data));

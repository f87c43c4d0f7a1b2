//! See `laws::yaml`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolhost_fuzz::laws::yaml::hold(data));

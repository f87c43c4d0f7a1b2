//! See `laws::bash`.
#![no_main]

// A panic of argc's parser is caught, and is no finding: the hook of the fuzzer would end it there. One of a law gets
// out, and the fuzzer sees that as well.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|panic| {
        if !panic.location().is_some_and(|place| place.file().contains("/argc-")) {
            eprintln!("{panic}");
        }
    })),
    |data: &[u8]| toolhost_fuzz::laws::bash::hold(data)
);

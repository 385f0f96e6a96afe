#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| titr_fuzz::goal(data));

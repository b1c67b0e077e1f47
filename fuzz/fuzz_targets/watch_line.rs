//! Any bytes as a line of `mtds watch`: they are read or refused, and what is read has the sizes that were asked for.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mtds_cli::verb::watch::line::{Request, Widths, parse};

fuzz_target!(|bytes: &[u8]| {
    for (outputs, inputs, horizon) in [(1, 0, 1), (2, 1, 2), (3, 2, 0)] {
        let widths = Widths { outputs, inputs, horizon };
        let Ok(Request::Observe(seen)) = parse(bytes, widths) else { continue };
        assert_eq!((seen.outputs.len(), seen.inputs.len()), (outputs, inputs));
        assert!(seen.outputs.iter().all(|y| !y.is_infinite()) && seen.inputs.iter().all(|u| u.is_finite()));
        assert!(seen.future.is_none_or(|future| future.len() == horizon * inputs));
    }
});

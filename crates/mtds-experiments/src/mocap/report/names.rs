//! What ways to forecast are called, and in which order figures take them.

/// The name for a reader.
pub(super) fn label(method: &str) -> &str {
    match method {
        "mtds" => "MTDS",
        "mtds-code" => "MTDS, code alone",
        "gru-open" => "GRU, open loop",
        "gru2-open" => "GRU, 2 layers, open loop",
        "gru-closed" => "GRU, closed loop",
        "gru2-closed" => "GRU, 2 layers, closed loop",
        "gru-direct" => "GRU, open loop, not residual",
        "gru-fed" => "GRU, open loop, fed its predictions",
        "gru-inputs" => "GRU of the inputs",
        "gru-inputs-seed" => "GRU of the inputs + seed",
        "gru-styles" => "GRU per style, open loop",
        "training-mean" => "training mean",
        "last-frame" => "last frame",
        "seed-mean" => "mean of the seed",
        "harmonics" => "harmonics of the phase + seed",
        other => other,
    }
}

/// Those that figures show: as many as there are colours.
pub(super) const DRAWN: [&str; 6] =
    ["mtds", "mtds-code", "gru-open", "gru-inputs-seed", "harmonics", "gru-closed"];

/// Those of the first experiment's figure.
pub(super) const DRAWN_BY_SHARE: [&str; 6] =
    ["mtds", "mtds-code", "gru-open", "gru-inputs-seed", "gru-styles", "gru-closed"];

/// A share of the data in per cent.
pub(super) fn share(divisor: usize) -> String {
    let percent = 100.0 / divisor as f64;
    if percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

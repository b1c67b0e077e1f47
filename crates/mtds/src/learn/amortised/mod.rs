//! Amortised inference: a network that reads a sequence and says what it believes of its code.
//!
//! ```text
//! r_t = [y_t with 0 where missing | observed or not | u_t]                       2p + m numbers, model units
//! h→ = GRU(r_1 … r_T)      h← = GRU(r_T … r_1)      h̄ = mean over t of [h→_t | h←_t]
//! [μ | a] = W h̄ + b        ρ = log σ = 8 tanh(a / 8)
//! ```
//! States lie in (−1, 1), so that μ and ρ are finite for every sequence; the bound on ρ is far outside what a posterior
//! under a standard normal prior takes. It is learned together with the model by
//! [`VariationalObjective::amortised`](super::VariationalObjective::amortised) and then is a quick posterior:
//! [`System::infer_amortised`](crate::system::System::infer_amortised).

mod beliefs;
mod infer;
mod network;

pub(crate) use beliefs::NetworkBeliefs;
pub use infer::LearnedNetwork;
pub use network::InferenceNetwork;

#[cfg(test)]
mod tests;

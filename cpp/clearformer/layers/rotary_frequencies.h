// Frequencies of a rotary embedding: the radians per position f_i of pair i, and how they are
// scaled for contexts longer than in training ("rope_scaling").
//   none          f_i = θ^(-2i/r)
//   linear        f_i / s
//   dynamic       θ becomes θ·(s·L/N - (s - 1))^(r/(r-2)) for a length L > N; with α (Hunyuan)
//                 θ·α^(r/(r-2)) up to N
//   llama3        f_i / s for wavelengths above N/low_freq_factor, f_i below N/high_freq_factor,
//                 interpolated between
//   yarn          f_i for pairs with beta_fast rotations or more within N, f_i / s for those with
//                 beta_slow or fewer, interpolated by i between; attention factor 0.1·ln s + 1
//   longrope      f_i / λ_i, one λ for lengths up to N, another beyond; attention factor
//                 sqrt(1 + ln s / ln N)
//   proportional  θ^(-2i/d) / s for i < r/2 and 0 for the other pairs of the whole head
// Sources: Su et al. 2021, arXiv 2104.09864; Peng et al. 2023, arXiv 2309.00071 (yarn); Ding et al.
// 2024, arXiv 2402.13753 (longrope); transformers' rope_type of the same names.
// Legend: d head size, r rotated dimensions, θ base, s factor, N original_max_positions, L length.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace clearformer {

/// How the frequencies are scaled for sequences longer than in training.
struct RotaryScaling {
  enum class Kind { none, linear, dynamic, llama3, yarn, longrope, proportional };
  Kind kind = Kind::none;
  double factor = 1.0;
  double original_max_positions = 8192.0;  // dynamic, llama3, yarn, longrope
  double alpha = 1.0;                      // dynamic: α
  double low_freq_factor = 1.0;            // llama3
  double high_freq_factor = 4.0;           // llama3
  double beta_fast = 32.0;                 // yarn
  double beta_slow = 1.0;                  // yarn
  bool truncate = true;                    // yarn: the interpolation starts and ends at whole pairs
  // yarn: both > 0: attention factor (0.1·mscale·ln s + 1) / (0.1·mscale_all_dim·ln s + 1)
  double mscale = 0.0;
  double mscale_all_dim = 0.0;
  std::vector<double> short_factors = {};       // longrope: λ up to N, one per pair
  std::vector<double> long_factors = {};        // longrope: λ beyond N
  std::optional<double> attention_factor = {};  // yarn, longrope; none: their formula
};

/// How the elements of a head vector are paired. The elements from r on are not rotated.
enum class RotaryLayout {
  halves,       // (x_i, x_{i + r/2}): Hugging Face checkpoints
  interleaved,  // (x_{2i}, x_{2i + 1}): the paper, GPT-J
};

/// The rotated elements of a head vector and their frequencies.
struct RotaryConfig {
  std::size_t d_head = 0;
  std::size_t rotary_dim = 0;  // r, even; 0: all of d_head
  double base = 10000.0;
  RotaryLayout layout = RotaryLayout::halves;
  RotaryScaling scaling = {};
  bool backwards = false;  // by the negative angles (nanochat)
};

/// The frequency of each pair.
struct RotaryFrequencies {
  std::vector<double> radians;    // per position, one per pair
  double attention_factor = 1.0;  // multiplies every cosine and sine
};

/// Throws invalid_argument for a config that breaks a rule. Allocates nothing of the config's sizes,
/// which may be absurd until weights have confirmed them.
void check_rotary(const RotaryConfig& config);

/// The frequencies for a sequence of `length` positions, on which dynamic and longrope depend.
/// Throws as check_rotary.
RotaryFrequencies rotary_frequencies(const RotaryConfig& config, std::size_t length);

/// Whether the frequencies differ between sequences of at most N positions and longer ones.
bool depends_on_length(const RotaryScaling& scaling);

}  // namespace clearformer

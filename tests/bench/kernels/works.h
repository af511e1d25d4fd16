// The works that can be timed, by name: peak rates and kernels.
#pragma once

#include <cstddef>
#include <string>

namespace clearformer::bench {

struct WorkSize {
  std::size_t m = 1, k = 1, n = 1;
};

/// All names, separated by spaces; a work is identified by its index among them.
const std::string& work_names();

/// Seconds for `repetitions` runs. Peak rates do as many operations as a product of this size
/// ("peak_stream": read as many bytes as its fp32 weight has). Kernels: "matmul" (m, k) · (k, n);
/// "attention", "attention_causal": m heads, k wide, n positions. The data of a run is created beforehand.
double seconds_of(std::size_t work, const WorkSize& size, std::size_t repetitions);

}  // namespace clearformer::bench

// The machine's peak rates: loops that use registers only, and one that only reads memory.
#pragma once

#include <cstddef>
#include <string>

namespace clearformer::bench {

/// A peak rate's name and `run(count)`: executes at least `count` operations and returns how many they were
/// (a multiply and an add are two); for "peak_stream" `count` and the result are bytes.
struct Peak {
  const char* name;
  double (*run)(double count);
};

/// The peak rates for the instruction set of this process's kernels.
struct Peaks {
  const Peak* first;
  std::size_t count;
};
Peaks peaks_of_selected_target();

/// Keeps a loop's result from being optimised away.
void keep(double value);

}  // namespace clearformer::bench

// What the machine can do at most: loops that touch nothing but registers, and one that only reads.
#pragma once

#include <cstddef>
#include <string>

namespace clearformer::bench {

/// A limit's name and `run(count)`: does `count` operations at least and says how many they were
/// (a multiply and an add are two); for "peak_stream" `count` and the result are bytes.
struct Peak {
  const char* name;
  double (*run)(double count);
};

/// The limits of the instruction set that the kernels of this process run on.
struct Peaks {
  const Peak* first;
  std::size_t count;
};
Peaks peaks_of_selected_target();

/// Keeps what a loop computed from being optimised away.
void keep(double value);

}  // namespace clearformer::bench

// WeightRows: the numbers of a weight as rows of floats, whatever their format and their layout in memory.
#pragma once

#include <cstddef>

namespace clearformer {

enum class MatrixFormat;

/// Where the numbers are that a layer computes with: the identity of a weight, however many names it has.
struct WeightPlace {
  const void* numbers = nullptr;  // the first of the layer's weight
  std::size_t first = 0;          // of the rows' numbers among those
  std::size_t count = 0;          // of the layer's weight: elements
  bool panels = false;            // packed for matrix products
};

/// Rows (outputs) of floats (inputs) that a layer holds: as they are in the file, rounded, or packed into panels.
class WeightRows {
 public:
  virtual ~WeightRows() = default;

  virtual MatrixFormat format() const = 0;
  virtual std::size_t outputs() const = 0;
  virtual std::size_t inputs() const = 0;
  /// Bytes in memory.
  virtual std::size_t bytes() const = 0;
  virtual WeightPlace place() const = 0;
  /// Widens a row to floats; those of q8 and q4 are rotated back.
  virtual void copy_row(std::size_t output, float* to) const = 0;
  /// Stores a row, rounded to the format. Rows from copy_row() keep their bits, except in q8 and q4.
  /// Allocates nothing.
  virtual void set_row(std::size_t output, const float* row) = 0;

 protected:
  WeightRows() = default;
  WeightRows(WeightRows&&) = default;
  WeightRows& operator=(WeightRows&&) = default;
};

}  // namespace clearformer

#include "support/closeness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace clearformer::test {

namespace {

// "[1, 0, 4]": the indices of element `index` of a tensor of this shape.
std::string place_in(const Shape& shape, std::size_t index) {
  std::string text = "]";
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    text = concat(axis == 0 ? "" : ", ", index % shape[axis]) + text;
    index /= shape[axis];
  }
  return "[" + text;
}

// Error divided by bound; 0 if equal, infinite if no bound could allow it.
double excess(double actual, double expected, double bound) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0.0;
  const double error = std::abs(actual - expected);
  if (!std::isfinite(error) || bound == 0.0) return std::numeric_limits<double>::infinity();
  return error / bound;
}

bool same_shape(const std::string& what, const Shape& actual, const Shape& expected, Place place) {
  if (actual == expected) return true;
  ADD_FAILURE_AT(place.file, place.line)
      << what << ": shape " << actual.text() << ", expected " << expected.text();
  return false;
}

std::string bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  std::ostringstream text;
  text.precision(9);
  text << value << " (0x" << std::hex << bits << ")";
  return text.str();
}

}  // namespace

Numbers::Numbers(TensorView tensor) : shape(tensor.shape()) {
  values.assign(tensor.f32(), tensor.f32() + tensor.elements());
}
Numbers::Numbers(const Tensor& tensor) : Numbers(tensor.view()) {}
Numbers::Numbers(const std::vector<float>& list)
    : shape{list.size()}, values(list.begin(), list.end()) {}
Numbers::Numbers(const std::vector<double>& list) : shape{list.size()}, values(list) {}

void expect_close(const std::string& what, const Numbers& actual, const Numbers& expected,
                  Bound bound, Place place) {
  double largest = 0.0;
  for (const double value : expected.values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  std::vector<double> bounds;
  for (const double value : expected.values) {
    const double size = std::isfinite(value) ? std::abs(value) : 0.0;
    bounds.push_back(bound.absolute + bound.relative * size + bound.of_largest * largest);
  }
  expect_close(what, actual, expected, bounds, place);
}

void expect_close(const std::string& what, const Numbers& actual, const Numbers& expected,
                  const std::vector<double>& bounds, Place place) {
  if (!same_shape(what, actual.shape, expected.shape, place)) return;
  std::size_t worst = 0, failures = 0;
  double most = 0.0;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double here = excess(actual.values[i], expected.values[i], bounds[i]);
    if (here > 1.0) ++failures;
    if (here > most) {
      most = here;
      worst = i;
    }
  }
  if (failures == 0) return;
  std::ostringstream text;
  text.precision(9);
  text << what << " " << expected.shape.text() << ": " << failures << " of "
       << expected.values.size() << " elements are off; worst at "
       << place_in(expected.shape, worst) << ": expected " << expected.values[worst] << ", got "
       << actual.values[worst] << ", error " << actual.values[worst] - expected.values[worst]
       << " is " << most << " times the bound " << bounds[worst];
  ADD_FAILURE_AT(place.file, place.line) << text.str();
}

void expect_same_bits(const std::string& what, TensorView actual, TensorView expected,
                      Place place) {
  if (!same_shape(what, actual.shape(), expected.shape(), place)) return;
  const float *left = actual.f32(), *right = expected.f32();
  for (std::size_t i = 0; i < expected.elements(); ++i) {
    if (std::memcmp(left + i, right + i, sizeof(float)) == 0) continue;
    ADD_FAILURE_AT(place.file, place.line)
        << what << ": not the same bits at " << place_in(expected.shape(), i) << ": expected "
        << bits_of(right[i]) << ", got " << bits_of(left[i]);
    return;
  }
}

void expect_same_bits(const std::string& what, const std::vector<float>& actual,
                      const std::vector<float>& expected, Place place) {
  expect_same_bits(what, TensorView(actual.data(), DType::f32, {actual.size()}),
                   TensorView(expected.data(), DType::f32, {expected.size()}), place);
}

}  // namespace clearformer::test

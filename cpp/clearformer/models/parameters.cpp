#include "clearformer/models/parameters.h"

#include <algorithm>
#include <cmath>

#include "clearformer/layers/low_rank.h"

namespace clearformer {

namespace {

using Of = ParameterView::Axis::Of;

// A row or column of a weight, and the offset of its elements in the tensor that is read or written.
struct Line {
  std::size_t at, offset;
};

Region region_of(const ParameterView& view, const Region& asked) {
  const std::size_t rank = view.shape.rank();
  Region region = asked;
  if (asked.whole()) {
    region.size = view.shape;
    region.start = Shape();
    for (std::size_t axis = 0; axis < rank; ++axis) region.start.append(0);
  }
  bool inside = region.size.rank() == rank && region.start.rank() == rank;
  for (std::size_t axis = 0; inside && axis < rank; ++axis) {
    const std::size_t extent = view.shape[axis];
    inside = region.start[axis] <= extent && region.size[axis] <= extent - region.start[axis];
  }
  if (!inside) {
    fail(ErrorCode::invalid_argument, "parameter \"", view.name, "\" of shape ", view.shape.text(),
         ": no region of shape ", region.size.text(), " at ", region.start.text());
  }
  return region;
}

// The rows (or columns) of a piece's weight within a region.
std::vector<Line> lines_of(const ParameterView::Piece& piece, const Region& region, Of of) {
  std::vector<Line> lines{{of == Of::rows ? piece.first_row : 0, 0}};
  std::size_t stride = region.size.elements();
  for (std::size_t i = 0; i < piece.axes.size(); ++i) {
    const ParameterView::Axis& axis = piece.axes[i];
    if (region.size[i] == 0) return {};
    stride /= region.size[i];
    if (axis.of != of) continue;
    const std::size_t start = region.start[i];
    const std::size_t end = std::min(axis.end, start + region.size[i]);
    std::vector<Line> next;
    for (const Line& line : lines) {
      for (std::size_t at = std::max(axis.first, start); at < end; ++at) {
        next.push_back(
            {line.at + (at - axis.first) * axis.step, line.offset + (at - start) * stride});
      }
    }
    lines = std::move(next);
  }
  return lines;
}

// The numbers of a view's weights in a region, without scale and shift. All memory is allocated at first: nothing that is
// read or written fails half-way.
class Numbers {
 public:
  Numbers(const ParameterView& view, const Region& region) : with_updates_(view.with_updates) {
    std::size_t longest = 0;
    for (const ParameterView::Piece& piece : view.pieces) {
      parts_.push_back({piece.parameter, lines_of(piece, region, Of::rows),
                        lines_of(piece, region, Of::columns)});
      longest = std::max(longest, piece.parameter->rows->inputs());
    }
    row_.resize(longest);
  }

  void read(float* to) {
    for_rows([&](const Part& part, const Line& row) {
      const auto& updates = part.weight->updates;
      if (with_updates_ && updates != nullptr) updates->add_row(row.at, row_.data());
      for (const Line& column : part.columns) to[row.offset + column.offset] = row_[column.at];
    });
  }
  void write(const float* from) {
    for_rows([&](const Part& part, const Line& row) {
      for (const Line& column : part.columns) row_[column.at] = from[row.offset + column.offset];
      part.weight->rows->set_row(row.at, row_.data());
    });
  }

 private:
  struct Part {
    const Parameter* weight;
    std::vector<Line> rows, columns;
  };
  // Calls visit(part, row) for each row of a weight in the region, which is in row_.
  template <class Visit>
  void for_rows(const Visit& visit) {
    for (const Part& part : parts_) {
      if (part.columns.empty()) continue;
      for (const Line& row : part.rows) {
        part.weight->rows->copy_row(row.at, row_.data());
        visit(part, row);
      }
    }
  }

  std::vector<Part> parts_;
  std::vector<float> row_;
  bool with_updates_;
};

void check_values(const ParameterView& view, const ParameterEdit& edit, const Shape& shape) {
  const auto expect = [&](const char* what, const TensorView& given, const Shape& expected) {
    if (given.shape() == expected) return;
    fail(ErrorCode::shape_mismatch, "parameter \"", view.name, "\": ", what, " of shape ",
         given.shape().text(), ", expected ", expected.text());
  };
  if (edit.op != ParameterEdit::Op::rank_one) {
    if (edit.value.elements() != 1) expect("a value", edit.value, shape);
    return;
  }
  if (shape.rank() < 2) {
    fail(ErrorCode::invalid_argument, "parameter \"", view.name, "\" of shape ", shape.text(),
         " is no matrix, to which a rank-one matrix could be added");
  }
  Shape left, right;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (axis + 1 != shape.rank()) left.append(shape[axis]);
    if (axis + 2 != shape.rank()) right.append(shape[axis]);
  }
  expect("a left vector", edit.value, left);
  expect("a right vector", edit.right, right);
}

// The edited number at `at` of a region whose last two axes are m and n.
float edited(const ParameterEdit& edit, float before, std::size_t at, const Shape& shape) {
  const float* value = edit.value.f32();
  if (edit.op == ParameterEdit::Op::rank_one) {
    const std::size_t n = shape.back(0), m = shape.back(1);
    return before + value[at / n] * edit.right.f32()[at / (m * n) * n + at % n];
  }
  const float given = value[edit.value.elements() == 1 ? 0 : at];
  switch (edit.op) {
    case ParameterEdit::Op::add: return before + given;
    case ParameterEdit::Op::scale: return before * given;
    default: return given;
  }
}

void expect_writable(const ParameterView& view) {
  if (view.pieces.empty()) {
    fail(ErrorCode::unsupported, "parameter \"", view.name,
         "\": this model has none; it reads as zeros");
  }
  const MatrixFormat format = view.pieces.front().parameter->rows->format();
  if (!is_quantized(format)) return;
  fail(ErrorCode::unsupported, "parameter \"", view.name, "\": weights in ", to_string(format),
       " are not edited; load the model with dtype 'fp32' or 'fp16'");
}

void expect_representable(const ParameterView& view, const Tensor& values) {
  constexpr float kLargestF16 = 65504.0f;
  if (view.pieces.front().parameter->rows->format() != MatrixFormat::f16) return;
  for (std::size_t i = 0; i < values.elements(); ++i) {
    if (std::fabs(values.f32()[i]) <= kLargestF16) continue;
    fail(ErrorCode::invalid_argument, "parameter \"", view.name, "\": ", values.f32()[i],
         " is no number of fp16; load the model with dtype 'fp32'");
  }
}

// A part of a weight whose outputs follow each other in the checkpoint's tensor.
ParameterView::Piece stored_piece(const Parameter& parameter, std::size_t run) {
  const Shape& shape = parameter.stored_shape;
  const RowRuns& places = parameter.places;
  std::size_t first = places.first + run * places.stride, outputs = parameter.turned() ? 1 : 0;
  ParameterView::Piece piece{&parameter};
  piece.first_row = run * places.count;
  std::size_t step = parameter.rows->inputs();
  if (parameter.stored.experts != 0) {
    const std::size_t expert = parameter.stored.expert;
    piece.axes.push_back({Of::rows, 1, expert, expert + 1});
    first -= expert * shape[1];
    outputs = 1;
  }
  for (std::size_t axis = piece.axes.size(); axis < shape.rank(); ++axis) {
    if (axis == outputs) {
      piece.axes.push_back({Of::rows, 1, first, first + places.count});
    } else {
      step /= std::max<std::size_t>(1, shape[axis]);
      piece.axes.push_back({Of::columns, step, 0, shape[axis]});
    }
  }
  return piece;
}

}  // namespace

Parameters::Parameters(std::vector<Parameter> all) : all_(std::move(all)) {
  std::erase_if(all_, [](const Parameter& parameter) { return parameter.rows == nullptr; });
}

std::vector<Parameters::Listed> Parameters::list() const {
  std::vector<Listed> listed;
  for (const Parameter& parameter : all_) {
    const std::string& name = parameter.stored.name;
    const auto known = std::find_if(listed.begin(), listed.end(),
                                    [&](const Listed& other) { return other.name == name; });
    if (known != listed.end()) {
      known->bytes += parameter.rows->bytes();
    } else {
      listed.push_back({name, parameter.path, parameter.stored_shape, parameter.rows->format(),
                        parameter.rows->bytes(),
                        parameter.is_adapted() ? parameter.rows->inputs() : 0});
    }
  }
  return listed;
}

std::optional<ParameterView> Parameters::stored(std::string_view name) const {
  ParameterView view;
  for (const Parameter& parameter : all_) {
    if (parameter.stored.name != name) continue;
    view.name = name;
    view.shape = parameter.stored_shape;
    for (std::size_t run = 0; run < parameter.places.runs; ++run) {
      view.pieces.push_back(stored_piece(parameter, run));
    }
  }
  if (view.pieces.empty()) return std::nullopt;
  return view;
}

const Parameter* Parameters::find(std::string_view path) const {
  for (const Parameter& parameter : all_) {
    if (parameter.path == path) return &parameter;
  }
  return nullptr;
}

Tensor Parameters::read(const ParameterView& view, const Region& asked) {
  const Region region = region_of(view, asked);
  if (view.pieces.empty()) return Tensor::zeros(region.size);
  Tensor out(region.size);
  Numbers(view, region).read(out.f32());
  const auto [scale, shift] = std::pair(view.pieces.front().scale, view.pieces.front().shift);
  for (std::size_t i = 0; (scale != 1.0f || shift != 0.0f) && i < out.elements(); ++i) {
    out.f32()[i] = out.f32()[i] * scale + shift;
  }
  return out;
}

void Parameters::edit(const ParameterView& view, const ParameterEdit& edit) {
  expect_writable(view);
  const Region region = region_of(view, edit.region);
  check_values(view, edit, region.size);
  Numbers numbers(view, region);
  Tensor before(region.size);
  numbers.read(before.f32());
  Tensor after = before.clone();
  const auto [scale, shift] = std::pair(view.pieces.front().scale, view.pieces.front().shift);
  const bool plain = scale == 1.0f && shift == 0.0f;
  for (std::size_t i = 0; i < after.elements(); ++i) {
    float& number = after.f32()[i];
    number = edited(edit, plain ? number : number * scale + shift, i, region.size);
    if (!plain) number = (number - shift) / scale;
  }
  expect_representable(view, after);
  edits_.push_back({view, region, std::move(before)});
  numbers.write(after.f32());
}

void Parameters::undo(std::size_t count) {
  if (count > edits_.size()) {
    fail(ErrorCode::invalid_argument, "undo of ", count, " edits: ", edits_.size(),
         " are in force");
  }
  std::vector<Numbers> last;
  for (std::size_t i = 0; i < count; ++i) {
    const Edited& edit = edits_[edits_.size() - 1 - i];
    last.emplace_back(edit.view, edit.region);
  }
  for (Numbers& numbers : last) {
    numbers.write(edits_.back().before.f32());
    edits_.pop_back();
  }
}

std::size_t Parameters::bytes_for_undo() const {
  std::size_t bytes = 0;
  for (const Edited& edit : edits_) bytes += edit.before.view().bytes();
  return bytes;
}

}  // namespace clearformer

#include "works.h"

#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/layers/attention.h"
#include "peaks.h"

namespace clearformer::bench {

namespace {

volatile double kept;

Tensor numbers(Shape shape, double phase) {
  Tensor x(shape);
  for (std::size_t i = 0; i < x.elements(); ++i) {
    x.f32()[i] = static_cast<float>(std::sin(phase + 1.7 * static_cast<double>(i % 100'003)));
  }
  return x;
}

using Run = std::function<void()>;
using Maker = std::function<Run(const WorkSize&)>;

Run product(kernels::PackedMatrix weight, const WorkSize& size) {
  struct Operands {
    kernels::PackedMatrix weight;
    Tensor x, y;
  };
  auto all = std::make_shared<Operands>(
      Operands{std::move(weight), numbers({size.m, size.k}, 0.0), Tensor({size.m, size.n})});
  return [all, rows = size.m] { all->weight.multiply(all->x.f32(), all->y.f32(), rows, {}); };
}

Run attend(const WorkSize& size, bool causal) {
  struct Operands {
    Tensor queries, keys, values, output;
    Arena workspace;
  };
  const Shape shape{1, size.n, size.m, size.k};  // (B, T, H, d)
  auto all = std::make_shared<Operands>();
  all->queries = numbers(shape, 0.0);
  all->keys = numbers(shape, 1.0);
  all->values = numbers(shape, 2.0);
  all->output = Tensor(shape);
  AttentionOptions options;
  options.score.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(size.k)));
  const Mask mask = causal ? Mask::causal() : Mask();
  return [all, options, mask] {
    const Arena::Frame frame(all->workspace);
    const PackedKeyValues packed =
        packed_in(all->workspace, positions_first(all->keys), positions_first(all->values));
    attention(positions_first(all->queries), packed, mask, options,
              positions_first_mutable(all->output), Context{all->workspace, TraceScope()});
  };
}

struct Work {
  std::string name;
  Maker make;
};

void add_narrow_products(std::vector<Work>& works) {
  for (const char* format : {"fp16", "q8", "q4"}) {
    works.push_back({std::string("matmul_") + format, [format](const WorkSize& size) {
                       const Tensor rows = numbers({size.n, size.k}, 1.0);
                       Matrix rounded = Matrix::of(rows, *matrix_format_named(format));
                       return product(kernels::PackedMatrix(std::move(rounded)), size);
                     }});
  }
}

const std::vector<Work>& works() {
  static const std::vector<Work> all = [] {
    std::vector<Work> made;
    const Peaks peaks = peaks_of_selected_target();
    for (std::size_t i = 0; i < peaks.count; ++i) {
      const Peak peak = peaks.first[i];
      made.push_back({peak.name, [peak](const WorkSize& size) {
                        const auto area = static_cast<double>(size.k * size.n);
                        const bool stream = std::string(peak.name) == "peak_stream";
                        const double count =
                            area * (stream ? sizeof(float) : 2.0 * static_cast<double>(size.m));
                        return [peak, count] { keep(peak.run(count)); };
                      }});
    }
    made.push_back({"matmul", [](const WorkSize& size) {
                      return product(kernels::PackedMatrix(numbers({size.n, size.k}, 1.0)), size);
                    }});
    add_narrow_products(made);
    made.push_back({"attention", [](const WorkSize& size) { return attend(size, false); }});
    made.push_back({"attention_causal", [](const WorkSize& size) { return attend(size, true); }});
    return made;
  }();
  return all;
}

/// The data of a work, cached between calls: creating it takes longer than running it.
const Run& prepared(std::size_t work, const WorkSize& size) {
  struct Kept {
    std::size_t work;
    WorkSize size;
    Run run;
  };
  static std::vector<Kept> all;
  constexpr std::size_t kMost = 8;
  for (const Kept& each : all) {
    const WorkSize& made = each.size;
    if (each.work == work && made.m == size.m && made.k == size.k && made.n == size.n)
      return each.run;
  }
  if (all.size() == kMost) all.erase(all.begin());
  all.push_back({work, size, works().at(work).make(size)});
  return all.back().run;
}

}  // namespace

void keep(double value) { kept = value; }

const std::string& work_names() {
  static const std::string names = [] {
    std::string joined;
    for (const Work& work : works()) joined += (joined.empty() ? "" : " ") + work.name;
    return joined;
  }();
  return names;
}

double seconds_of(std::size_t work, const WorkSize& size, std::size_t repetitions) {
  const Run& run = prepared(work, size);
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < repetitions; ++i) run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace clearformer::bench

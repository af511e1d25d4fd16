// How the time of self-attention grows with the sequence length n and the dimension d, compared with
// layers/complexity.h: O(n²·d). One head, no mask; keys and values are packed beforehand.
// For small d the n² exponentials of softmax, which are not multiply-adds, take a share that does not grow.
//   attention_growth [--benchmark_min_time=1 …]
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "clearformer/layers/attention.h"
#include "clearformer/layers/complexity.h"
#include "clearformer/simd/dispatch.h"

namespace clearformer {
namespace {

constexpr std::int64_t kFixedLength = 512, kFixedDimension = 64;

// Values of the size of normalised activations.
Tensor activations(std::size_t length, std::size_t d_model, double phase) {
  Tensor x({1, length, 1, d_model});
  for (std::size_t i = 0; i < x.elements(); ++i) {
    x.f32()[i] = static_cast<float>(std::sin(phase + 1.7 * static_cast<double>(i)));
  }
  return x;
}

void self_attention(benchmark::State& state, std::size_t length, std::size_t d_model) {
  const Tensor queries = activations(length, d_model, 0.0),
               keys = activations(length, d_model, 1.0);
  Tensor output(queries.shape());
  Arena store, workspace;
  const PackedKeyValues packed = packed_in(store, positions_first(keys), positions_first(queries));
  AttentionOptions options;
  options.score.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(d_model)));
  for ([[maybe_unused]] const auto step : state) {
    attention(positions_first(queries), packed, Mask(), options, positions_first_mutable(output),
              Context{workspace, TraceScope()});
    benchmark::DoNotOptimize(output.data());
  }
  const Complexity stated = complexity(LayerKind::self_attention, {length, d_model});
  state.counters["multiply_adds"] = static_cast<double>(stated.multiply_adds);
}

void by_length(benchmark::State& state) {
  self_attention(state, static_cast<std::size_t>(state.range(0)), kFixedDimension);
  state.SetComplexityN(state.range(0));
}
BENCHMARK(by_length)
    ->RangeMultiplier(2)
    ->Range(64, 2048)
    ->Unit(benchmark::kMicrosecond)
    ->Complexity(benchmark::oNSquared);

void by_dimension(benchmark::State& state) {
  self_attention(state, kFixedLength, static_cast<std::size_t>(state.range(0)));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(by_dimension)
    ->RangeMultiplier(2)
    ->Range(16, 512)
    ->Unit(benchmark::kMicrosecond)
    ->Complexity(benchmark::oN);

// After Google Benchmark's own lines: the growth of each step, measured and predicted.
class Growth : public benchmark::ConsoleReporter {
 public:
  Growth() : benchmark::ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const double seconds = run.GetAdjustedCPUTime() * 1e-6;  // the unit is microseconds
      measured_.push_back({run.benchmark_name(), run.run_name.function_name, seconds,
                           run.counters.at("multiply_adds")});
    }
  }

  void Finalize() override {
    const Complexity stated =
        complexity(LayerKind::self_attention, {kFixedLength, kFixedDimension});
    std::printf("\nself-attention states work %s; %s; growth from one line to the next:\n",
                std::string(stated.work).c_str(), simd::name_of(simd::selected()));
    std::printf("%-20s %12s %12s %16s\n", "", "measured x", "stated x", "multiply-adds/s");
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      const Line& line = measured_[i];
      std::printf("%-20s", line.name.c_str());
      if (i != 0 && measured_[i - 1].family == line.family) {
        std::printf(" %12.2f %12.2f", line.seconds / measured_[i - 1].seconds,
                    line.multiply_adds / measured_[i - 1].multiply_adds);
      } else {
        std::printf(" %12s %12s", "", "");
      }
      std::printf(" %16.3g\n", line.multiply_adds / line.seconds);
    }
  }

 private:
  struct Line {
    std::string name, family;
    double seconds, multiply_adds;
  };
  std::vector<Line> measured_;
};

}  // namespace
}  // namespace clearformer

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  clearformer::Growth growth;
  benchmark::RunSpecifiedBenchmarks(&growth);
  benchmark::Shutdown();
}

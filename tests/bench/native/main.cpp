// The native contender: reads one command per line, writes one line of JSON for each.
//   names                              {"names": "peak_f32 …", "simd": "avx512"}
//   work INDEX M K N REPETITIONS       {"seconds": …}
//   model TASK FOLDER DTYPE THREADS BATCH LENGTH PAST      {"loaded": true}
//   run REPETITIONS                    {"seconds": …}: of the last loaded model
//   sample                             {"count": …, "picked": […]}
// A command that fails writes {"error": "…"}.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "clearformer/simd/dispatch.h"
#include "model_run.h"
#include "works.h"

namespace clearformer::bench {
namespace {

std::unique_ptr<ModelRun> model;

void answer_seconds(double seconds) { std::printf("{\"seconds\": %.9g}\n", seconds); }

void run_work(std::istream& words) {
  std::size_t index = 0, repetitions = 0;
  WorkSize size;
  words >> index >> size.m >> size.k >> size.n >> repetitions;
  answer_seconds(seconds_of(index, size, repetitions));
}

void load(std::istream& words) {
  ModelWork work;
  words >> work.task >> work.folder >> work.dtype >> work.threads >> work.batch >> work.length >>
      work.past;
  model.reset();
  model = std::make_unique<ModelRun>(work);
  std::printf("{\"loaded\": true}\n");
}

void run_model(std::istream& words) {
  std::size_t repetitions = 1;
  words >> repetitions;
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < repetitions; ++i) model->run();
  answer_seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

void sample() {
  std::size_t count = 0;
  const std::vector<float> picked = model->sample(count);
  std::printf("{\"count\": %zu, \"picked\": [", count);
  for (std::size_t i = 0; i < picked.size(); ++i) std::printf(i ? ",%.9g" : "%.9g", picked[i]);
  std::printf("]}\n");
}

void answer(const std::string& line) {
  std::istringstream words(line);
  std::string command;
  words >> command;
  if (command == "names") {
    std::printf("{\"names\": \"%s\", \"simd\": \"%s\"}\n", work_names().c_str(),
                simd::name_of(simd::selected()));
  } else if (command == "work") {
    run_work(words);
  } else if (command == "model") {
    load(words);
  } else if (model == nullptr) {
    throw std::runtime_error("no model is loaded");
  } else if (command == "run") {
    run_model(words);
  } else {
    sample();
  }
}

}  // namespace
}  // namespace clearformer::bench

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      clearformer::bench::answer(line);
    } catch (const std::exception& error) {
      std::string text = error.what();
      for (char& each : text) each = each == '"' || each == '\\' || each == '\n' ? '\'' : each;
      std::printf("{\"error\": \"%s\"}\n", text.c_str());
    }
    std::fflush(stdout);
  }
}

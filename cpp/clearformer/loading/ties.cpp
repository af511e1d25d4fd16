#include "clearformer/loading/ties.h"

namespace clearformer {

namespace {

constexpr Tie kOutput{"unembed.weight", "embed.weight"};
constexpr Tie kOwnOutput{"unembed.weight", "decoder.embed.weight"};
constexpr Tie kDecoderWords{"decoder.embed.weight", "embed.weight"};
constexpr Tie kEncoderWords{"encoder.embed.weight", "embed.weight"};
constexpr Tie kMaskedOutput{"mlm.out.weight", "embed.weight"};
// BERT stores its bias outside the output layer as well; the one in the layer is the one that is used.
constexpr Tie kMaskedBias{"mlm.bias", "mlm.out.bias"};

bool is_output(const Tie& tie) {
  return tie.tensor == kOutput.tensor || tie.tensor == kMaskedOutput.tensor;
}

// Some transformers 4 files without tied output layer still share one embedding table between both stacks.
bool has_one_table(const Weights& weights, const NameMap& names) {
  const auto has = [&](std::string_view path) { return weights.contains(names.stored(path).name); };
  return has(kDecoderWords.source) && !has(kDecoderWords.tensor) && !has(kEncoderWords.tensor);
}

}  // namespace

std::vector<Tie> ties_of(const ModelConfig& config) {
  const bool words_out = config.task != Task::base;
  std::vector<Tie> ties;
  switch (config.kind) {
    case ModelKind::encoder_only:
      if (config.task != Task::masked_lm) {
        if (config.tied) ties.push_back(kEncoderWords);  // of T5's encoder alone
        break;
      }
      if (config.tied) ties.push_back(kMaskedOutput);
      ties.push_back(kMaskedBias);
      break;
    case ModelKind::decoder_only:
      if (config.tied && words_out && !config.head) ties.push_back(kOutput);
      break;
    case ModelKind::encoder_decoder:
      if (!config.tied) break;
      if (words_out) ties.push_back(config.own_target_embedding ? kOwnOutput : kOutput);
      if (!config.own_target_embedding) ties.insert(ties.end(), {kDecoderWords, kEncoderWords});
      break;
    default: break;
  }
  return ties;
}

SettledTies settle_ties(ModelConfig& config, Weights& weights, const NameMap& names) {
  if (!config.tied && config.kind == ModelKind::encoder_decoder && has_one_table(weights, names)) {
    config.own_target_embedding = false;
  }
  const bool said_tied = config.tied;
  SettledTies settled;
  for (const Tie& tie : ties_of(config)) {
    const std::string tensor = names.stored(tie.tensor).name;
    const std::string source = names.stored(tie.source).name;
    if (tensor == source || !weights.contains(tensor)) continue;
    if (!weights.contains(source)) {
      weights.rename(tensor, source);
      settled.same.push_back(tensor);
    } else if (tie.tensor == kMaskedBias.tensor &&
               !(weights.hold_data() ? config.tied : said_tied)) {
      continue;  // an independent tensor that nothing reads
    } else if ((weights.hold_data() || !is_output(tie)) && weights.same(tensor, source)) {
      weights.forget(tensor);
      settled.same.push_back(source);
      settled.same.push_back(tensor);
    } else if (is_output(tie)) {
      config.tied = false;  // they differ, or may do so
      settled.untied = tensor;
    } else if (tie.tensor != kMaskedBias.tensor) {
      fail(ErrorCode::unsupported, "weights: \"", tensor, "\" differs from \"", source,
           "\", which the config ties it to");
    }
  }
  return settled;
}

}  // namespace clearformer

#include "clearformer/generation/prompt.h"

#include <algorithm>

namespace clearformer {

namespace {

std::vector<TokenIds> rows_of(const char* name, const TensorView& ids) {
  const Shape& shape = ids.shape();
  if (shape.rank() != 2 || ids.elements() == 0) {
    fail(ErrorCode::shape_mismatch, "generate: ", name, " of shape ", shape.text(),
         ", expected [batch, tokens], neither of them 0");
  }
  std::vector<TokenIds> rows;
  for (std::size_t row = 0; row < shape[0]; ++row) {
    const std::int32_t* first = ids.as<std::int32_t>() + row * shape[1];
    rows.emplace_back(first, first + shape[1]);
  }
  return rows;
}

// The mask of the rows with `more` columns of ones prepended; empty if nothing is masked.
Tensor mask_of(const char* name, const TensorView& given, const Shape& rows, std::size_t more) {
  const Shape expected{rows[0], rows[1] - more};
  if (!(given.shape() == expected)) {
    fail(ErrorCode::shape_mismatch, "generate: ", name, " of shape ", given.shape().text(),
         ", the ids have ", expected.text());
  }
  const auto* flags = given.as<std::uint8_t>();
  Tensor mask(rows, DType::u8);
  auto* to = mask.mutable_view().as<std::uint8_t>();
  for (std::size_t row = 0; row < rows[0]; ++row) {
    if (flags[(row + 1) * expected[1] - 1] == 0) {
      fail(ErrorCode::invalid_argument, "generate: sequence ", row,
           " ends with padding; pad on the left");
    }
    to = std::fill_n(to, more, std::uint8_t{1});
    to = std::copy_n(flags + row * expected[1], expected[1], to);
  }
  const bool padded = std::find(flags, flags + given.elements(), 0) != flags + given.elements();
  return padded ? std::move(mask) : Tensor();
}

bool holds(const TokenIds& tokens, std::int32_t token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

// Upstream's heuristic (transformers 5.12, generation/utils.py): padding tokens are masked unless they are end tokens
// as well. Gives its warnings if the prompt contains such tokens.
void guess_mask(Prompt& prompt, const GenerationConfig& config) {
  const std::vector<TokenIds>& rows = prompt.tokens;
  const auto pad = config.pad_token_id;
  const auto padded = std::find_if(rows.begin(), rows.end(),
                                   [&](const TokenIds& row) { return pad && holds(row, *pad); });
  if (padded == rows.end()) return;
  const bool ambiguous = holds(config.eos_token_ids, *pad);
  bool right = false;
  Tensor mask({rows.size(), rows.front().size()}, DType::u8);
  auto* flag = mask.mutable_view().as<std::uint8_t>();
  for (const TokenIds& row : rows) {
    for (const std::int32_t token : row) *flag++ = token == *pad ? 0 : 1;
    right = right || row.back() == *pad;
  }
  if (!ambiguous) prompt.mask = std::move(mask);
  if (!ambiguous && !right) return;
  prompt.warning = {ambiguous ? "ambiguous_padding" : "right_padding",
                    concat("generate: without an attention_mask, pad_token_id ", *pad,
                           ambiguous ? ", also an end token, is read as text"
                                     : " at the end of a prompt is masked; pad on the left")};
}

Prompt decoder_only_prompt(const Model& model, const ModelInputs& inputs,
                           const GenerationConfig& config) {
  for (const InputName& name : kInputNames) {
    if (!(inputs.*name.member) || name.name == "input_ids" || name.name == "attention_mask") {
      continue;
    }
    fail(ErrorCode::unsupported, "generate: ", model.config().model_type, " takes no ", name.name);
  }
  Prompt prompt;
  if (inputs.input_ids) {
    prompt.tokens = rows_of("input_ids", *inputs.input_ids);
  } else if (config.bos_token_id) {
    prompt.tokens = {{*config.bos_token_id}};
  } else {
    fail(ErrorCode::invalid_argument, "generate: there are neither input_ids nor a bos_token_id");
  }
  prompt.encoder = prompt.tokens;
  const Shape shape{prompt.tokens.size(), prompt.tokens.front().size()};
  if (inputs.attention_mask) {
    prompt.mask = mask_of("attention_mask", *inputs.attention_mask, shape, 0);
  } else {
    guess_mask(prompt, config);
  }
  return prompt;
}

std::size_t batch_of(const ModelInputs& inputs) {
  for (const auto& input : {inputs.input_ids, inputs.input_features, inputs.decoder_input_ids}) {
    if (input && input->shape().rank() != 0 && input->dim(0) != 0) return input->dim(0);
  }
  fail(ErrorCode::invalid_argument, "generate: there is nothing for the encoder to read");
}

std::int32_t start_token(const Model& model, const GenerationConfig& config) {
  for (const auto& token : {config.decoder_start_token_id, model.config().decoder_start_token_id,
                            config.bos_token_id}) {
    if (token) return *token;
  }
  fail(ErrorCode::invalid_argument,
       "generate: there is neither a decoder_start_token_id nor a bos_token_id");
}

Prompt encoder_decoder_prompt(const Model& model, const ModelInputs& inputs,
                              const GenerationConfig& config) {
  Prompt prompt;
  if (inputs.input_ids) prompt.encoder = rows_of("input_ids", *inputs.input_ids);
  const std::int32_t start = start_token(model, config);
  if (!inputs.decoder_input_ids) {
    if (inputs.decoder_attention_mask) {
      fail(ErrorCode::invalid_argument, "generate: decoder_attention_mask needs decoder_input_ids");
    }
    for (std::size_t row = batch_of(inputs); row > 0; --row) prompt.tokens.push_back({start});
    return prompt;
  }
  prompt.tokens = rows_of("decoder_input_ids", *inputs.decoder_input_ids);
  if (prompt.tokens.size() != batch_of(inputs)) {
    fail(ErrorCode::shape_mismatch, "generate: the encoder reads ", batch_of(inputs),
         " sequences, decoder_input_ids have ", prompt.tokens.size());
  }
  // The start token is prepended if no row has it.
  const bool missing = !model.config().prompts_begin_themselves &&
                       std::all_of(prompt.tokens.begin(), prompt.tokens.end(),
                                   [&](const TokenIds& row) { return row.front() != start; });
  for (TokenIds& row : prompt.tokens) {
    if (missing) row.insert(row.begin(), start);
  }
  if (inputs.decoder_attention_mask) {
    prompt.mask = mask_of("decoder_attention_mask", *inputs.decoder_attention_mask,
                          {prompt.tokens.size(), prompt.tokens.front().size()}, missing ? 1 : 0);
  }
  return prompt;
}

}  // namespace

Prompt read_prompt(const Model& model, const ModelInputs& inputs, const GenerationConfig& config) {
  if (inputs.position_ids || inputs.decoder_position_ids) {
    fail(ErrorCode::unsupported, "generate: takes no position_ids, it counts positions itself");
  }
  if (inputs.decoder_inputs_embeds || inputs.residual || inputs.start_at_layer ||
      inputs.stop_at_layer || !inputs.logits_to_keep.empty() || inputs.interpolate_pos_encoding) {
    fail(ErrorCode::unsupported,
         "generate: takes no decoder_inputs_embeds, residual, start_at_layer, stop_at_layer, "
         "logits_to_keep and interpolate_pos_encoding");
  }
  if (model.config().kind == ModelKind::encoder_decoder) {
    return encoder_decoder_prompt(model, inputs, config);
  }
  return decoder_only_prompt(model, inputs, config);
}

Tensor positions_from(const Tensor& mask, std::size_t first, std::size_t prompt) {
  const std::size_t rows = mask.dim(0), length = mask.dim(1);
  Tensor positions({rows, length - first}, DType::i32);
  auto* position = positions.mutable_view().as<std::int32_t>();
  for (std::size_t row = 0; row < rows; ++row) {
    std::int32_t seen = 0, last = 0;
    for (std::size_t t = 0; t < length; ++t) {
      const std::int32_t token = mask.view().as<std::uint8_t>()[row * length + t] != 0 ? 1 : 0;
      last = t < prompt ? seen * token : last + 1;
      seen += token;
      if (t >= first) *position++ = last;
    }
  }
  return positions;
}

}  // namespace clearformer

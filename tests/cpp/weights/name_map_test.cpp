#include "clearformer/weights/name_map.h"

#include <gtest/gtest.h>

namespace clearformer::test {
namespace {

TEST(NameMap, WithoutRulesEveryNameStandsForItself) {
  EXPECT_EQ(NameMap().stored("blocks.0.attn.q_proj.weight").name, "blocks.0.attn.q_proj.weight");
  EXPECT_EQ(NameMap().stored("").name, "");
}

TEST(NameMap, RewritesRunsOfSegmentsWhereverTheyStand) {
  const NameMap map("blocks model.layers\nattn self_attn\nln_final norm");
  EXPECT_EQ(map.stored("blocks.11.attn.q_proj.weight").name,
            "model.layers.11.self_attn.q_proj.weight");
  EXPECT_EQ(map.stored("ln_final.weight").name, "norm.weight");
}

TEST(NameMap, MatchesWholeSegmentsOnly) {
  const NameMap map("attn self_attn\nln norm");
  EXPECT_EQ(map.stored("cross_attn.weight").name, "cross_attn.weight");
  EXPECT_EQ(map.stored("attention.weight").name, "attention.weight");
  EXPECT_EQ(map.stored("ln_final.weight").name, "ln_final.weight");
  EXPECT_EQ(map.stored("x.attn").name, "x.self_attn");
}

TEST(NameMap, TheFirstRuleThatFitsWins) {
  const NameMap map("mlp.up_proj fc1\nmlp feed_forward");
  EXPECT_EQ(map.stored("blocks.0.mlp.up_proj.weight").name, "blocks.0.fc1.weight");
  EXPECT_EQ(map.stored("blocks.0.mlp.down_proj.weight").name,
            "blocks.0.feed_forward.down_proj.weight");
}

TEST(NameMap, ARuleNeedsAllOfItsSegments) {
  const NameMap map("mlp.up_proj fc1\nmlp.*.scale scales.*");
  EXPECT_EQ(map.stored("blocks.0.mlp").name, "blocks.0.mlp");
  EXPECT_EQ(map.stored("mlp.up_projection").name, "mlp.up_projection");
  EXPECT_EQ(map.stored("mlp.gate").name, "mlp.gate");
  EXPECT_EQ(map.stored("mlp.gate.scaled").name, "mlp.gate.scaled");
  EXPECT_EQ(map.stored("mlp.gate.scale").name, "scales.gate");
}

TEST(NameMap, ARunAloneIsDropped) {
  const NameMap map("embed.tokens\nmlp");
  EXPECT_EQ(map.stored("embed.tokens.weight").name, "weight");
  EXPECT_EQ(map.stored("blocks.0.mlp.up_proj.weight").name, "blocks.0.up_proj.weight");
}

TEST(NameMap, ThePrefixComesFirst) {
  EXPECT_EQ(NameMap("ln norm", "model.").stored("ln.weight").name, "model.norm.weight");
}

TEST(NameMap, AStarStandsForOneSegment) {
  const NameMap map(R"(
encoder.*.ln2 encoder.block.*.layer.1.layer_norm
encoder encoder.layers
*.norm head.norm
)");
  EXPECT_EQ(map.stored("encoder.11.ln2.weight").name, "encoder.block.11.layer.1.layer_norm.weight");
  EXPECT_EQ(map.stored("encoder.11.ln1.weight").name, "encoder.layers.11.ln1.weight");
  EXPECT_EQ(map.stored("pooler.norm.bias").name, "head.norm.bias");
  EXPECT_EQ(map.stored("norm").name, "norm");  // the star needs a segment to match
}

TEST(NameMap, ASlashLeavesThePrefixOut) {
  const NameMap map("unembed /lm_head\nblocks h", "transformer.");
  EXPECT_EQ(map.stored("unembed.weight").name, "lm_head.weight");
  EXPECT_EQ(map.stored("blocks.0.ln1.bias").name, "transformer.h.0.ln1.bias");
}

TEST(NameMap, TellsPartsAndLayout) {
  const NameMap map(R"(
k_proj.weight in_proj_weight 1/3
up_proj.weight c_fc.weight turned
q_proj c_attn 0/3 turned
)");
  const StoredName key = map.stored("attn.k_proj.weight");
  EXPECT_EQ(key.name, "attn.in_proj_weight");
  EXPECT_EQ(key.part, 1u);
  EXPECT_EQ(key.parts, 3u);
  EXPECT_EQ(key.layout, Layout::out_in);
  EXPECT_EQ(key.groups, 1u);
  const StoredName up = map.stored("mlp.up_proj.weight");
  EXPECT_EQ(up.name, "mlp.c_fc.weight");
  EXPECT_EQ(up.parts, 1u);
  EXPECT_EQ(up.layout, Layout::in_out);
  const StoredName query = map.stored("attn.q_proj.weight");
  EXPECT_EQ(query.name, "attn.c_attn.weight");
  EXPECT_EQ(query.part, 0u);
  EXPECT_EQ(query.parts, 3u);
  EXPECT_EQ(query.layout, Layout::in_out);
}

TEST(NameMap, GroupsAreANumberOrThatOfTheKeyValueHeads) {
  NameMap map("q_proj qkv 0/3/4\nk_proj qkv 1/3/n");
  map.set_key_value_heads(6);
  EXPECT_EQ(map.stored("q_proj.bias").groups, 4u);
  EXPECT_EQ(map.stored("k_proj.bias").groups, 6u);
}

TEST(NameMap, ExpertsAreOneByOneOrInAStack) {
  NameMap one_by_one("experts.*.up_proj experts.*.w3"),
      stacked("experts.*.up_proj.weight gate_up 1/2/e");
  EXPECT_EQ(one_by_one.stored("mlp.experts.12.up_proj.weight").name, "mlp.experts.12.w3.weight");
  EXPECT_EQ(one_by_one.stored("mlp.experts.12.up_proj.weight").experts, 0u);
  stacked.set_experts(64);
  const StoredName up = stacked.stored("mlp.experts.12.up_proj.weight");
  EXPECT_EQ(up.name, "mlp.gate_up");
  EXPECT_EQ(up.part, 1u);
  EXPECT_EQ(up.parts, 2u);
  EXPECT_EQ(up.expert, 12u);
  EXPECT_EQ(up.experts, 64u);
  EXPECT_EQ(up.groups, 1u);
}

}  // namespace
}  // namespace clearformer::test

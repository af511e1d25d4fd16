// The code behind chapter 8's figure.

import { attributionCpp, lensCpp } from '../../book/analyses_cpp.js';
import { cachedTl, inputsOf } from '../../book/code_parts.js';
import type { FigureCode } from '../../book/figure.js';
import { plainSettings } from '../../book/plain_settings.js';
import { steps } from './beams.js';
import type { FigureSaying } from './figure.js';
import { hundred } from './odds.js';

const generated = (settings: readonly string[]): string =>
  `GenerationConfig config = generation_config_of(model->config());\n${settings.map((each) => `config.${each};\n`).join('')}Generation generation(*model, inputs, config);\n`;

export function codeOf(figure: FigureSaying): FigureCode {
  const { temperature, top_k, top_p } = figure.settings;
  const prompt = figure.data?.prompt;
  const writer = prompt?.shelved.writer;
  const off = Object.entries(writer ? plainSettings(writer) : {}).map(([name, value]) => `${name}: ${value}, `);
  const sampling = `${off.join('')}do_sample: true, temperature: ${temperature}, top_k: ${top_k}, top_p: ${top_p}`;
  const config = [
    'do_sample = true',
    `temperature = ${temperature}`,
    `top_k = ${top_k}`,
    `top_p = ${top_p}`,
    'max_new_tokens = 1',
  ];
  const { answer, other } = figure.data?.attribution ?? {};
  const [best, second] = [answer?.id ?? 0, other?.id ?? 1];
  const given = inputsOf(
    (prompt?.appended.length ?? 0) > 0 ? (prompt?.ids ?? []) : [],
    figure.book.text,
    prompt?.given,
    prompt?.of,
  );
  const pass = `${cachedTl(given.tl)}\n`;
  const odds = { tl: `${pass}(logits[0, -1] / ${temperature}).softmax(-1)` };
  const model = prompt?.shelved.model;
  switch (figure.view) {
    case 'odds':
      return {
        js: `${given.js}const { scores } = await model.generate(inputs, {\n  ${sampling}, max_new_tokens: 1,\n  output_scores: true, return_dict_in_generate: true,\n});\nconst odds = await softmax(scores[0].slice(0));`,
        cpp: `${given.cpp}${generated(config)}const Tensor odds = softmax(generation.next().scores);`,
        ...odds,
      };
    case 'draws':
      return {
        js: `${given.js}const drawn = await model.generate(inputs, {\n  ${sampling}, max_new_tokens: 1,\n  num_return_sequences: ${hundred}, seed: ${figure.seed},\n});`,
        cpp: `${given.cpp}${generated([...config, `num_return_sequences = ${hundred}`, `seed = ${figure.seed}`])}const std::vector<std::int32_t> drawn = generation.next().tokens;`,
        ...odds,
      };
    case 'beams':
      return {
        js: `${given.js}for await (const step of model.generate_stream(inputs, { ${off.join('')}do_sample: false, num_beams: ${figure.beamWidth}, max_new_tokens: ${steps + 1} })) {\n  step.token_ids; step.beam_indices; step.beam_scores;\n}`,
        cpp: `${given.cpp}${generated([`num_beams = ${figure.beamWidth}`, `max_new_tokens = ${steps + 1}`])}while (!generation.done()) generation.next().beam_scores;`,
      };
    case 'lens':
      return {
        js: `${given.js}const lens = await softmax(await logitLens(model, inputs)); // [layer, 1, position, token]`,
        cpp: model && given.cpp + lensCpp(model),
        tl: `${pass}cache.accumulated_resid(apply_ln=True) @ model.W_U`,
      };
    case 'who':
      return {
        js: `${given.js}const { labels, contributions } = await logitAttribution(model, inputs, { tokens: ${best}, incorrect_tokens: ${second} });`,
        cpp: model && given.cpp + attributionCpp(model, { right: best, wrong: second }),
        tl: `${pass}cache.logit_attrs(cache.decompose_resid(), tokens=${best}, incorrect_tokens=${second})`,
      };
  }
}

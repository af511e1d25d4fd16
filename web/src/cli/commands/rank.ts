// clearformer rank: orders documents by how well they answer a query.

import { type Command, Option } from 'commander';
import { pipeline } from '../../index.js';
import type { Context } from '../context.js';
import { checkInputs, textOf, textsOf } from '../inputs.js';
import { positive } from '../option_values.js';
import { addLoadOptions, loaded, type SharedOptions } from '../sources.js';

interface Options extends SharedOptions {
  topK?: number;
  functionToApply?: 'sigmoid' | 'none';
  batchSize?: number;
}

const examples = `
Query and document go through the model together, in pairs: a cross-encoder with one score, such as bge-reranker.
A line is the score, the number of the document, counted from 0, and its text.

Examples:
  clearformer rank BAAI/bge-reranker-base "what is a panda?" "A bear of China." "A car." "It eats bamboo."
  clearformer rank cross-encoder/ms-marco-MiniLM-L6-v2 "what is a panda?" - --top-k 3 < documents.txt
  clearformer rank ./reranker "what is a panda?" - --function-to-apply none --json < documents.txt`;

export function addRank(program: Command, context: Context): void {
  const apply = new Option('--function-to-apply <name>', 'what makes scores of logits (default: as config.json says)');
  const command = program
    .command('rank')
    .summary('order documents by a query')
    .description(
      'Documents in the order of how well they answer a query, with their scores, best first (text-ranking).',
    )
    .argument('<source>', 'folder, Hub id or URL of a model')
    .argument('<query>', 'what is asked; - for standard input')
    .argument('<documents...>', 'the documents; - for the lines of standard input')
    .option('--top-k <n>', 'how many documents (default: all)', positive)
    .addOption(apply.choices(['sigmoid', 'none']))
    .option('--batch-size <n>', 'pairs that go through the model together', positive)
    .option('--json', 'print a list of { corpus_id, score, text } as JSON');
  addLoadOptions(command).addHelpText('after', examples);
  command.action((source: string, query: string, documents: string[], options: Options) =>
    rank(context, source, { query, documents }, options),
  );
}

async function rank(
  context: Context,
  source: string,
  { query, documents }: { query: string; documents: readonly string[] },
  options: Options,
): Promise<void> {
  checkInputs([query, ...documents]);
  const asked = await textOf(query);
  const texts = await textsOf(documents);
  const call = {
    top_k: options.topK,
    function_to_apply: options.functionToApply,
    batch_size: options.batchSize,
    signal: context.signal,
  };
  const ranked = await loaded(context, source, options, async (from, load) => {
    const ranker = await pipeline('text-ranking', from, load);
    return ranker(asked, texts, call).finally(() => ranker.dispose());
  });
  if (options.json) context.output.json(ranked);
  else
    for (const { corpus_id, score, text } of ranked) context.output.line(`${score.toFixed(4)}\t${corpus_id}\t${text}`);
}

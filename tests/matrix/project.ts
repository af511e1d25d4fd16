// A project of `npm run matrix`: its packages, files, build and run commands; and what projects have in common.
// Settings that an environment needs are not repeated in projects: they are read from web/examples/bundlers.md, by the
// name before them.

/**
 * A program that generates a story; every project has it as story.js. The logit lens needs second.js and hooks.js, which the
 * package imports with it: at the last layer it tells the token that was generated first. A function at a
 * hook point needs hook_functions.js where the model is in a worker, and a policy that allows functions from their source.
 */
export const story = `
import { AutoModelForCausalLM, AutoTokenizer, logitLens } from 'clearformer';
export async function story(source, options = {}) {
  const tokenizer = await AutoTokenizer.from_pretrained(source);
  const model = await AutoModelForCausalLM.from_pretrained(source, options);
  const inputs = tokenizer('Once upon a time');
  const ids = await model.generate(inputs, { max_new_tokens: 200, eos_token_id: null });
  const { data, dims } = await logitLens(model, inputs, { pos: -1 });
  const zero = (value) => void value.data.fill(0);
  const hooked = await model
    .run_with_hooks(inputs, { fwd_hooks: [['ln_final.hook_normalized', zero]] })
    .then((logits) => logits.data.every((each) => each === 0))
    .catch((error) => /unsafe-eval/.test(error.message) || String(error));
  if (hooked !== true) throw Error('a function at a hook point: ' + hooked);
  await model.dispose();
  const logits = data.slice(-dims.at(-1));
  const first = logits.indexOf(Math.max(...logits));
  const generated = Number(ids.data[inputs.input_ids.dims.at(-1)]);
  if (first !== generated) throw Error('the logit lens says ' + first + ' instead of ' + generated);
  return tokenizer.batch_decode(ids, { skip_special_tokens: true })[0];
}
`;

/** Statements that store the text, or the error, in window.told; `source` is an expression for the model's folder. */
export const tell = (source: string): string =>
  `story(${source}).then((text) => { window.told = text; }, (error) => { window.told = String(error); });\n`;

/** An HTML page with one script. */
export const html = (script: string, kind = 'type="module" '): string =>
  `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script ${kind}src="${script}"></script>\n`;

/** A page with the model next to its index.html. */
export const page = {
  'story.js': story,
  'main.js': `import { story } from './story.js';\n${tell("new URL('model/', document.baseURI)")}`,
  'index.html': html('./main.js'),
};

/** A program that prints the text. */
export const program = {
  'story.js': story,
  'main.js': "import { story } from './story.js';\nconsole.log(await story('./public/model'));\n",
};

export interface Project {
  /** Its name in the table. */
  name: string;
  /** Versions by package; the table shows the first. */
  packages: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string>>;
  /** Files whose contents are settings in web/examples/bundlers.md, by the setting's name. */
  settings?: Readonly<Record<string, string>>;
  /** Commands, run in order; programs of the packages are in PATH. */
  build?: readonly string[];
  run: Page | Server | Program | Extension;
}

/** A folder whose page stores the text in window.told. */
export interface Page {
  kind: 'page';
  folder: string;
  /** Headers of all responses. */
  headers?: Readonly<Record<string, string>>;
  /** The page, if it is not index.html; with its query. */
  path?: string;
}

/** A server, started with PORT in the environment; `page` stores the text in window.told, `answers` are texts. */
export interface Server {
  kind: 'server';
  command: string;
  page?: string;
  answers?: readonly string[];
}

/** A program that prints the text, possibly among other lines. */
export interface Program {
  kind: 'program';
  command: string;
}

/** The folder of a browser extension whose background stores the text in self.told. */
export interface Extension {
  kind: 'extension';
  folder: string;
}

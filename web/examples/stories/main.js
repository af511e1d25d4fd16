// A story streamed while it is generated, and a button that stops it.

import { AutoModelForCausalLM, AutoTokenizer } from 'clearformer';

const part = (id) => document.getElementById(id);
const source = new URL('stories260K/', document.baseURI);
const tokenizer = await AutoTokenizer.from_pretrained(source);
const model = await AutoModelForCausalLM.from_pretrained(source); // computed in a worker: the page stays responsive

let ending = new AbortController();

function show(state) {
  part('state').textContent = state;
  part('write').disabled = state === 'writing';
  part('stop').disabled = state !== 'writing';
}

async function write() {
  ending = new AbortController();
  const { signal } = ending;
  show('writing');
  part('story').textContent = part('beginning').value;
  const inputs = tokenizer(part('beginning').value);
  const options = { max_new_tokens: 400, do_sample: true, temperature: 0.8, eos_token_id: null, signal };
  try {
    for await (const { text } of model.generate_stream(inputs, options)) part('story').textContent += text;
    show('finished');
  } catch (error) {
    if (!signal.aborted) throw error;
    show('stopped');
  }
}

part('write').addEventListener('click', write);
part('stop').addEventListener('click', () => ending.abort());
show('ready');

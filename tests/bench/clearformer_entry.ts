// The imports of a page that runs a language model, for bundling.

export { AutoModelForCausalLM } from 'clearformer';

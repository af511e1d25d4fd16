// What a page that runs a language model imports of the package, bundled as such a page is.

export { AutoModelForCausalLM } from 'clearformer';

/**
 * The public exports of `clearformer/chat_template`: chat templates, with the Jinja interpreter they need.
 * @module clearformer/chat_template
 */

export {
  apply_chat_template,
  type ChatTemplateOptions,
  type ChatTokenizer,
  type Message,
  read_chat_template,
} from './text/chat_template.js';

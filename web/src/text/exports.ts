// The package's exports for text.

export type { Integrity } from '../checkpoint/files.js';
export type { ProgressCallback, ProgressInfo } from '../checkpoint/progress.js';
export type { CacheLike } from '../checkpoint/response_store.js';
export type { Source, SourceOptions } from '../checkpoint/source.js';
export type { CacheOption } from '../checkpoint/web_folder.js';
export { type Configuration, configure } from '../support/config.js';
export { ClearformerError, type ErrorCode, type ErrorDetails } from '../support/error.js';
export type { IntegerInput } from '../tensor/integer_input.js';
export {
  type Axes,
  type Nested,
  type Operand,
  Tensor,
  type TensorData,
  type TensorElement,
  type TensorType,
} from '../tensor/tensor.js';
export { AutoTokenizer, type TokenizerLoadOptions } from './auto_tokenizer.js';
export type { PacedCallOptions, TokenInfo, TokenizerCallOptions, TokenizerLists, TokenizerOutput } from './batch.js';
export type { ChatPromptOptions, Chats } from './chat_prompt.js';
export type { ChatTemplateOptions, ChatTokenizer, Message } from './chat_template.js';
export {
  BaseStreamer,
  IncrementalDecoder,
  type Streamer,
  TextStreamer,
  type TextStreamerOptions,
} from './text_streamer.js';
export type { TokenIds } from './token_lists.js';
export { type DecodeOptions, PreTrainedTokenizer } from './tokenizer.js';
export type { TruncationStrategy } from './truncation.js';
export { WhisperTextStreamer, type WhisperTextStreamerOptions } from './whisper_text_streamer.js';

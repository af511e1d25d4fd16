// The reader's own model while it is opened: inspected before any weights are read, then loaded, then added to the
// shelf. A model that is loaded stays open when the chapter is left; what is still on its way is cancelled. Dispatches
// 'change'.

import {
  ClearformerError,
  type GenerativeModel,
  type Inspection,
  inspect,
  type LoadOptions,
  type PipelineName,
  type Source,
} from 'clearformer';
import type { Shelf } from '../../book/shelf.js';
import { TokenTexts } from '../../book/token_texts.js';
import { Conversation } from './conversation.js';
import { forms, type OpenForm } from './forms.js';

export type Dtype = NonNullable<LoadOptions['dtype']>;
export const dtypes: readonly Dtype[] = ['fp32', 'fp16', 'q8', 'q4'];

interface Loading {
  readonly file: string;
  readonly loaded: number;
  /** 0 if unknown. */
  readonly total: number;
}

class Opening extends EventTarget {
  label = '';
  /** The repository's name; undefined for files of the device. */
  id: string | undefined;
  /** The label of the model that is loaded. */
  loaded = '';
  inspection: Inspection | undefined;
  form: OpenForm | undefined;
  /** With a model that has a chat template. */
  conversation: Conversation | undefined;
  dtype: Dtype = 'fp32';
  busy: 'inspecting' | 'loading' | undefined;
  loading: Loading | undefined;
  failure: unknown;
  /** Incremented on every change, as the key of the figure's computation. */
  revision = 0;
  #source: Source | undefined;
  #controller: AbortController | undefined;

  /** Shows what the address names: looks at that repository, or at nothing; the loaded model is kept. */
  follow(id: string | undefined): void {
    if (id === this.id) return;
    if (id !== undefined) {
      void this.inspect(id, id, id);
      return;
    }
    this.cancel();
    [this.id, this.label, this.inspection, this.failure] = [undefined, '', undefined, undefined];
  }

  /** The chapter was left: nothing more is downloaded. Its address is looked at anew when the reader comes back. */
  leave(): void {
    const { busy, id } = this;
    if (busy === undefined || (busy === 'inspecting' && id === undefined)) return; // files of the device are not asked for twice
    this.cancel();
    if (busy === 'inspecting') this.id = undefined;
  }

  /** Inspects a folder without reading its weights. */
  async inspect(source: Source, label: string, id?: string): Promise<void> {
    const signal = this.#begin('inspecting');
    this.label = label;
    this.id = id;
    this.#source = source;
    this.inspection = undefined;
    await this.#end(signal, async () => {
      const inspection = await inspect(source, { signal });
      signal.throwIfAborted();
      this.inspection = inspection;
      const { fits } = inspection;
      if (fits !== null && dtypes.indexOf(this.dtype) < dtypes.indexOf(fits)) this.dtype = fits;
    });
  }

  /** Why it cannot be loaded; undefined if it can. */
  get obstacle(): string | undefined {
    if (!this.inspection) return undefined;
    const { problems, pipeline } = this.inspection;
    const errors = problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
    if (errors.length > 0) return errors.join('; ');
    return pipeline === null ? 'the folder names no task that is known' : undefined;
  }

  /** Loads the inspected folder and puts it on the shelf; the previous model is kept until then. */
  async load(shelf: Shelf): Promise<void> {
    const { inspection } = this;
    const source = this.#source;
    if (!inspection || source === undefined || this.obstacle !== undefined) return;
    const signal = this.#begin('loading');
    await this.#end(signal, async () => {
      const form = await forms[inspection.pipeline as PipelineName](source, {
        dtype: this.dtype,
        signal,
        progress_callback: ({ file = '', loaded, total }) => {
          if (signal.aborted) return;
          this.loading = { file, loaded, total };
          this.#changed();
        },
      });
      let conversation: Conversation | undefined;
      try {
        conversation = await conversationWith(form, source, signal);
        signal.throwIfAborted();
      } catch (failure) {
        void form.dispose();
        throw failure;
      }
      void this.conversation?.dispose();
      this.form = form;
      this.loaded = this.label;
      this.conversation = conversation;
      shelf.adopt(shelved(form));
    });
  }

  cancel(): void {
    this.#controller?.abort(new ClearformerError('disposed', 'loading was cancelled'));
    this.busy = undefined;
    this.loading = undefined;
    this.#changed();
  }

  #begin(busy: 'inspecting' | 'loading'): AbortSignal {
    this.#controller?.abort();
    this.#controller = new AbortController();
    this.busy = busy;
    this.failure = undefined;
    this.loading = undefined;
    this.#changed();
    return this.#controller.signal;
  }

  async #end(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (failure) {
      if (!signal.aborted) this.failure = failure;
    }
    if (this.#controller?.signal !== signal || signal.aborted) return;
    this.busy = undefined;
    this.loading = undefined;
    this.#changed();
  }

  #changed(): void {
    this.revision++;
    this.dispatchEvent(new Event('change'));
  }
}

/** A conversation, if the tokenizer or a file of its own has a chat template. */
async function conversationWith(
  { model, tokenizer, task }: OpenForm,
  source: Source,
  signal: AbortSignal,
): Promise<Conversation | undefined> {
  if (task !== 'text-generation' || tokenizer === undefined) return undefined;
  if (tokenizer.chat_template !== null) return new Conversation(model as GenerativeModel, tokenizer, undefined);
  const { read_chat_template } = await import('clearformer/chat_template');
  const template = await read_chat_template(source, { signal }).catch((thrown: unknown) => {
    if (thrown instanceof ClearformerError && thrown.code === 'file_not_found') return undefined;
    throw thrown;
  });
  return template === undefined ? undefined : new Conversation(model as GenerativeModel, tokenizer, template);
}

function shelved({ model, tokenizer, processor, task }: OpenForm) {
  const writes = ['text-generation', 'translation', 'summarization'].includes(task);
  return {
    name: 'own',
    model,
    ...(writes && { writer: model as GenerativeModel }),
    ...(tokenizer && { tokenizer, texts: new TokenTexts(tokenizer) }),
    ...(processor && { processor }),
  };
}

/** The page's single instance. */
export const opening = new Opening();

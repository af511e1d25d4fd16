// What a chapter is to the page: its words, the model it runs, and what it shows once that is there.

import { nothing, type TemplateResult } from 'lit';
import { bundledFiles } from '../state/bundled_files.js';
import { type Loaded, type Loader, ModelHost } from '../state/model_host.js';

export interface Chapter {
  /** Its name in the page's address. */
  readonly id: string;
  /** In the list of chapters. */
  readonly name: string;
  readonly heading: string;
  readonly lede: string;
  readonly host: ModelHost;
  /** Whether the chapter shows the bar of its model itself, in a place of its own. */
  readonly placesBar?: boolean;
  /** Called whenever the reader comes to it. */
  open(): void;
  /** `revision` changes whenever the host does. */
  view(revision: number): TemplateResult | typeof nothing;
}

interface Bundled<L extends Loaded> extends Pick<Chapter, 'id' | 'name' | 'heading' | 'lede'> {
  /** Folder of its model below models/, and the files in it. */
  folder: string;
  files: readonly string[];
  load: Loader<L>;
  view(loaded: L): TemplateResult;
}

/** A chapter whose model lies beside the page, wherever that is served; it is loaded when the reader first comes. */
export function bundledChapter<L extends Loaded>({ folder, files, load, view, ...words }: Bundled<L>): Chapter {
  const host = new ModelHost(async (source, label, options) =>
    load(await bundledFiles(new URL(String(source)), files, options.signal), label, options),
  );
  return {
    ...words,
    host,
    open: () => {
      if (host.current || host.pending) return;
      void host.load(new URL(`models/${folder}/`, document.baseURI).href, folder);
    },
    view: () => (host.current ? view(host.current) : nothing),
  };
}

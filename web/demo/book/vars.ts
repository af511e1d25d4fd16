// A Lit directive that sets CSS properties of an element through the CSSOM, which a strict content security policy
// allows, unlike a `style` attribute.

import { nothing } from 'lit';
import { Directive, directive, type ElementPart, type PartInfo, PartType } from 'lit/directive.js';

type Vars = Readonly<Record<string, string | number>>;

class VarsDirective extends Directive {
  #set: readonly string[] = [];

  constructor(part: PartInfo) {
    super(part);
    if (part.type !== PartType.ELEMENT) throw new TypeError('vars() stands in the tag of an element');
  }

  render(_vars: Vars): typeof nothing {
    return nothing;
  }

  override update({ element }: ElementPart, [vars]: [Vars]): typeof nothing {
    const { style } = element as HTMLElement | SVGElement;
    for (const name of this.#set) if (!(name in vars)) style.removeProperty(name);
    for (const [name, value] of Object.entries(vars)) style.setProperty(name, String(value));
    this.#set = Object.keys(vars);
    return nothing;
  }
}

/** `<p ${vars({ '--width': '3px', left: '4px' })}>`. */
export const vars = directive(VarsDirective);

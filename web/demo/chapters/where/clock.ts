// A dial that rotates clockwise from the top: x is the first number of a pair, y the second.

import { nothing, svg, type TemplateResult } from 'lit';

export interface Hand {
  readonly across: number;
  readonly up: number;
  readonly colour: string;
  readonly dashed?: boolean;
}

interface Dial {
  readonly cx: number;
  readonly cy: number;
  readonly radius: number;
  /** Length 1 reaches the rim; the arc is drawn from the first to the second. */
  readonly hands: readonly Hand[];
  /** The angle from the first to the second, in radians. */
  readonly turn: number;
  /** Only the hands' projections on the horizontal axis are known: each could be one of two hands. */
  readonly shadows?: boolean;
  readonly bold?: boolean;
  readonly small?: boolean;
}

export function clock(dial: Dial): TemplateResult {
  const { cx, cy, radius, hands, turn, shadows = false, bold = false } = dial;
  return svg`<circle class="rim" cx=${cx} cy=${cy} r=${radius} fill=${bold ? 'var(--cf-raised)' : 'transparent'} stroke=${bold ? 'var(--cf-ink)' : 'var(--cf-line)'} stroke-width=${bold ? 1.6 : 1}/>
    ${shadows ? svg`<path d="M${cx - radius} ${cy}H${cx + radius}" stroke="var(--cf-line-strong)"/>` : arc(dial, turn)}
    ${hands.map((hand) => (shadows ? shadow(dial, hand) : line(dial, hand)))}
    <circle cx=${cx} cy=${cy} r=${radius > 50 ? 3 : 2} fill="var(--cf-ink)"/>`;
}

/** The length of a hand inside the rim. */
const reach = (radius: number): number => radius - (radius > 50 ? 8 : 4);

function line({ cx, cy, radius }: Dial, { across, up, colour, dashed = false }: Hand): TemplateResult {
  const [x, y] = [cx + reach(radius) * across, cy - reach(radius) * up];
  const width = radius > 50 ? 3 : 2.4;
  return svg`<path d="M${cx} ${cy}L${x} ${y}" stroke=${colour} stroke-width=${width} stroke-linecap="round" stroke-dasharray=${dashed ? '4 4' : nothing}/>
    ${radius > 50 ? svg`<circle cx=${x} cy=${y} r="4" fill=${colour}/>` : nothing}`;
}

function arc({ cx, cy, radius, hands: [from, to] }: Dial, turn: number): TemplateResult | typeof nothing {
  const round = turn % (2 * Math.PI);
  if (!from || !to || round < 0.02) return nothing;
  const r = radius * (radius > 50 ? 0.45 : 0.52);
  const large = round > Math.PI ? 1 : 0;
  return svg`<path d="M${cx + r * from.across} ${cy - r * from.up}A${r} ${r} 0 ${large} 1 ${cx + r * to.across} ${cy - r * to.up}" fill="none" stroke=${to.colour} stroke-width=${radius > 50 ? 2 : 1.5} opacity=${radius > 50 ? 1 : 0.55}/>`;
}

/** The projection on the horizontal axis, and the two hands that have it. */
function shadow({ cx, cy, radius, bold, small }: Dial, { across, up, colour }: Hand): TemplateResult {
  const x = cx + reach(radius) * across;
  const height = reach(radius) * Math.abs(up);
  const both = svg`<path d="M${x} ${cy - height}V${cy + height}" stroke=${colour} stroke-dasharray="2 3"/>
    <path d="M${cx} ${cy}L${x} ${cy - height}M${cx} ${cy}L${x} ${cy + height}" stroke=${colour} stroke-width="1.4" opacity="0.4"/>`;
  return svg`${bold ? both : nothing}<circle cx=${x} cy=${cy} r=${small ? 2.5 : radius > 50 ? 5 : 3.6} fill=${colour}/>`;
}

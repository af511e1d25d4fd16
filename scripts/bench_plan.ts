// What scripts/bench.ts starts in a process of its own, on the cores that are meant: one plan, as JSON.

import { type PreparedPlan, runPlan } from '../tests/bench/run.js';
import { type Command, reportErrors } from './main.js';

export const command: Command = ([plan = '']) => reportErrors(() => runPlan(JSON.parse(plan) as PreparedPlan));

// Runs one plan, given as JSON, in a process of its own that scripts/bench.ts pins to cores.

import { type PreparedPlan, runPlan } from '../tests/bench/run.js';
import { type Command, reportErrors } from './main.js';

export const command: Command = ([plan = '']) => reportErrors(() => runPlan(JSON.parse(plan) as PreparedPlan));

// Entry of the page.

import { theme } from './state/theme.js';
import './app.js';

theme.restore();

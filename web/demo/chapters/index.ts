// The chapters of the page, in the order of the model.
import './story.js';

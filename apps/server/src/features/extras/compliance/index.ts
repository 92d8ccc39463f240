export { countHoldsAgainst } from './holds.ts';

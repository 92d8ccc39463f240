export { countHoldsAgainst } from './compliance.holds.service.ts';

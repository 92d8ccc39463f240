export { type Catalogue, catalogueOf, patternsOf } from './events.catalogue.rules.ts';
export { envelopeOf, talliesOf } from './events.rules.ts';

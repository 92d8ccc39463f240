export { type Catalogue, catalogueOf } from './events.catalogue.rules.ts';
export { envelopeOf, talliesOf } from './events.rules.ts';

export { listenToCommits } from './events.announce.service.ts';
export { type Catalogue, catalogueOf, patternsOf } from './events.catalogue.rules.ts';
export { toOcsf } from './events.ocsf.rules.ts';
export { envelopeToOcsf } from './events.ocsf-stream.rules.ts';
export { envelopeOf, talliesOf } from './events.rules.ts';

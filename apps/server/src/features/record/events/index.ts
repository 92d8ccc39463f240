export type { Admission } from './events.admitting.service.ts';
export { type BodyOutlet, bodyOutlet } from './events.body.service.ts';
export { type Catalogue, catalogueOf, patternsOf } from './events.catalogue.rules.ts';
export { toOcsf } from './events.ocsf.rules.ts';
export { envelopeToOcsf } from './events.ocsf-stream.rules.ts';
export { streamsOf } from './events.open.service.ts';
export type { StreamedEvent } from './events.outlet.service.ts';
export { envelopeOf, talliesOf } from './events.rules.ts';
export type { Streams } from './events.streams.service.ts';

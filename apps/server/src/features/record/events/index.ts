export { type Catalogue, catalogueOf, patternsOf } from './catalogue.rules.ts';
export { envelopeOf, talliesOf } from './events.rules.ts';
export { envelopeToOcsf, toOcsf } from './ocsf.rules.ts';
export type { Admission, StreamedEvent } from './outlet.ts';
export { type BodyOutlet, bodyOutlet } from './outlet.ts';
export type { Streams } from './streams.ts';
export { eventStreams, MAX_STREAMS } from './streams.ts';
export { type CalledWaits, createCalledWaits, createWaits, type Waits } from './waits.ts';

export { type FindLoaded, manifestLibrary } from './manifests.library.service.ts';
export { type ConsentPins, pinsInToken, storedPins } from './manifests.pins.rules.ts';

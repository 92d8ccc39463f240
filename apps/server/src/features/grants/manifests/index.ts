export { type ConsentPins, pinsInToken, storedPins } from './manifests.rules.ts';
export { type FindLoaded, manifestLibrary } from './put.ts';

export { type FindLoaded, manifestLibrary } from './library.ts';
export { type ConsentPins, pinsInToken, storedPins } from './pins.rules.ts';

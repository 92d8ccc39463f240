export {
  hashOfWords,
  pinsOfWords,
  type ScopePins,
  scopesInWords,
  storedScopePins,
  type WordsOfScopes,
} from './resources.rules.ts';

/** Words that make a preceding "one" the subject of a clause. */
const VERB =
  '(?:is|are|was|were|has|had|can|cannot|may|might|must|does|did|will|would|should|needs|fails|stands)';
const CLAUSE = '(?:when|if|because|while|until|unless|since|whether|although)';

const WORDS = [
  'anew',
  'any more',
  'by and by',
  'of before',
  'of old',
  'thereof',
  'therein',
  'whence',
  'whoever',
  'lest',
];

/** Each fault with the pattern that finds it. A pattern sees a sentence with `code` in place of quoted code. */
const faults: readonly [fault: (match: string) => string, pattern: RegExp][] = [
  [(word) => `opens with "${word}"`, /^(Of|That|Whoever)(?= )/i],
  [(word) => `opens with "${word}"`, /^(What|Who|Whom|Whose)(?= (?!.*\?$))/i],
  [
    (word) => `opens with "${word}"`,
    new RegExp(`^(One|Those|None)(?= (?:that|which|who|whose|with|without|made|${VERB})\\b)`, 'i'),
  ],
  [(word) => `says "${word}"`, new RegExp(`\\b(${WORDS.join('|')})\\b`, 'i')],
  [
    (word) => `says "${word}" as a subject`,
    new RegExp(`(?:\\b${CLAUSE}|;|\\bthat) (what|who)\\b(?!.*\\?$)`, 'i'),
  ],
  [(word) => `says "${word}" as a subject`, new RegExp(`\\b${CLAUSE} (one|none) ${VERB}\\b`, 'i')],
  [(word) => `says "${word}" as a subject`, new RegExp(`; (one|none) (?:that|which|who|${VERB})\\b`, 'i')],
  [
    (word) => `says "${word}" for a thing that has a name`,
    /(?<!\bthere )\b(?:is|are|was|were) (one|none)(?=[.,;:]|$)/i,
  ],
  [() => 'says "for" for "because"', /, for (?:it|they|he|she|we|nothing|nobody) (?!to\b)/i],
];

/** Says what is wrong with a sentence, or nothing when no rule speaks against it. */
export function faultOf(sentence: string): string | undefined {
  for (const [fault, pattern] of faults) {
    const [, word = ''] = pattern.exec(sentence) ?? [];
    if (pattern.test(sentence)) return fault(word);
  }
  return undefined;
}

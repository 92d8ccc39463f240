import { translated } from '../../../../platform/page/words.js';

/** The sentences about the difference to the last consent, which the page loads where there is one. */
export const words = translated({
  title: 'Since your last decision',
  verdict: {
    same: 'The same as you allowed {time}.',
    narrower: 'Less than you allowed {time}.',
    wider: 'Not the same as you allowed {time}:',
  },
  since: {
    active: 'That permission still holds.',
    expired: 'That permission has run out.',
    revoked: 'That permission was taken back.',
  },
  replacesIt: 'If you allow this, it takes the place of that permission, which ends.',
  replaces: 'If you allow this, it takes the place of an earlier permission of this agent, which ends.',
  others: {
    one: 'One more permission of this agent holds.',
    other: '{n} more permissions of this agent hold.',
  },
  compare: 'Compare',
  /** A mark beside the word, for readers who skim. */
  marks: { new: '+', wider: '↑', changed: '≠', narrower: '↓', removed: '−', same: '=' },
  changes: {
    new: 'New:',
    wider: 'More:',
    changed: 'Changed:',
    narrower: 'Less:',
    removed: 'Gone:',
    same: 'Same:',
  },
  before: 'Before:',
  now: 'Now:',
  keep: 'Only what I allowed before',
});

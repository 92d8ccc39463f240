import type { Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';

const say = sayer('policy');

const TONES = { deny: 'bad', require_approval: 'warn', allow: 'good' } as const;

/** What a policy does, in a word. */
export const Effect = ({ effect }: { readonly effect: Schemas['PolicyRecord']['effect'] }) => (
  <span className={`status status-${TONES[effect]}`}>{say(effect)}</span>
);

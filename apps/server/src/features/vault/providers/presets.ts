import { badField } from '../../../platform/errors.ts';
import presetFile from './providers.presets.json' with { type: 'json' };
import type { NewProvider, ProviderSettings } from './providers.schema.ts';

/** The facts about an upstream that many developers use. `open` names the members that a developer may replace. */
export interface Preset extends Partial<Omit<ProviderSettings, 'scopes'>> {
  readonly name: string;
  readonly kind: ProviderSettings['kind'];
  readonly scopes?: { readonly required?: readonly string[]; readonly optional?: readonly string[] };
  readonly open: readonly string[];
}

/** The presets are data, whose shape a test checks. */
const presets = presetFile as unknown as Readonly<Record<string, Preset>>; // JSON's words are strings to the compiler

export const shownPresets = Object.entries(presets).map(([preset, { name, kind, open }]) => ({
  preset,
  name,
  kind,
  open: [...open],
}));

/** Members that say what the developer's own client is, or how its account at the upstream is set up. */
const ALWAYS_OPEN: ReadonlySet<string> = new Set([
  ...['service', 'name', 'preset', 'clientId', 'clientSecret', 'acceptPartial', 'tokenLifetimeSeconds'],
]);

/** Fills what was not sent. @throws BAD_REQUEST for an unknown preset, and for a member that it does not leave open */
export function withPreset(input: Omit<NewProvider, 'service'>): Omit<NewProvider, 'service'> {
  const word = input.preset ?? undefined;
  if (word === undefined) return input;
  const preset = Object.hasOwn(presets, word) ? presets[word] : undefined;
  if (!preset) throw badField('preset', 'not_allowed', 'There is no preset of this name.');
  const closed = Object.keys(input).find(
    (member) => !ALWAYS_OPEN.has(member) && !preset.open.includes(member),
  );
  if (closed !== undefined) {
    throw badField(closed, 'not_allowed', 'The preset sets this member. Leave it out, or use no preset.');
  }
  const { open: _, ...known } = preset;
  return { ...(known as Partial<NewProvider>), ...input };
}

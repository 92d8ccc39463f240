import { parseDuration } from '@behest/protocol/durations';
import type { ManifestTool } from '@behest/protocol/manifest/manifest';
import { covers } from '@behest/protocol/scopes';
import type { ToolsEntry } from '@behest/protocol/tools-entry';
import type { ScopePins } from '../resources/index.ts';
import { diffOfManifests, diffOfTools } from './diff-tools.rules.ts';
import { type DifferenceSpeech, type Say, sayer } from './diff-words.rules.ts';

/** The order in which people read the changes: those that reach further come first. */
const CHANGES: readonly Change[] = ['new', 'wider', 'changed', 'narrower', 'removed', 'same'];

/** A lifetime that is longer by at most this part counts as the same. */
const LONGER_BY = 0.1;

/**
 * Compares a request with the last consent. A change that the rules cannot order counts as `changed`, which is read as
 * wider.
 * @param speech in which a person reads the sentences: English where it names no language
 */
export function difference(before: Terms, after: Terms, speech: DifferenceSpeech = {}): Diff {
  const say = sayer(speech);
  const items = [
    ...diffOfScopes(before.scopes, after.scopes, say),
    ...diffOfTools(before, after, say),
    ...diffOfPurpose(before.purpose, after.purpose, say),
    ...diffOfBudget(before.budget, after.budget, say),
    ...diffOfLifetime(before.lifetime, after.lifetime, say),
    ...diffOfText('audience', [before.audience, after.audience], say),
    ...diffOfText('redirectHost', [before.redirectHost, after.redirectHost], say),
    ...diffOfAgent(before.agent, after.agent, say),
    ...diffOfManifests(before, after, say),
    ...diffOfWords(before, after, say),
  ].toSorted((one, other) => CHANGES.indexOf(one.change) - CHANGES.indexOf(other.change));
  const count = (change: Change) => items.filter((item) => item.change === change).length;
  const counts = Object.fromEntries(CHANGES.map((change) => [change, count(change)])) as Diff['counts'];
  return { verdict: verdictOf(counts), counts, items };
}

function verdictOf(counts: Diff['counts']): Diff['verdict'] {
  if (counts.new + counts.wider + counts.changed > 0) return 'wider';
  return counts.narrower + counts.removed > 0 ? 'narrower' : 'same';
}

function diffOfScopes(before: readonly string[], after: readonly string[], say: Say): DiffItem[] {
  const asked = after.map((scope): DiffItem => {
    const change = changeOfScope(before, scope);
    const wasThere = change === 'same' ? scope : null;
    const former = change === 'wider' ? before.filter((old) => covers(scope, old)).join(' ') : wasThere;
    return {
      dimension: 'scope',
      change,
      key: scope,
      before: former,
      after: scope,
      text: say.scope(change, scope),
    };
  });
  const gone = before
    .filter((old) => !after.some((scope) => covers(scope, old)))
    .map((old): DiffItem => {
      const text = say.scope('removed', old);
      return { dimension: 'scope', change: 'removed', key: old, before: old, after: null, text };
    });
  return [...asked, ...gone];
}

function changeOfScope(before: readonly string[], scope: string): Change {
  if (before.includes(scope)) return 'same';
  if (before.some((old) => covers(old, scope))) return 'narrower';
  return before.some((old) => covers(scope, old)) ? 'wider' : 'new';
}

function diffOfPurpose(before: string | null, after: string | null, say: Say): DiffItem[] {
  if (before === null && after === null) return [];
  const change: Change =
    before === after ? 'same' : after === null ? 'wider' : before === null ? 'narrower' : 'changed';
  return [{ dimension: 'purpose', change, before, after, text: say.purpose(change, after ?? before ?? '') }];
}

function diffOfBudget(before: Terms['budget'], after: Terms['budget'], say: Say): DiffItem[] {
  if (!before && !after) return [];
  const change = changeOfBudget(before, after);
  const [was, is] = [say.money(before), say.money(after)];
  return [{ dimension: 'budget', change, before: was, after: is, text: say.budget(change, [was, is]) }];
}

function changeOfBudget(before: Terms['budget'], after: Terms['budget']): Change {
  if (!after) return 'wider';
  if (!before) return 'narrower';
  if (before.currency !== after.currency) return 'changed';
  return ordered(before.units, after.units);
}

function diffOfLifetime(before: string, after: string, say: Say): DiffItem[] {
  const [was, is] = [parseDuration(before) ?? 0, parseDuration(after) ?? 0];
  const change = is > was && is <= was * (1 + LONGER_BY) ? 'same' : ordered(was, is);
  return [{ dimension: 'lifetime', change, before, after, text: say.lifetime(change, [was, is]) }];
}

/** An audience limits where a token counts, so one that is gone is wider. Where a browser returns limits nothing. */
function diffOfText(
  dimension: 'audience' | 'redirectHost',
  [before, after]: readonly [string | null, string | null],
  say: Say,
): DiffItem[] {
  if (before === null && after === null) return [];
  const isLimit = dimension === 'audience';
  const change: Change =
    before === after
      ? 'same'
      : isLimit && after === null
        ? 'wider'
        : isLimit && before === null
          ? 'narrower'
          : 'changed';
  return [{ dimension, change, before, after, text: say.place(dimension, change, [before, after]) }];
}

function diffOfAgent(before: ShownAgent | null, after: ShownAgent | null, say: Say): DiffItem[] {
  if (!before || !after) return [];
  return Object.entries(after)
    .map(([key, now]) => ({ key, before: before[key] ?? null, after: now }))
    .filter((member) => member.before !== member.after)
    .map((member) => ({ dimension: 'agent', change: 'changed', ...member, text: say.agent(member.key) }));
}

/** Compares what the developer's resources say about scopes that the person has agreed to before. */
function diffOfWords(before: Terms, after: Terms, say: Say): DiffItem[] {
  if (!before.agent) return []; // nobody has seen words
  return after.scopes
    .filter((scope) => before.scopes.includes(scope))
    .map((key) => ({ key, was: before.words[key], is: after.words[key] }))
    .filter(({ was, is }) => was?.sha256 !== is?.sha256)
    .map(({ key, was, is }) => ({
      dimension: 'words',
      change: 'changed',
      key,
      before: was?.title ?? null,
      after: is?.title ?? null,
      text: say.words(key),
    }));
}

/** Everything that a consent allows, and for whom. */
export interface Terms {
  readonly scopes: readonly string[];
  readonly entries: readonly ToolsEntry[];
  readonly purpose: string | null;
  /** In billionths of the currency's unit. */
  readonly budget: { readonly units: bigint; readonly currency: string } | null;
  /** As requests write it: `24h`. */
  readonly lifetime: string;
  readonly audience: string | null;
  readonly redirectHost: string | null;
  /** Null where it was not recorded how the agent was shown. */
  readonly agent: ShownAgent | null;
  /** The manifest of each connector that has one. */
  readonly manifests: ReadonlyMap<string, ShownManifestOf>;
  /** What resources say about the scopes. */
  readonly words: ScopePins;
}

/** Each text of the agent, its `key` as canonical JSON, and as `client` the party that vouches for it with its host. */
export type ShownAgent = Readonly<Record<string, string | null>>;

export interface ShownManifestOf {
  readonly sha256: string;
  /** Undefined for a version that is no longer kept. */
  readonly tools: ReadonlyMap<string, ManifestTool> | undefined;
}

export type Change = 'new' | 'wider' | 'changed' | 'narrower' | 'removed' | 'same';

export interface DiffItem {
  readonly dimension: Dimension;
  readonly change: Change;
  readonly connector?: string;
  /** The scope, the tool, or the tool and the window of a cap. */
  readonly key?: string;
  readonly before: string | null;
  readonly after: string | null;
  /** One sentence for the person. */
  readonly text: string;
}

type Dimension =
  | 'scope'
  | 'tools'
  | 'caps'
  | 'arguments'
  | 'data_region'
  | 'purpose'
  | 'budget'
  | 'lifetime'
  | 'audience'
  | 'redirectHost'
  | 'agent'
  | 'manifest'
  | 'words';

export interface Diff {
  readonly verdict: 'same' | 'narrower' | 'wider';
  readonly counts: Readonly<Record<Change, number>>;
  readonly items: readonly DiffItem[];
}

/** A limit: higher is wider. */
export function ordered<Limit extends number | bigint>(before: Limit, after: Limit): Change {
  if (before === after) return 'same';
  return after > before ? 'wider' : 'narrower';
}

/** The scheme of an app's own address says whose it is. The text in place of its host says nothing. */
export function hostOf(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1);
}

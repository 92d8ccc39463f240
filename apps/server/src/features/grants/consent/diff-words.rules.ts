import { writeAmount } from '@behest/protocol/amounts';
import type { CapWindow } from '@behest/protocol/tools-entry';
import { durationInWords, purposeLabel } from '@behest/protocol/words';
import type { Change } from './diff.rules.ts';

type Pair<Of> = readonly [before: Of, after: Of];

const WINDOWS: Readonly<Record<CapWindow, string>> = {
  per_hour: 'an hour',
  per_day: 'a day',
  per_case: 'a case',
};

const PLACES = { audience: 'The token counts at', redirectHost: 'The browser goes back to' } as const;

export type Say = ReturnType<typeof sayer>;

/**
 * The sentences about the differences between two consents. Each is the service's own: of others it has names of tools and
 * connectors, scopes, purposes and addresses, whose form leaves no room for a sentence.
 */
export function sayer(inWords: (scope: string) => string) {
  return {
    scope: (change: Change, scope: string) => `${quoted(inWords(scope))} ${SCOPES[change]}.`,
    tool: (connector: string, tool: string) =>
      `${quoted(tool)} of ${quoted(connector)} is a tool that you did not allow before.`,
    tools(connector: string, change: 'wider' | 'narrower' | 'same', fewer: readonly string[] = []) {
      const at = quoted(connector);
      const text = {
        wider: `Every tool of ${at} may be used, and before only some.`,
        narrower:
          fewer.length > 0
            ? `Tools of ${at} that are no longer asked for: ${fewer.map(quoted).join(', ')}.`
            : `Only some tools of ${at} may be used, and before every one.`,
        same: `The tools of ${at} are the same.`,
      }[change];
      return { change, text };
    },
    cap(
      { connector, tool, window }: { connector: string; tool: string; window: CapWindow },
      change: Change,
      [before, after]: Pair<number | undefined>,
    ) {
      const what =
        tool === 'cost_units'
          ? `The cost units of ${quoted(connector)}`
          : `${quoted(tool)} of ${quoted(connector)}`;
      const per = WINDOWS[window];
      if (change === 'same') return `${what}: at most ${after} ${per}, as before.`;
      if (after === undefined) return `${what}: no limit for ${per}, and before at most ${before}.`;
      if (before === undefined) return `${what}: at most ${after} ${per}, and before without a limit.`;
      return `${what}: at most ${after} ${per}, and before at most ${before}.`;
    },
    rules: ({ connector, tool }: { connector: string; tool: string }, change: Change) =>
      `The limits of what ${quoted(tool)} of ${quoted(connector)} may be given ${RULES[change]}.`,
    region: (connector: string, change: Change, pair: Pair<string | null>) =>
      change === 'same'
        ? `The data of ${quoted(connector)} stay in the same region.`
        : `The region for the data of ${quoted(connector)}: ${wasAndIs(pair)}.`,
    purpose(change: Change, purpose: string) {
      const label = quoted(purposeLabel(purpose));
      if (change === 'same') return `The purpose is the same: ${label}.`;
      if (change === 'wider') return `No purpose limits the use, and before it was ${label}.`;
      return change === 'narrower'
        ? `A purpose limits the use: ${label}.`
        : `The purpose is another: ${label}.`;
    },
    money: (budget: { readonly units: bigint; readonly currency: string } | null) =>
      budget && `${writeAmount(budget.units)} ${budget.currency}`,
    budget(change: Change, [before, after]: Pair<string | null>) {
      if (change === 'same') return `The budget is the same: ${after}.`;
      if (after === null) return `No budget limits the spending, and before it was ${before}.`;
      return before === null
        ? `A budget limits the spending: ${after}.`
        : `The budget is ${after}, and before ${before}.`;
    },
    lifetime: (change: Change, [before, after]: Pair<number>) =>
      change === 'same'
        ? 'The permission lasts about as long as before.'
        : `The permission lasts ${durationInWords(after)}, and before ${durationInWords(before)}.`,
    place: (dimension: keyof typeof PLACES, change: Change, [before, after]: Pair<string | null>) =>
      change === 'same'
        ? `${PLACES[dimension]} ${quoted(after ?? '')}, as before.`
        : `${PLACES[dimension]} ${after === null ? 'no named place' : quoted(after)}, and before ${
            before === null ? 'no named place' : quoted(before)
          }.`,
    /** Without the texts, which are the agent's own: the page shows them beside the sentence. */
    agent: (key: string) =>
      `${key === 'client' ? 'The party that vouches for the client' : `The ${key} of the agent`} has changed.`,
    manifest: (connector: string, change: 'same' | 'changed') => ({
      change,
      text:
        change === 'same'
          ? `The definitions of the tools of ${quoted(connector)} are the same.`
          : `The definitions of the tools of ${quoted(connector)} have changed.`,
    }),
    /** Without the words, which the page shows beside the sentence. */
    words: (scope: string) => `The words for ${quoted(scope)} have changed since you agreed.`,
    manifestTool: (connector: string, tool: string, change: Change) =>
      `${quoted(tool)} of ${quoted(connector)} ${DEFINITIONS[change]}.`,
  };
}

const SCOPES: Readonly<Record<Change, string>> = {
  new: 'is new',
  wider: 'reaches further than before',
  changed: 'is another one',
  narrower: 'reaches less far than before',
  removed: 'is no longer asked for in full',
  same: 'is as before',
};

const RULES: Readonly<Record<Change, string>> = {
  new: 'are new',
  wider: 'are looser than before, or gone',
  changed: 'are others',
  narrower: 'are tighter than before',
  removed: 'are gone',
  same: 'are as before',
};

const DEFINITIONS: Readonly<Record<Change, string>> = {
  new: 'is a tool that did not exist before',
  wider: 'may do more, or is limited less, than when you agreed',
  changed: 'has changed since you agreed',
  narrower: 'is limited more than when you agreed',
  removed: 'no longer exists',
  same: 'is as before',
};

const wasAndIs = ([before, after]: Pair<string | null>) =>
  `${after === null ? 'none' : quoted(after)}, and before ${before === null ? 'none' : quoted(before)}`;

const quoted = (text: string) => `“${text}”`;

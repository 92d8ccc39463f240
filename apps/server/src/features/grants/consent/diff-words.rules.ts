import { writeAmount } from '@behest/protocol/amounts';
import { filled, ruleWordsIn } from '@behest/protocol/rule-words';
import type { CapWindow } from '@behest/protocol/tools-entry';
import { purposeLabel, scopeInWords } from '@behest/protocol/words';
import type { Change } from './diff.rules.ts';

type Pair<Of> = readonly [before: Of, after: Of];
type Sentences = Readonly<Record<Change, string>>;

/** Every text about a difference. `{what}` is a tool of a connector, or its cost units. @public The check of the messages reads it. */
export const texts = {
  scopes: {
    new: '{scope} is new.',
    wider: '{scope} reaches further than before.',
    changed: '{scope} is another one.',
    narrower: '{scope} reaches less far than before.',
    removed: '{scope} is no longer asked for in full.',
    same: '{scope} is as before.',
  } satisfies Sentences,
  toolOf: '{tool} of {connector}',
  costUnits: 'The cost units of {connector}',
  newTool: '{what} is a tool that you did not allow before.',
  tools: {
    wider: 'Every tool of {connector} may be used, and before only some.',
    fewer: 'Tools of {connector} that are no longer asked for: {tools}.',
    narrower: 'Only some tools of {connector} may be used, and before every one.',
    same: 'The tools of {connector} are the same.',
  },
  windows: { per_hour: 'an hour', per_day: 'a day', per_case: 'a case' } satisfies Record<CapWindow, string>,
  caps: {
    same: '{what}: at most {after} {per}, as before.',
    gone: '{what}: no limit for {per}, and before at most {before}.',
    first: '{what}: at most {after} {per}, and before without a limit.',
    other: '{what}: at most {after} {per}, and before at most {before}.',
  },
  rules: {
    new: 'The limits of what {what} may be given are new.',
    wider: 'The limits of what {what} may be given are looser than before, or gone.',
    changed: 'The limits of what {what} may be given are others.',
    narrower: 'The limits of what {what} may be given are tighter than before.',
    removed: 'The limits of what {what} may be given are gone.',
    same: 'The limits of what {what} may be given are as before.',
  } satisfies Sentences,
  region: {
    same: 'The data of {connector} stay in the same region.',
    other: 'The region for the data of {connector}: {after}, and before {before}.',
    none: 'none',
  },
  purpose: {
    same: 'The purpose is the same: {purpose}.',
    gone: 'No purpose limits the use, and before it was {purpose}.',
    first: 'A purpose limits the use: {purpose}.',
    other: 'The purpose is another: {purpose}.',
  },
  budget: {
    same: 'The budget is the same: {after}.',
    gone: 'No budget limits the spending, and before it was {before}.',
    first: 'A budget limits the spending: {after}.',
    other: 'The budget is {after}, and before {before}.',
  },
  lifetime: {
    same: 'The permission lasts about as long as before.',
    other: 'The permission lasts for {after}, and before for {before}.',
  },
  audience: {
    same: 'The token counts at {after}, as before.',
    other: 'The token counts at {after}, and before {before}.',
  },
  redirectHost: {
    same: 'The browser goes back to {after}, as before.',
    other: 'The browser goes back to {after}, and before {before}.',
  },
  nowhere: 'no named place',
  /** Without the texts, which are the agent's own: the page shows them beside the sentence. */
  agent: {
    name: 'The name of the agent has changed.',
    description: 'The description of the agent has changed.',
    key: 'The key of the agent has changed.',
    client: 'The party that vouches for the client has changed.',
    other: 'The agent has changed.',
  },
  manifest: {
    same: 'The definitions of the tools of {connector} are the same.',
    changed: 'The definitions of the tools of {connector} have changed.',
  },
  words: 'The words for {scope} have changed since you agreed.',
  definitions: {
    new: '{what} is a tool that did not exist before.',
    wider: '{what} may do more, or is limited less, than when you agreed.',
    changed: '{what} has changed since you agreed.',
    narrower: '{what} is limited more than when you agreed.',
    removed: '{what} no longer exists.',
    same: '{what} is as before.',
  } satisfies Sentences,
} as const;

/** In which a person reads the difference. */
export interface DifferenceSpeech {
  /** Describes a scope. */
  readonly inWords?: (scope: string) => string;
  readonly language?: string;
  /** Gives an English text in the language. */
  readonly say?: (english: string) => string;
}

export type Say = ReturnType<typeof sayer>;

/**
 * The sentences about the differences between two consents. Each is the service's own: of others it has names of tools and
 * connectors, scopes, purposes and addresses, whose form leaves no room for a sentence.
 */
export function sayer({ inWords = scopeInWords, language = 'en', say = (text) => text }: DifferenceSpeech) {
  const { quoted } = ruleWordsIn(language, say);
  const put = (text: string, values: Readonly<Record<string, string>> = {}) => filled(say(text), values);
  const toolOf = (connector: string, tool: string) =>
    put(texts.toolOf, { tool: quoted(tool), connector: quoted(connector) });
  const perhaps = (text: string | null, none: string) => (text === null ? say(none) : quoted(text));

  return {
    scope: (change: Change, scope: string) => put(texts.scopes[change], { scope: quoted(inWords(scope)) }),
    tool: (connector: string, tool: string) => put(texts.newTool, { what: toolOf(connector, tool) }),
    tools(connector: string, change: 'wider' | 'narrower' | 'same', fewer: readonly string[] = []) {
      const text = change === 'narrower' && fewer.length > 0 ? texts.tools.fewer : texts.tools[change];
      const values = { connector: quoted(connector), tools: fewer.map(quoted).join(', ') };
      return { change, text: put(text, values) };
    },
    cap(
      { connector, tool, window }: { connector: string; tool: string; window: CapWindow },
      change: Change,
      [before, after]: Pair<number | undefined>,
    ) {
      const { caps } = texts;
      const what =
        tool === 'cost_units'
          ? put(texts.costUnits, { connector: quoted(connector) })
          : toolOf(connector, tool);
      const [was, is] = [before, after].map((count = 0) => count.toLocaleString(language));
      const values = { what, per: say(texts.windows[window]), before: was ?? '', after: is ?? '' };
      if (change === 'same') return put(caps.same, values);
      return put(after === undefined ? caps.gone : before === undefined ? caps.first : caps.other, values);
    },
    rules: ({ connector, tool }: { connector: string; tool: string }, change: Change) =>
      put(texts.rules[change], { what: toolOf(connector, tool) }),
    region(connector: string, change: Change, [before, after]: Pair<string | null>) {
      const { same, other, none } = texts.region;
      const values = { before: perhaps(before, none), after: perhaps(after, none) };
      return put(change === 'same' ? same : other, { connector: quoted(connector), ...values });
    },
    purpose(change: Change, purpose: string) {
      const { same, gone, first, other } = texts.purpose;
      const text =
        change === 'same' ? same : change === 'wider' ? gone : change === 'narrower' ? first : other;
      return put(text, { purpose: quoted(purposeLabel(purpose, say)) });
    },
    money: (budget: { readonly units: bigint; readonly currency: string } | null) =>
      budget && `${writeAmount(budget.units)} ${budget.currency}`,
    budget(change: Change, [before, after]: Pair<string | null>) {
      const { same, gone, first, other } = texts.budget;
      const text = change === 'same' ? same : after === null ? gone : before === null ? first : other;
      return put(text, { before: before ?? '', after: after ?? '' });
    },
    lifetime: (change: Change, [before, after]: Pair<number>) =>
      put(change === 'same' ? texts.lifetime.same : texts.lifetime.other, {
        before: lasting(before, language),
        after: lasting(after, language),
      }),
    place(dimension: 'audience' | 'redirectHost', change: Change, [before, after]: Pair<string | null>) {
      const { same, other } = texts[dimension];
      const values = { before: perhaps(before, texts.nowhere), after: perhaps(after, texts.nowhere) };
      return put(change === 'same' ? same : other, values);
    },
    agent: (key: string) =>
      say(new Map<string, string>(Object.entries(texts.agent)).get(key) ?? texts.agent.other),
    manifest: (connector: string, change: 'same' | 'changed') => ({
      change,
      text: put(texts.manifest[change], { connector: quoted(connector) }),
    }),
    /** Without the words, which the page shows beside the sentence. */
    words: (scope: string) => put(texts.words, { scope: quoted(scope) }),
    manifestTool: (connector: string, tool: string, change: Change) =>
      put(texts.definitions[change], { what: toolOf(connector, tool) }),
  };
}

/** A time in words, exactly, and with days from two days on, as `durationInWords` has it. */
function lasting(seconds: number, language: string): string {
  const days = seconds < 2 * 86_400 ? 0 : Math.floor(seconds / 86_400);
  const rest = seconds - days * 86_400;
  const [hours, minutes] = [Math.floor(rest / 3_600), Math.floor((rest % 3_600) / 60)];
  const parts = Object.entries({ day: days, hour: hours, minute: minutes, second: rest % 60 })
    .filter(([, count]) => count > 0)
    .map(([unit, count]) =>
      new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count),
    );
  const locale = language === 'en' ? 'en-GB' : language; // without a comma before the last
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(parts);
}

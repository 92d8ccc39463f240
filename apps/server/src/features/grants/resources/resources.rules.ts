import { createHash } from 'node:crypto';
import { isLabel } from '@behest/protocol/arguments/text';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { english } from '@behest/protocol/english';
import { isLanguage } from '@behest/protocol/manifest/tool-reading';
import { canonicalResource } from '@behest/protocol/resource-uri';
import { isScope } from '@behest/protocol/scopes';
import { chosenLanguage, scopeInWords, wantedLanguages } from '@behest/protocol/words';
import { badField, malformedScopes } from '../../../platform/errors.ts';
import { pageLanguage, type Say, sayIn } from '../../../platform/languages.ts';
// @ts-expect-error A script of the pages has its types in comments, which the check of the pages reads.
import * as pages from '../../../platform/page/scopes.js';
import type { ScopeWords } from './resources.schema.ts';

const MAX_BYTES = 32_768; // of the words of one resource, as JSON
const [MAX_TITLE, MAX_DESCRIPTION] = [80, 300]; // code points, as in manifests

/** @throws INVALID_SCOPE, BAD_REQUEST for a text that would not be seen as it is */
export function mustBeReadable(words: Readonly<Record<string, ScopeWords>>): void {
  const wrong = Object.keys(words).filter((scope) => !isScope(scope));
  if (wrong.length > 0) throw malformedScopes(wrong);
  for (const [scope, { titles = {}, ...own }] of Object.entries(words)) {
    mustBeLabels(own, `scopeWords.${scope}`);
    for (const [language, translated] of Object.entries(titles)) {
      const path = `scopeWords.${scope}.titles.${language}`;
      if (!isLanguage(language)) throw badField(path, 'format', 'Send a language such as `de` or `pt-BR`.');
      mustBeLabels(translated, path);
    }
  }
  if (Buffer.byteLength(JSON.stringify(words)) > MAX_BYTES) {
    throw badField('scopeWords', 'maxLength', 'The words of a resource have at most 32 KiB of JSON.');
  }
}

function mustBeLabels({ title, description }: Partial<ScopeWords>, path: string): void {
  const message = 'Send one line without characters that a reader would not see.';
  if (title !== undefined && !isLabel(title, MAX_TITLE)) throw badField(`${path}.title`, 'format', message);
  if (description !== undefined && !isLabel(description, MAX_DESCRIPTION)) {
    throw badField(`${path}.description`, 'format', message);
  }
}

/** What one resource says about one scope. */
export interface SaidByResource {
  readonly resource: string;
  readonly scope: string;
  readonly words: ScopeWords;
}

/** The words of scopes, by scope. */
export type WordsOfScopes = ReadonlyMap<string, ScopeWords>;

/**
 * The words that count for a request: those of the resources that its audience names, or without an audience those of all
 * resources. Where two of them say different things about a scope, neither counts.
 */
export function wordsInForce(said: readonly SaidByResource[], audience: string | null): WordsOfScopes {
  const named = audience === null ? undefined : new Set(audience.split(' ').map(canonicalResource));
  const found = new Map<string, ScopeWords | undefined>();
  for (const { resource, scope, words } of said) {
    if (named && !named.has(canonicalResource(resource))) continue;
    const before = found.has(scope) ? found.get(scope) : words;
    found.set(scope, before && canonicalJson(before) === canonicalJson(words) ? words : undefined);
  }
  return new Map(
    [...found].flatMap(([scope, words]): [string, ScopeWords][] => (words ? [[scope, words]] : [])),
  );
}

/** A scope as a person reads it. */
export interface ScopeText {
  readonly text: string;
  /** What the developer adds to the title. */
  readonly description: string | null;
}

interface Reader {
  /** The account's own descriptions, by scope. */
  readonly own: Readonly<Record<string, string>>;
  readonly words: WordsOfScopes;
  /** `Accept-Language` */
  readonly languages: string | undefined;
  /** Of the page, where it is not that of the reader. */
  readonly say?: Say;
}

/**
 * Each scope in words. A title of the developer cannot hide how far a scope reaches: where its name says that it spends,
 * sends, deletes, publishes or does everything, the service says so behind the title.
 */
export function scopesInWords(
  scopes: readonly string[],
  { own, words, languages, say = sayIn(pageLanguage(languages)) }: Reader,
): ScopeText[] {
  const wanted = wantedLanguages(languages);
  return scopes.map((scope) => {
    const said = words.get(scope);
    if (!said) return { text: scopeInWords(scope, own, say), description: null };
    const language = chosenLanguage(wanted, Object.keys(said.titles ?? {}));
    const translated = language === undefined ? undefined : said.titles?.[language];
    const title = translated?.title ?? said.title;
    return {
      text: say(reachIn[reachOf(scope)]).replace('{title}', () => title),
      description: translated?.description ?? said.description ?? null,
    };
  });
}

const reachIn = { looks: '{title}', acts: english.titleThatActs, everything: english.titleOfEverything };

/** Words in the names of scopes, beyond those that the pages know. */
const ALSO_ACTS = new Set(
  [
    'payout payouts payment payments charge withdraw wire trade sell purchase subscribe cancel close submit sign issue',
    'revoke grant invite message notify reply forward tweet email mail erase purge wipe drop destroy clear reset',
    'overwrite merge deploy release',
  ].flatMap((line) => line.split(' ')),
);
const ALSO_EVERYTHING = new Set('all any everything full root owner superuser sudo unrestricted'.split(' '));

const namesIn = (scope: string) => scope.toLowerCase().split(/[^a-z]+/);

function reachOf(scope: string): keyof typeof reachIn {
  const known: number = pages.reachOf(scope);
  if (known >= 3 || namesIn(scope).some((name) => ALSO_EVERYTHING.has(name))) return 'everything';
  // The first part is the name of what the permission is for, unless it stands alone.
  const verbs = namesIn(scope.includes(':') ? scope.slice(scope.indexOf(':')) : scope);
  return known >= 2 || verbs.some((name) => ALSO_ACTS.has(name)) ? 'acts' : 'looks';
}

/** The words of a scope as a consent keeps them. */
interface ScopePin {
  /** In the language of none. Left out where there are very many words. */
  readonly title?: string;
  /** The hash of all that is said about the scope, in every language, in base64url. */
  readonly sha256: string;
}

/** By scope. */
export type ScopePins = Readonly<Record<string, ScopePin>>;

const MAX_KEPT = 8_192; // bytes

export function pinsOfWords(words: WordsOfScopes, scopes: readonly string[] = [...words.keys()]): ScopePins {
  const shown = scopes.flatMap((scope) => {
    const said = words.get(scope);
    return said ? [{ scope, title: said.title, sha256: sha256(said, 'base64url') }] : [];
  });
  const whole = Object.fromEntries(shown.map(({ scope, ...pin }) => [scope, pin]));
  if (Buffer.byteLength(JSON.stringify(whole)) <= MAX_KEPT) return whole;
  return Object.fromEntries(shown.map(({ scope, sha256: hash }) => [scope, { sha256: hash }]));
}

/** The hash of all words that a page shows; null where it shows none. */
export const hashOfWords = (words: WordsOfScopes): string | null =>
  words.size === 0 ? null : sha256(Object.fromEntries(words), 'hex');

const sha256 = (value: object, form: 'hex' | 'base64url') =>
  createHash('sha256').update(canonicalJson(value)).digest(form);

/** Reads a column that the service itself has written. */
export const storedScopePins = (column: unknown): ScopePins =>
  column === null || column === undefined ? {} : (column as ScopePins);

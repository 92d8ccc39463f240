import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chosenLanguage, wantedLanguages } from '@behest/protocol/words';
import { Type } from 'typebox';

/** The languages of the pages beside English, in which the sources are written. Each has a file of messages. */
export const LANGUAGES = ['de', 'es', 'fr', 'ja', 'pt-BR'] as const;

/** Where the files of messages are: English text to text, by language. */
export const MESSAGES = join(import.meta.dirname, 'page/messages');

/** The tags of `ui_locales`, as OpenID Connect writes them. */
const LOCALES = /^[A-Za-z0-9-]{1,35}( [A-Za-z0-9-]{1,35}){0,9}$/;
const LONGEST_LOCALES = 256;

/** A page takes them in its query, and an address to which a person goes on has them again. */
export const UiLocales = Type.Optional(Type.String({ maxLength: LONGEST_LOCALES }));

export const LocalesQuery = Type.Object({ ui_locales: UiLocales });

/** @returns undefined for none, and for a text that is no list of languages: it changes nothing */
export const uiLocalesOf = (text = ''): string | undefined =>
  text.length <= LONGEST_LOCALES && LOCALES.test(text) ? text : undefined;

/** An address to which a person goes on, in the languages that were asked for. */
export function inLocales(address: string, uiLocales: string | undefined): string {
  if (uiLocales === undefined) return address;
  const [before = '', fragment] = address.split('#', 2);
  const query = `${before.includes('?') ? '&' : '?'}${new URLSearchParams({ ui_locales: uiLocales })}`;
  return `${before}${query}${fragment === undefined ? '' : `#${fragment}`}`;
}

/** Gives an English text in a language, with values in place of the names in braces. */
export type Say = (english: string, values?: Readonly<Record<string, string>>) => string;

/** In one pass: a value may hold braces. */
const filled = (text: string, values: Readonly<Record<string, string>> = {}) =>
  text.replace(
    /\{(\w+)\}/g,
    (name, key: string) => (Object.hasOwn(values, key) ? values[key] : undefined) ?? name,
  );

/**
 * The language of a page for a reader.
 *
 * @param accepted `Accept-Language`
 * @param asked `ui_locales` of OpenID Connect Core, section 3.1.2.1: tags with blanks between them, which come first
 */
export function pageLanguage(accepted: string | undefined, asked?: string | null): string {
  const list = [asked?.split(' ', 10).join(','), accepted].filter(Boolean).join(',');
  return chosenLanguage(wantedLanguages(list), LANGUAGES) ?? 'en';
}

const saidIn = new Map<string, Say>(
  LANGUAGES.map((language) => {
    const read: unknown = JSON.parse(readFileSync(join(MESSAGES, `${language}.json`), 'utf8'));
    const messages = new Map(Object.entries(Object(read)));
    return [
      language,
      (english, values) => {
        const text = messages.get(english); // the forms of a sentence that counts are for the scripts of the pages
        return filled(typeof text === 'string' ? text : english, values);
      },
    ];
  }),
);

const inEnglish: Say = filled;

/** Gives each English text of the pages in a language. A text without a message stays English. */
export const sayIn = (language: string): Say => saidIn.get(language) ?? inEnglish;

/** Texts between the tags of a document. */
const TEXT = />([^<>]+)</g;

/** A page's document in a language. It loads the messages before the scripts that wait for them. */
export function documentIn(language: string, html: string): string {
  if (language === 'en') return html;
  const say = sayIn(language);
  return html
    .replaceAll(TEXT, (whole, text: string) => (text.trim() === '' ? whole : `>${say(plain(text))}<`))
    .replace('<html lang="en">', `<html lang="${language}" dir="ltr">`)
    .replace(
      '</title>',
      `</title>\n    <link rel="preload" as="fetch" crossorigin href="/platform/page/${language}.json">`,
    );
}

/** The texts of a document, as the messages name them. */
export const textsOf = (html: string): string[] =>
  [...html.matchAll(TEXT)].map(([, text = '']) => plain(text)).filter((text) => text !== '');

const plain = (text: string) => text.trim().split(/\s+/).join(' ');

import en from './en.json';

/** The languages that have every text. English is the first, and the one that a browser with no other gets. */
const LANGUAGES = { en: async () => ({ default: en }) } as const;

type Texts = typeof en;
type Message = string | { readonly one: string; readonly other: string };
export type Area = keyof Texts;
export type Values = Readonly<Record<string, string | number>>;

let language: keyof typeof LANGUAGES = 'en';
let texts: Readonly<Record<string, Readonly<Record<string, Message>>>> = en;

/** Loads the texts of the first language that the reader wants and the console has. */
export async function loadLanguage(wanted: readonly string[]): Promise<void> {
  const has = (tag: string): tag is keyof typeof LANGUAGES => Object.hasOwn(LANGUAGES, tag);
  language = wanted.map((tag) => tag.slice(0, 2)).find(has) ?? 'en';
  texts = (await LANGUAGES[language]()).default;
  document.documentElement.lang = language;
}

/** @returns what says the texts of an area. A message with `one` and `other` takes its form from the value `count`. */
export function sayer<Name extends Area>(area: Name) {
  return (key: keyof Texts[Name] & string, values: Values = {}): string => {
    const message = texts[area]?.[key] ?? key;
    const form = typeof message === 'string' ? message : message[formOf(values.count)];
    return form.replaceAll(/\{(\w+)\}/g, (_, name: string) => shown(values[name]));
  };
}

/** The word for a state of the API. One without a word of its own stands as it is. */
export const statusWord = (status: string): string => {
  const word = texts.status?.[status];
  return typeof word === 'string' ? word : status;
};

const formOf = (count: string | number | undefined) =>
  new Intl.PluralRules(language).select(Number(count)) === 'one' ? 'one' : 'other';

const shown = (value: string | number | undefined) =>
  typeof value === 'number' ? number(value) : (value ?? '');

export const number = (value: number) => new Intl.NumberFormat(language).format(value);

export const percent = (share: number) =>
  new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(share);

/** An exact decimal, as the service sends it. */
export const money = (amount: string, currency: string) =>
  new Intl.NumberFormat(language, { style: 'currency', currency }).format(Number(amount));

export const dateTime = (iso: string) =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));

/** To the second, with the zone of the reader, for what is compared with other records. */
export const exactTime = (iso: string) =>
  new Intl.DateTimeFormat(language, {
    ...({ year: 'numeric', month: 'short', day: 'numeric' } as const),
    ...({ hour: '2-digit', minute: '2-digit', second: '2-digit' } as const),
    ...({ hourCycle: 'h23', timeZoneName: 'short' } as const),
  }).format(new Date(iso));

export const day = (iso: string) =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(iso));

/** In the reader's words, "3 minutes ago" or "in 2 days". */
export function distance(iso: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return format.format(Math.round(seconds / size), unit);
}

/** From the largest, in seconds. */
const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

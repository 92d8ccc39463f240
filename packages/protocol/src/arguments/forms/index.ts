import { emailForm } from './emails.ts';
import { type Form, hostForm } from './hosts.ts';
import { networkForm } from './networks.ts';
import { pathForm } from './paths.ts';
import { urlForm } from './urls.ts';

/** The keys of a rule whose items are of a text form, in the order of their checks. */
export const formKeys = ['email', 'host', 'path', 'url', 'cidr'] as const;
/** A key of a rule whose items are of a text form. */
export type FormKey = (typeof formKeys)[number];

/** The items of one rule, read once. */
export interface FormItems {
  /** Tells whether a text is of the form, and within one of the items. */
  allows(text: string): boolean;
}

interface AnyForm {
  isItem(text: string): boolean;
  itemsOf(texts: readonly string[]): FormItems;
  isWithin(narrow: string, wide: string): boolean;
}

/** Hides the types of one form's items and values, which only that form knows. */
function textForm<Item, Value>(form: Form<Item, Value>): AnyForm {
  return {
    isItem: (text) => form.readItem(text) !== undefined,
    itemsOf(texts) {
      const items = texts.map((text) => form.readItem(text)).filter((item) => item !== undefined);
      return {
        allows(text) {
          const value = form.readValue(text);
          return value !== undefined && items.some((item) => form.allows(item, value));
        },
      };
    },
    isWithin(narrow, wide) {
      const [inner, outer] = [form.readItem(narrow), form.readItem(wide)];
      return inner !== undefined && outer !== undefined && form.isWithin(inner, outer);
    },
  };
}

/** The text forms by the key of a rule. */
export const forms: Readonly<Record<FormKey, AnyForm>> = {
  email: textForm(emailForm),
  host: textForm(hostForm),
  path: textForm(pathForm),
  url: textForm(urlForm),
  cidr: textForm(networkForm),
};

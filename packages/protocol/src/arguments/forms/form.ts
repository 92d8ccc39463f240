/**
 * A text form: a grammar so narrow that no two parsers read a text of it differently. A text outside the form is
 * refused, whatever it might mean.
 */
export interface Form<Item, Value> {
  /** Reads an item of a rule. @returns undefined when the item is outside the form */
  readItem(text: string): Item | undefined;
  /** Reads an argument. @returns undefined when the argument is outside the form */
  readValue(text: string): Value | undefined;
  /** Tells whether the item allows the argument. */
  allows(item: Item, value: Value): boolean;
  /** Tells whether `wide` allows every argument that `narrow` allows. */
  isWithin(narrow: Item, wide: Item): boolean;
}

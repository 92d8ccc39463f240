import { type Description, operationsOf } from './sdk/operations.ts';
import { tableText, typesText } from './sdk/texts.ts';

/** The table of the SDK's calls, made from the description of the API. */
export function sdkTable(description: string): string {
  return tableText(operationsOf(read(description)));
}

/** The types of the SDK's methods. */
export function sdkTypes(description: string): string {
  return typesText(operationsOf(read(description)));
}

// The service writes the description, so its shape is known.
const read = (description: string) => JSON.parse(description) as Description;

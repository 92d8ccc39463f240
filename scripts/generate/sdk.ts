import { readDescription } from './description/resolve.ts';
import { operationsOf } from './sdk/operations.ts';
import { tableText, typesText } from './sdk/texts.ts';

/** The table of the SDK's calls, made from the description of the API. */
export function sdkTable(description: string): string {
  return tableText(operationsOf(readDescription(description)));
}

/** The types of the SDK's methods. */
export function sdkTypes(description: string): string {
  return typesText(operationsOf(readDescription(description)));
}

/** A whole string, or one character of structure. The text is JSON, so a quotation mark begins nowhere else. */
const STRING_OR_STRUCTURE = /"[^"\\]*(?:\\[\s\S]?[^"\\]*)*"?|[{}[\],:]/g;

/**
 * Cuts the text of an object or array into those of its members or elements, as they were sent: a number that was parsed
 * has lost its digits.
 * @param text JSON that `parseJson` takes
 * @returns the texts by name, or by index; none for any other value
 */
export function partTexts(text: string): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  let [depth, from] = [0, 0];
  let name: string | undefined;
  for (const { 0: token, index } of text.matchAll(STRING_OR_STRUCTURE)) {
    if (token.startsWith('"')) continue;
    if (token === '{' || token === '[') depth += 1;
    else if (depth === 1 && token === ':') name = String(JSON.parse(text.slice(from, index)));
    else if (depth === 1) {
      const part = text.slice(from, index).trim();
      if (part !== '') parts.set(name ?? String(parts.size), part); // there is none between empty brackets
      name = undefined;
    }
    if (depth === 1) from = index + 1;
    if (token === '}' || token === ']') depth -= 1;
  }
  return parts;
}

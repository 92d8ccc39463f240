import { copyObject } from '../arguments/copy-json.ts';
import { canonicalJson, sha256Uri } from '../canonical-json.ts';
import { isConnectorName } from '../tools-entry.ts';
import type { Manifest } from './manifest.ts';

const DOMAIN = 'behest.mcp-tool/1\n';
/** A definition may hold the bounds of a 64-bit integer, and be as long as a whole list. */
const BOUNDS = { levels: 64, bytes: 4_194_304, takesNul: true, takesLarge: true };

/**
 * Hashes the definition of an MCP tool as the server offers it: name, texts, schemas, annotations and every other
 * member but `_meta` and `icons`.
 *
 * @returns `sha256:` and 43 characters
 * @throws TypeError for a definition that canonical JSON cannot write
 */
export async function pinOfTool(definition: object): Promise<string> {
  const copied = copyObject(definition, BOUNDS);
  if (!copied.ok) throw new TypeError(`The definition of the tool has no pin: ${copied.cause}.`);
  const { _meta, icons, ...hashed } = copied.value;
  return pinOfText(JSON.stringify(hashed));
}

/** One list of the middleware is no longer. */
const MAX_REMEMBERED = 4_194_304;
let remembered = new Map<string, string>();
let rememberedLength = 0;

/**
 * The same definitions are listed for every client. Pins are remembered by the whole text of the copy, so a
 * definition that changed in one character is another one, also inside the same object.
 *
 * @param text the JSON of a copied definition, which says all that the canonical form says
 */
async function pinOfText(text: string): Promise<string> {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const pin = await sha256Uri(DOMAIN + canonicalJson(JSON.parse(text)));
  if (rememberedLength + text.length > MAX_REMEMBERED) [remembered, rememberedLength] = [new Map(), 0];
  if (!remembered.has(text)) rememberedLength += text.length;
  remembered.set(text, pin);
  return pin;
}

/**
 * The state of an offered or declared tool: its pin is `held` or `changed`; it has no pin yet (`new`); the manifest
 * does not declare it, or no server offers it (`missing`); or the list offers its name twice (`ambiguous`).
 */
export type PinStatus = 'new' | 'held' | 'changed' | 'missing' | 'not_declared' | 'ambiguous';

/**
 * Compares the definitions that a server offers with the pins of a manifest.
 *
 * @returns the offered tools in their order, then the declared tools that are not offered
 */
export async function checkPins(
  manifest: Manifest,
  tools: readonly { readonly name: string }[],
): Promise<{ readonly tool: string; readonly status: PinStatus }[]> {
  const names = tools.map(({ name }) => name);
  const missing = [...manifest.tools.keys()].filter((name) => !names.includes(name));
  const offered = tools.map(async (tool) => ({
    tool: tool.name,
    status: await statusOf(tool, manifest, names),
  }));
  return [...(await Promise.all(offered)), ...missing.map((tool) => ({ tool, status: 'missing' as const }))];
}

async function statusOf(
  tool: { readonly name: string },
  { tools }: Manifest,
  names: readonly string[],
): Promise<PinStatus> {
  const declared = isConnectorName(tool.name) ? tools.get(tool.name) : undefined;
  if (!declared) return 'not_declared';
  if (names.indexOf(tool.name) !== names.lastIndexOf(tool.name)) return 'ambiguous';
  if (!declared.mcp_pins) return 'new';
  const pin = await pinOfTool(tool).catch(() => undefined);
  return pin !== undefined && declared.mcp_pins.includes(pin) ? 'held' : 'changed';
}

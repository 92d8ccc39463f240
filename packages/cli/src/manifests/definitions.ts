import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pointerToken, readPointer } from '@behest/protocol/arguments/pointers';
import { isLabel } from '@behest/protocol/arguments/text';
import { isRecord, readJsonFile } from '../config/user-file.ts';
import type { Context } from '../context.ts';

/** A tool as an MCP server offers it. */
export type Definition = Readonly<Record<string, unknown>>;

const FORMAT = 'behest.tool-definitions/1';
const LONGEST = 4_096; // bytes of a description that a person may still read
/** Characters without a shape, and those that turn the direction of a text. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

const fileBeside = (context: Context, manifest: string) =>
  resolve(context.io.folder, `${manifest}.tools.json`);

/** The texts behind the pins of a manifest, by tool. They are never sent to the service. */
export function keptDefinitions(context: Context, manifest: string): Readonly<Record<string, Definition>> {
  const file = fileBeside(context, manifest);
  if (!existsSync(file)) return {};
  const { tools } = readJsonFile(file);
  return Object.fromEntries(
    Object.entries(isRecord(tools) ? tools : {}).flatMap(([name, value]) =>
      isRecord(value) ? [[name, value]] : [],
    ),
  );
}

/** @returns the name of the file */
export function keepDefinitions(
  context: Context,
  manifest: string,
  connector: string,
  tools: Readonly<Record<string, Definition>>,
): string {
  const text = JSON.stringify({ format: FORMAT, connector, tools }, undefined, 2);
  writeFileSync(fileBeside(context, manifest), `${text}\n`);
  return `${manifest}.tools.json`;
}

/** Says how a definition differs from the one that was pinned, member by member. */
export function differences(kept: Definition | undefined, offered: Definition = {}): string[] {
  if (kept === undefined) return ['it has changed; the text that was pinned is not kept here'];
  const names = [...new Set([...Object.keys(kept), ...Object.keys(offered)])].toSorted();
  return names
    .filter((name) => name !== '_meta' && name !== 'icons')
    .filter((name) => JSON.stringify(kept[name]) !== JSON.stringify(offered[name]))
    .map(
      (name) =>
        `${name}: ${JSON.stringify(kept[name]) ?? 'absent'} → ${JSON.stringify(offered[name]) ?? 'absent'}`,
    );
}

/**
 * Says why a person should look twice at a definition.
 *
 * @param foreign the tools of other connectors, which a description has no reason to name
 */
export function suspicions(
  { name, description }: Definition,
  foreign: readonly ForeignTool[] = [],
): string[] {
  const text = typeof description === 'string' ? description : '';
  return [
    ...(INVISIBLE.test(text) ? [`the description of ${String(name)} has invisible characters`] : []),
    ...foreign
      .filter(({ tool }) => wordsIn(text).has(tool))
      .map(({ connector, tool }) => `the description of ${String(name)} names ${tool} of ${connector}`),
    ...(Buffer.byteLength(text) > LONGEST ? [`the description of ${String(name)} has more than 4 KiB`] : []),
  ];
}

/** A tool of another connector. */
export interface ForeignTool {
  readonly connector: string;
  readonly tool: string;
}

const MAX_TITLES = 64; // of one tool, as in manifests
const MAX_TITLE = 80; // code points
const MAX_DEPTH = 8; // names of a JSON Pointer

/**
 * The titles of a tool's arguments in its JSON Schema, by JSON Pointer, as a manifest has them: those of `properties`, of
 * objects in them too. A title that a reader would not see as it is, and one that no manifest takes, is left out.
 */
export function argumentTitles({ inputSchema }: Definition): Record<string, string> {
  const found: [pointer: string, title: string][] = [];
  let level: [pointer: string, schema: unknown][] = [['', inputSchema]];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    level = level.flatMap(([above, schema]) =>
      Object.entries(isRecord(schema) && isRecord(schema.properties) ? schema.properties : {})
        .slice(0, MAX_TITLES)
        .map(([name, member]): [string, unknown] => [above + pointerToken(name), member]),
    );
    for (const [pointer, member] of level) {
      const title = isRecord(member) ? member.title : undefined;
      const isUsable = typeof title === 'string' && isLabel(title, MAX_TITLE) && readPointer(pointer).ok;
      if (isUsable && found.length < MAX_TITLES) found.push([pointer, title]);
    }
    level = level.slice(0, MAX_TITLES);
  }
  return Object.fromEntries(found);
}

/** The words of a text that could be names of tools. */
const wordsIn = (text: string): ReadonlySet<string> =>
  new Set(text.match(/[A-Za-z0-9_][A-Za-z0-9_.-]*(?<![.-])/g));

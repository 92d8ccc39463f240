import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';
import { type Given, type OptionSpec, textOf } from '../program/options.ts';
import type { Naming } from './naming.ts';

export const FILE_OPTION: OptionSpec = {
  flags: '--out <file>',
  about: 'write the answer to a new file, which only you can read',
};

/** Prints the answer of a call, or writes it to a file. */
export async function saveAnswer(
  context: Context,
  given: Given,
  answer: unknown,
  { once, columns, rows }: Naming = {},
): Promise<void> {
  const out = textOf(given, 'out');
  if (out !== undefined) {
    const bytes =
      answer instanceof Response
        ? Buffer.from(await answer.arrayBuffer())
        : `${JSON.stringify(answer, undefined, 2)}\n`;
    writeNewFile(context, out, bytes);
    return context.note(`wrote ${out}`);
  }
  if (answer instanceof Response) return context.io.out(await answer.text());
  if (answer === undefined || answer === null) return context.note('done');
  const listed = rows !== undefined && isRecord(answer) ? answer[rows] : undefined;
  if (Array.isArray(listed)) return context.rows(listed, { columns });
  const [only, ...others] = isRecord(answer) ? Object.values(answer).filter(Array.isArray) : [];
  const isList =
    isRecord(answer) && Array.isArray(only) && others.length === 0 && Object.keys(answer).length === 1;
  if (isList) return context.rows(only, { columns });
  await context.one(answer, { columns });
  if (once !== undefined && isRecord(answer) && once in answer) context.note(`${once}: shown once`);
}

/** @throws CliError for a file that is there already */
export function writeNewFile(context: Context, file: string, content: string | Uint8Array): void {
  try {
    writeFileSync(resolve(context.io.folder, file), content, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const isThere = Object(error).code === 'EEXIST';
    throw wrongUsage(
      isThere ? `${file} is there already.` : `${file} cannot be written: ${Object(error).code}.`,
      context.help,
    );
  }
}

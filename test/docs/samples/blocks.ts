import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A piece of code in a document. */
export interface Block {
  readonly page: string;
  /** From 1, among the blocks of its page. */
  readonly number: number;
  readonly language: string;
  readonly code: string;
}

const PAGES = ['*.md', 'docs/**/*.md', '{scripts,deploy}/**/*.md', '{packages,clients,examples}/*/README.md'];
const BLOCK = /^```(\w+)\n(.*?)^```$/gms;

/** The code of every document that a reader may copy. */
export function samplesOf(root: string): Block[] {
  return globSync(PAGES, { cwd: root })
    .sort()
    .flatMap((page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(BLOCK)].map(
        ([, language = '', code = ''], index) => ({
          ...{ page, language, code },
          number: index + 1,
        }),
      ),
    );
}

export const nameOf = ({ page, number }: Block) => `${page} #${number}`;

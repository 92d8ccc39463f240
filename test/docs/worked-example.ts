/** A file that the worked example shows. */
export interface ShownFile {
  /** From the root of the checkout. */
  readonly path: string;
  readonly text: string;
}

const FILE = /^`([\w./-]+)`\n\n```\w+\n(.*?)^```$/gms;

/**
 * The files of docs/worked-example.md: each is a line with its path in backticks, followed by its text in a fence.
 * @throws Error when the page shows no file
 */
export function exampleIn(page: string): ShownFile[] {
  const files = [...page.matchAll(FILE)].map(([, path = '', text = '']) => ({ path, text }));
  if (files.length === 0) throw new Error('The page shows no file.');
  return files;
}

/** Adds a feature to the list in features.ts: its import, and the one line that names it. */
export function nameFeature(list: string, area: string, noun: string): string {
  const path = `./features/${area}/${noun}/${noun}.feature.ts`;
  const imports = list
    .split('\n')
    .filter((line) => line.startsWith(`import`) && line.includes('.feature.ts'));
  const before = imports.find((line) => line.slice(line.indexOf("'")) > `'${path}'`) ?? imports.at(-1) ?? '';
  return list
    .replace(before, `import { ${noun} } from '${path}';\n${before}`)
    .replace(/(features: readonly Feature\[\] = \[\n(?: {2}\w+,\n)*)/, `$1  ${noun},\n`);
}

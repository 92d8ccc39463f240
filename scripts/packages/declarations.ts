import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

export interface Emitted {
  /** From the root of the repository, with the ending of the output. */
  readonly path: string;
  readonly text: string;
}

/**
 * Compiles sources for publication.
 *
 * @param files from the root, with everything that they import
 * @param what both kinds of output, or declarations alone
 * @throws Error with the faults that the compiler found
 */
export function compile(root: string, files: readonly string[], what: 'all' | 'declarations'): Emitted[] {
  const config = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8'));
  const { options } = ts.convertCompilerOptionsFromJson(config.config.compilerOptions, root);
  const program = ts.createProgram(
    files.map((file) => join(root, file)),
    {
      ...options,
      ...{ noEmit: false, declaration: true, rewriteRelativeImportExtensions: true },
      ...{ outDir: root, rootDir: root, emitDeclarationOnly: what === 'declarations' },
    },
  );
  const faults = ts.getPreEmitDiagnostics(program);
  if (faults.length > 0) {
    const host = { getCanonicalFileName: String, getCurrentDirectory: () => root, getNewLine: () => '\n' };
    throw new Error(ts.formatDiagnostics(faults, host));
  }
  const emitted: Emitted[] = [];
  program.emit(undefined, (path, text) =>
    emitted.push({ path: relative(root, path), text: withEndings(text) }),
  );
  return emitted;
}

/** The compiler leaves the endings of sources in declarations. */
function withEndings(text: string): string {
  return text.replaceAll(/((?:from|import)\s*\(?\s*['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2');
}

/** Lets the text of a file name another package's file by its place instead of by the package. */
export function withPlaces({ path, text }: Emitted, packageName: string, folder: string): Emitted {
  const specifier = new RegExp(`(['"])${packageName}/([^'"]+)\\1`, 'g');
  return {
    path,
    text: text.replaceAll(specifier, (_, quote: string, name: string) => {
      const place = relative(dirname(path), join(folder, `${name}.js`));
      return `${quote}${place.startsWith('.') ? place : `./${place}`}${quote}`;
    }),
  };
}

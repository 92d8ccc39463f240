import { join } from 'node:path';
import ts from 'typescript';

/** The groups of the Kubernetes API whose kinds the chart may make, by `apiVersion`. */
const GROUPS: Readonly<Record<string, string>> = {
  'apps/v1': 'apps/v1',
  'autoscaling/v2': 'autoscaling/v2',
  'networking.k8s.io/v1': 'networking/v1',
  'policy/v1': 'policy/v1',
  v1: 'core/v1',
};

/**
 * Checks objects against the types of the API. Each becomes an object literal, so that the compiler finds an
 * unknown field as it finds a wrong type. (The API's JSON schemas accept unknown fields.)
 * @returns a line for each fault
 */
export function manifestProblems(objects: readonly { apiVersion: string; kind: string }[]): string[] {
  const file = join(import.meta.dirname, 'manifests.virtual.ts');
  const lines = objects.map((object, index) => {
    const type = `import('kubernetes-types/${GROUPS[object.apiVersion]}.d.ts').${object.kind}`;
    return `export const m${index}: ${type} = ${JSON.stringify(object)};`;
  });
  const text = lines.join('\n');

  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es5.d.ts'],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, ...rest) =>
    path === file ? ts.createSourceFile(path, text, ts.ScriptTarget.ESNext) : getSourceFile(path, ...rest);
  return ts.getPreEmitDiagnostics(ts.createProgram([file], options, host)).map((found) => {
    const line = found.file?.getLineAndCharacterOfPosition(found.start ?? 0).line ?? 0;
    return `${objects[line]?.kind}: ${ts.flattenDiagnosticMessageText(found.messageText, ' ')}`;
  });
}

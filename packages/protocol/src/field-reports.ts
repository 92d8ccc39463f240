import type { FieldFault, FieldProblem } from './errors.ts';

/** Collects a fault, so that one answer can list all of them. @returns undefined, for the reader to return */
export type Report = (path: string, problem: FieldProblem) => undefined;

/** The path of a field, and the function that collects its faults. */
export interface Field {
  readonly path: string;
  readonly report: Report;
}

/** Makes a `Report` that appends to `faults`. */
export function reportTo(faults: FieldFault[]): Report {
  return (path, problem) => {
    faults.push({ path, problem });
    return undefined;
  };
}
